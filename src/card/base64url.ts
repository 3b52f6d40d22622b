import { base64url } from 'jose';

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

export const encodeBase64Url = (bytes: Uint8Array | string): string => base64url.encode(bytes);
