import type { CallerVersion } from '../kernel/ask.ts';
import type { Fields } from '../kernel/fields.ts';
import { type FieldReader, readerOf } from '../http/fields.ts';

/** What Cardea itself asks an origin for a card with: the selecting fields that the origin may vary on, and all of them. */
export interface CardRequest {
  readonly version: CallerVersion;
  readonly fields: Fields;
  readonly read: FieldReader;
}

const ACCEPT = ['Accept', 'application/json, application/a2a+json;q=0.9'] as const;

const requestFor = (version: CallerVersion, fields: Fields): CardRequest => ({
  version,
  fields,
  read: readerOf(fields),
});

/** One request per caller's version: nothing else of a caller reaches the origin of a public card. */
export const CARD_REQUESTS: Readonly<Record<CallerVersion, CardRequest>> = {
  absent: requestFor('absent', ACCEPT),
  '0.3': requestFor('0.3', [...ACCEPT, 'A2A-Version', '0.3']),
  '1.0': requestFor('1.0', [...ACCEPT, 'A2A-Version', '1.0']),
};
