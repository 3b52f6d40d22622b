import { withoutFields } from '../http/fields.ts';
import type { Fields } from '../kernel/fields.ts';

const NOT_KEPT: ReadonlySet<string> = new Set([
  // The Fetcher undid the coding, so the stored fields must not claim one.
  'content-encoding',
  'content-length',
  // What an origin gives to one client is nobody else's, and a card that is on the disk holds no secret.
  'set-cookie',
  'set-cookie2',
  'www-authenticate',
  'authentication-info',
  'proxy-authenticate',
  'proxy-authentication-info',
]);

/** Leaves out what is not stored with a card. */
export const keptFields = (fields: Fields): Fields => withoutFields(fields, NOT_KEPT);
