import type { FaultCode, ProxyError } from './faults.ts';
import type { AgentName, ReceiptId } from './ids.ts';
import type { KillKind } from './kill.ts';
import type { Seconds } from './units.ts';

/** A no, as a value: what is refused, why, and what to change. Never holds a secret or a card's text. */
export interface Refusal {
  readonly code: FaultCode;
  /** What to change, and where; one or two sentences. */
  readonly detail: string;
  readonly agent?: AgentName;
  readonly receipt?: ReceiptId;
  /** Another status than the table's, where the table gives a choice (413, 414 or 431; 401 or 403). */
  readonly status?: number;
  /** A finer RFC 9209 type than the table's. */
  readonly proxyError?: ProxyError;
  /** The status that the origin answered with, for Proxy-Status `received-status`. */
  readonly receivedStatus?: number;
  /** Set where the same request may be sent again, in seconds from now. */
  readonly retryAfter?: Seconds;
  /** The methods that a 405 offers. */
  readonly allow?: readonly string[];
  /** A WWW-Authenticate (or, with 407, Proxy-Authenticate) value. */
  readonly challenge?: string;
  /** What kind of kill it is, where it is one. */
  readonly kill?: KillKind;
}

/** Names a refusal with what every refusal has. */
export const refuse = (code: FaultCode, detail: string, more: Omit<Refusal, 'code' | 'detail'> = {}): Refusal => ({
  code,
  detail,
  ...more,
});

/** What can fail for a stated reason: the value, or the refusal. */
export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal };

export const accepted = <T>(value: T): Outcome<T> => ({ ok: true, value });
export const refused = (refusal: Refusal): { readonly ok: false; readonly refusal: Refusal } => ({
  ok: false,
  refusal,
});

/** A refusal that surfaces while a body is read: the only one that travels as an exception. */
export class RefusalError extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal, cause?: unknown) {
    super(`${refusal.code}: ${refusal.detail}`, { cause });
    this.name = 'RefusalError';
    this.refusal = refusal;
  }
}
