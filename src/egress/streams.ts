import type { Readable } from 'node:stream';
import type { ByteStream } from '../kernel/fields.ts';
import { type Refusal, RefusalError, refuse } from '../kernel/refusal.ts';
import type { Watch } from './watch.ts';

/** Passes a caller's body on, chunk by chunk as the origin takes it; ends when the exchange does. */
export async function* watchedUpload(body: ByteStream, watch: Watch): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) {
      watch.touch();
      if (watch.signal.aborted) return;
      yield chunk;
      watch.touch();
    }
  } catch (error) {
    // The client left in the middle of its request: the origin must not take what it has for the whole.
    if (error instanceof RefusalError) throw error;
    throw new RefusalError(refuse('bad-request', 'The request body ended before it was complete.'), error);
  }
}

/** How a download is looked after. */
export interface Download {
  readonly watch: Watch;
  /** Called once, when the body is over. */
  readonly end: (outcome: 'whole' | 'broken') => void;
  readonly explain: (error: unknown) => Refusal;
  /** True where the answer has no body by its nature. */
  readonly empty: boolean;
}

/** Passes an origin's body on with back-pressure. The exchange is over when the body is, when its reader leaves, or by the watch. */
export function watchedDownload(stream: Readable, download: Download): ByteStream {
  const { watch, end } = download;
  let over = false;
  const finish = (outcome: 'whole' | 'broken'): void => {
    if (!over) end(outcome);
    over = true;
  };
  // Nobody may ever read: the stream's own end then ends the exchange.
  stream.once('error', () => finish('broken')).once('close', () => finish(stream.readableEnded ? 'whole' : 'broken'));
  if (download.empty) stream.resume();
  watch.touch();
  return {
    [Symbol.asyncIterator]: () => chunksOf(stream, { ...download, end: finish }),
  };
}

async function* chunksOf(stream: Readable, { watch, end, explain }: Download): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      watch.touch();
      yield chunk;
      watch.touch();
    }
    end('whole');
  } catch (error) {
    throw new RefusalError(explain(error), error);
  } finally {
    end('broken');
  }
}
