import { Buffer } from 'node:buffer';

/**
 * Decodes base64url that is in its one canonical form (RFC 7515 §2). Padding, other alphabets and set bits after the end decode to the
 * same bytes elsewhere: with them, one signature or key would have many spellings. Node passes over what it does not know, so only what
 * it would write itself is taken.
 */
export function decodeBase64Url(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? new Uint8Array(bytes) : undefined;
}

/** Encodes without padding; text as UTF-8. */
export const encodeBase64Url = (data: Uint8Array | string): string => bufferOf(data).toString('base64url');

const bufferOf = (data: Uint8Array | string): Buffer =>
  typeof data === 'string' ? Buffer.from(data) : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
