import type { ByteStream, Fields } from '../kernel/fields.ts';
import { valuesOf } from './message-fields.ts';

/** Longer bodies stream at once: what is read ahead is memory, and a wait. */
const LONGEST_HELD = 64 * 1024;

/** Says whether a body is announced as short enough to be read before it is sent. */
export function isShortBody(fields: Fields): boolean {
  const [length, ...others] = valuesOf(fields, 'content-length');
  return length !== undefined && others.length === 0 && /^\d{1,5}$/.test(length) && Number(length) <= LONGEST_HELD;
}

/** Reads a body to its end, so that it can be sent more than once. Its bounds are those of the request that it is of. */
export async function holdBody(body: ByteStream): Promise<ByteStream> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return { [Symbol.asyncIterator]: () => each(chunks) };
}

async function* each(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}
