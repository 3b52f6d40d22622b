import type { ByteStream } from '../kernel/fields.ts';

/** Joins chunks into one array of the length that they have together. */
export function joinBytes(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const [only] = chunks;
  if (only !== undefined && chunks.length === 1) return only;
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

/**
 * Lets go of a body that nobody will read, so that what stands behind it is freed. It is begun for that: a generator that never began
 * runs none of its endings. Never rejects.
 */
export async function letGo(body: ByteStream): Promise<void> {
  try {
    for await (const _ of body) break;
  } catch {
    // It broke by itself, which ends it too.
  }
}
