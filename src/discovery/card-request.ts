import type { CallerVersion } from '../kernel/ask.ts';
import type { Fields } from '../kernel/fields.ts';
import { type FieldReader, readerOf } from '../http/fields.ts';

/**
 * What Cardea itself asks an origin for a card with: the selecting fields that the origin may vary on, and all of them. There are those
 * of `CARD_REQUESTS` and no others: one that is made of a caller's fields, or of another one, is of another type.
 */
class OwnRequest {
  readonly version: CallerVersion;
  readonly fields: Fields;
  readonly read: FieldReader;
  declare protected readonly made: 'here';

  constructor(version: CallerVersion, fields: Fields) {
    this.version = version;
    this.fields = fields;
    this.read = readerOf(fields);
  }
}
export type CardRequest = OwnRequest;

const ACCEPT = ['Accept', 'application/json, application/a2a+json;q=0.9'] as const;

/** One request per caller's version: nothing else of a caller reaches the origin of a public card. */
export const CARD_REQUESTS: Readonly<Record<CallerVersion, CardRequest>> = {
  absent: new OwnRequest('absent', ACCEPT),
  '0.3': new OwnRequest('0.3', [...ACCEPT, 'A2A-Version', '0.3']),
  '1.0': new OwnRequest('1.0', [...ACCEPT, 'A2A-Version', '1.0']),
};
