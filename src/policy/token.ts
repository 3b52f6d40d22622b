import * as base64url from 'jose/base64url';

/** A JSON object of a token, its members as they stand; nothing of it is true before the signature is verified. */
export type Members = Readonly<Record<string, unknown>>;

/** A token in three parts (RFC 7515 §3.1) that reads as a JWT. */
export interface ReadToken {
  readonly text: string;
  readonly header: Members;
  readonly claims: Members;
}

/** What a bearer token looks like: a JWT, something that pretends to be one, or a text that says nothing. */
export type TokenReading =
  | { readonly is: 'jwt'; readonly token: ReadToken }
  /** A header that names an algorithm, and then no object, a name twice, or another spelling of the same bytes. */
  | { readonly is: 'broken' }
  | { readonly is: 'opaque' };

/** Reads strict JSON: an object without doubled names; undefined for anything else. */
export type ReadJson = (bytes: Uint8Array) => Members | undefined;

/** Tokens of real issuers have one or two KiB; a longer one is not even decoded. */
export const LONGEST_TOKEN = 8_192;

/** Reads what a token says, without believing it. */
export function readToken(text: string, readJson: ReadJson): TokenReading {
  if (text.length > LONGEST_TOKEN) return { is: 'opaque' };
  const parts = text.split('.');
  const [head = '', payload = '', signature = ''] = parts;
  const bytes = parts.length === 3 ? decode(head) : undefined;
  const header = bytes === undefined ? undefined : readJson(bytes);
  if (header === undefined || typeof header['alg'] !== 'string') return { is: 'opaque' };
  const body = decode(payload);
  const claims = body === undefined ? undefined : readJson(body);
  // Bits after the end of the signature would make one token many, and many entries in whatever remembers tokens.
  if (claims === undefined || decode(signature) === undefined) return { is: 'broken' };
  return { is: 'jwt', token: { text, header, claims } };
}

/** Decodes base64url in its one canonical form. */
function decode(part: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(part) || part.length % 4 === 1) return undefined;
  const bytes = base64url.decode(part);
  return base64url.encode(bytes) === part ? bytes : undefined;
}

/** Reads `aud`: a string or a list of strings (RFC 7519 §4.1.3); undefined for what is neither. */
export function audienceOf({ aud }: Members): readonly string[] | undefined {
  if (typeof aud === 'string') return [aud];
  return isTexts(aud) ? aud : undefined;
}

export const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');
