/** What one port takes from its clients: everything a client can make long, many or slow has a bound here. Times are in ms. */
export interface FrontLimits {
  /** Connections at one time; further ones are closed at once. */
  readonly connections: number;
  /** Longest time until a connection has sent the head of its first request. */
  readonly headTimeout: number;
  /** Longest time for a whole request. */
  readonly requestTimeout: number;
  /** Longest time that a connection is kept without a request. */
  readonly idleTimeout: number;
  /** Longest time that a client may take nothing of an answer that waits for it. */
  readonly writeTimeout: number;
  /** How long unwanted bytes are read away before a connection ends: closing on unread bytes would take the answer back. */
  readonly linger: number;
  /** How long a kept connection may still bring a request once the port accepts no more. */
  readonly farewell: number;
  /** Longest request head, in bytes. */
  readonly headBytes: number;
  /** Most header fields. */
  readonly headFields: number;
  /** Unanswered requests of one connection, pipelined or as streams. */
  readonly streams: number;
}

export const FRONT_LIMITS: Omit<FrontLimits, 'connections'> = {
  headTimeout: 10_000,
  requestTimeout: 60_000,
  idleTimeout: 60_000,
  writeTimeout: 60_000,
  linger: 500,
  farewell: 500,
  headBytes: 16 * 1024,
  headFields: 100,
  streams: 128,
};
