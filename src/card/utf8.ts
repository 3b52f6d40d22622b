const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads UTF-8; undefined for what is none. Invalid bytes must not become U+FFFD: two different bodies would read as one card. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}
