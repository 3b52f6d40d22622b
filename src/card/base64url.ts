import * as base64url from 'jose/base64url';

/** What base64url without padding may hold (RFC 7515 §2). */
const ALPHABET = /^[A-Za-z0-9_-]*$/;

/**
 * Decodes base64url that is in its one canonical form. Padding, other alphabets and set bits after the end decode to the same bytes
 * elsewhere: with them, one signature or key would have many spellings.
 */
export function decodeBase64Url(text: string): Uint8Array | undefined {
  if (!ALPHABET.test(text) || text.length % 4 === 1) return undefined;
  const bytes = base64url.decode(text);
  return base64url.encode(bytes) === text ? bytes : undefined;
}

const utf8 = new TextEncoder();
const ascii = new TextDecoder();
const DIGITS = utf8.encode('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_');

/** Encodes without padding; text as UTF-8. */
export const encodeBase64Url = (data: Uint8Array | string): string => ascii.decode(base64UrlBytes(data));

/**
 * The same as the bytes of its characters. By hand, since a signature is over the whole card: jose's way through `btoa` takes most of
 * a verification.
 */
export function base64UrlBytes(data: Uint8Array | string): Uint8Array {
  const bytes = typeof data === 'string' ? utf8.encode(data) : data;
  const text = new Uint8Array(Math.ceil((bytes.length * 4) / 3));
  for (let from = 0, to = 0; from < bytes.length; from += 3, to += 4) {
    const group = (byteAt(bytes, from) << 16) | (byteAt(bytes, from + 1) << 8) | byteAt(bytes, from + 2);
    // What lies behind the end is not written.
    text[to] = byteAt(DIGITS, group >> 18);
    text[to + 1] = byteAt(DIGITS, (group >> 12) & 63);
    text[to + 2] = byteAt(DIGITS, (group >> 6) & 63);
    text[to + 3] = byteAt(DIGITS, group & 63);
  }
  return text;
}

const byteAt = (bytes: Uint8Array, at: number): number => bytes[at] ?? 0;
