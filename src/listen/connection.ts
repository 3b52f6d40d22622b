import type net from 'node:net';
import type http2 from 'node:http2';
import type { Fields } from '../kernel/fields.ts';
import type { KnownAuthority } from './authority.ts';
import { FieldPlaces } from './field-places.ts';

type Arrival = Partial<Pick<net.Socket, 'localAddress' | 'localPort'>>;

/** What a connection's latest request looked like: the next one mostly looks the same, and what follows from that is not worked out again. */
export class Connection {
  /** Where it arrived; undefined where it has no address. */
  readonly localAddress: string | undefined;
  readonly localPort: number | undefined;
  authority: KnownAuthority | undefined;
  #places: FieldPlaces | undefined;

  constructor({ localAddress, localPort }: Arrival = {}) {
    this.localAddress = localAddress;
    this.localPort = localPort;
  }

  /** Says where the fields of a request stand. */
  placesOf(fields: Fields): FieldPlaces {
    if (this.#places?.fit(fields) === true) return this.#places;
    return (this.#places = new FieldPlaces(fields));
  }
}

/** What is known of each HTTP/2 session, for as long as it is there. */
export interface Sessions {
  of(session: http2.Http2Session | undefined): Connection;
}

export function createSessions(): Sessions {
  const known = new WeakMap<http2.Http2Session, Connection>();
  const begin = (session: http2.Http2Session): Connection => {
    const made = new Connection(session.socket);
    known.set(session, made);
    return made;
  };
  return {
    // A session that is gone already has nobody to answer.
    of: (session) =>
      session === undefined || session.destroyed ? new Connection() : (known.get(session) ?? begin(session)),
  };
}
