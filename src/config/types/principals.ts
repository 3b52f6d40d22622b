import { quote } from '../place.ts';
import { good, type ScalarType, wrong } from './scalar.ts';

/** A name of somebody else's making, compared byte for byte. */
export const plainText: ScalarType<string> = {
  kind: 'scalar',
  name: 'text',
  range: '',
  bare: false,
  schema: { type: 'string', minLength: 1, maxLength: 512 },
  read: (text) =>
    text !== '' && text.length <= 512 && text === text.trim() && !/\p{C}/u.test(text)
      ? good(text)
      : wrong(`${quote(text)} is no name; write it as the issuer does, without spaces around it`),
  show: (value) => value,
};

/** An issuer as tokens name it. The text stays as it is: `https://idp.example` and `https://idp.example/` are two issuers. */
export const issuerUrl: ScalarType<string> = {
  kind: 'scalar',
  name: 'issuer',
  range: 'https://HOST[/PATH]',
  bare: false,
  schema: { type: 'string', pattern: '^https?://[^?#@ ]+$' },
  read: (text) =>
    /^https?:\/\/[\x21-\x7e]+$/.test(text) && !/[?#@]/.test(text) && URL.canParse(text)
      ? good(text)
      : wrong(`${quote(text)} is no issuer, which is a URL without query and fragment, as tokens have it in iss`),
  show: (value) => value,
};

/** The name of a member of a token. */
export const claimName: ScalarType<string> = {
  kind: 'scalar',
  name: 'claim',
  range: '',
  bare: false,
  schema: { type: 'string', minLength: 1, maxLength: 256 },
  read: (text) =>
    text !== '' && text.length <= 256 && !/[\s\p{C}]/u.test(text)
      ? good(text)
      : wrong(`${quote(text)} is no name of a claim`),
  show: (value) => value,
};

/** Fields that say something else already: one of them as a choice of tenant would be two readings of one field. */
const TAKEN: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization', 'cookie', 'host', 'connection']);

/** The name of a request field (RFC 9110 §5.1); its case says nothing. */
export const fieldName: ScalarType<string> = {
  kind: 'scalar',
  name: 'field',
  range: '',
  bare: false,
  schema: { type: 'string', pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$" },
  read: (text) =>
    /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/.test(text) && !TAKEN.has(text.toLowerCase())
      ? good(text)
      : wrong(`${quote(text)} is no name of a request field of its own; write one like Cardea-Tenant`),
  show: (value) => value,
};
