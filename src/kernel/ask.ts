import type { Interim } from './answer.ts';
import type { ByteStream, Fields } from './fields.ts';
import type { ListenerName } from './ids.ts';
import type { Peer } from './peer.ts';

/** A2A's version of a caller, as `A2A-Version` or the query member of that name says it; absent means 0.3 and is sent on as absent. */
export type CallerVersion = 'absent' | '0.3' | '1.0';

/** One request as a listener hands it on: checked as HTTP, not yet understood. */
export interface Ask {
  readonly listener: ListenerName;
  /** How the caller reaches this listener, for URLs that lead back to it: `http://127.0.0.1:8642`, no trailing slash. */
  readonly base: string;
  /**
   * True where `base` is surely this very listener's: a name of ours and the port that the connection arrived on. A port that is
   * forwarded from elsewhere, and a name that only a socket in the file system takes, may be anybody's.
   */
  ownsBase(): boolean;
  readonly method: string;
  /** The raw request-target, never decoded: `/agents/weather/.well-known/agent-card.json?x=1`. */
  readonly target: string;
  /**
   * Where a caller that uses Cardea as its proxy wants to go: host and port as the absolute-form target has them, `weather.example.com:8443`.
   * Null for what is asked of this listener itself.
   */
  readonly proxied: string | null;
  /** The host that the request is for: Host or :authority, lower case, without port and trailing dot; `''` on a unix socket without one. */
  readonly host: string;
  /** Reads one field by lower-case name, lines joined by `, `; undefined where there is none. */
  field(name: string): string | undefined;
  /** Who is at the other end of the connection, as far as that tells. */
  readonly peer: Peer;
  /** All field lines as received, hop-by-hop ones included. */
  readonly fields: Fields;
  /** The request's body; null where the request has none. Reading it may throw when the client leaves. */
  readonly body: ByteStream | null;
  /** Hands an interim response on, where the caller's protocol has such; absent where nobody would hear it. */
  readonly interim?: (interim: Interim) => void;
  /** Aborts when the client leaves before its answer is complete. Made on first use. */
  signal(): AbortSignal;
}
