import type { Writable } from 'node:stream';
import type { ByteStream } from '../kernel/fields.ts';
import { watchDeparture } from './departure.ts';

/** What a body must keep to. */
export interface PumpLimits {
  /** The length that was stated; nothing beyond it is written. */
  readonly length: number | undefined;
  /** Longest time that the client may take nothing, in ms. */
  readonly writeTimeout: number;
}

/**
 * Writes a body as fast as the client takes it and resolves to how many bytes it was. Undefined where it is not whole: the source
 * broke, gave more than was stated, or the client went or stopped reading; the source is let go then.
 */
export async function pump(body: ByteStream, sink: Writable, limits: PumpLimits): Promise<number | undefined> {
  const departure = watchDeparture(sink);
  const source = body[Symbol.asyncIterator]();
  let written = 0;
  try {
    for (;;) {
      const next = await departure.orGone(source.next());
      if (next === undefined) break;
      if (next.done === true) return written;
      written += next.value.byteLength;
      if (limits.length !== undefined && written > limits.length) break;
      if (!sink.write(next.value) && !(await drained(sink, limits.writeTimeout))) break;
    }
  } catch {
    // The source broke; whoever opened it has told why. The client learns it from an answer that has no end.
    return undefined;
  } finally {
    departure.forget();
  }
  abandon(body, source);
  return undefined;
}

/** Cuts bytes into pieces without copying them. */
export async function* slices(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += size) yield bytes.subarray(at, at + size);
}

/** Lets go of a body that nobody will read, so that what stands behind it is freed. */
export function abandon(body: Uint8Array | ByteStream | null, source?: AsyncIterator<Uint8Array>): void {
  if (body === null || body instanceof Uint8Array) return;
  // A Node stream is destroyed: its iterator would wait for a read in progress first.
  if ('destroy' in body && typeof body.destroy === 'function') body.destroy();
  if (source !== undefined) source.return?.().catch(() => undefined);
  else void readFirst(body);
}

/** Begins a body and leaves it: a generator that never began runs none of its endings. */
async function readFirst(body: ByteStream): Promise<void> {
  try {
    for await (const _ of body) break;
  } catch {
    // It broke by itself, which ends it too.
  }
}

/** Resolves when everything has been handed to the system, or the client is gone; to false when it takes nothing for too long. */
export async function flushed(sink: Writable, limit: number): Promise<boolean> {
  if (sink.writableFinished || sink.destroyed) return true;
  return (await happens(sink, 'finish', limit)) || sink.destroyed;
}

const drained = (sink: Writable, limit: number): Promise<boolean> =>
  sink.destroyed ? Promise.resolve(false) : happens(sink, 'drain', limit);

/** Waits for an event: false when the sink closes first or the time is over. */
function happens(sink: Writable, event: 'drain' | 'finish', limit: number): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (happened: boolean): void => {
      clearTimeout(timer);
      sink.off(event, yes).off('close', no);
      resolve(happened);
    };
    const yes = (): void => settle(true);
    const no = (): void => settle(false);
    const timer = setTimeout(no, limit).unref();
    sink.once(event, yes).once('close', no);
  });
}
