import type net from 'node:net';
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
