import type { ByteStream } from '../kernel/fields.ts';
import { type Bytes, bytes } from '../kernel/units.ts';

/** How an answer's body is looked after while it passes. */
export interface Passing {
  readonly body: ByteStream;
  /** Hears how many bytes have passed. */
  readonly moved: (count: Bytes) => void;
  /** Called once, when the body is over or nobody wants it any more. */
  readonly over: () => void;
  /** Gives what is said last, where the body was ended by a kill and its form has words for it; undefined else. */
  readonly lastWords: () => Uint8Array | undefined;
}

/** Told of in steps: an event of its own for each chunk of a long stream says no more. */
const STEP = 64 * 1024;

/**
 * Passes a body on as fast as it is read. It is an iterator and no generator: one that nobody has begun to read, or whose next chunk
 * does not come, still ends when it is let go.
 */
export class Passage implements AsyncIterableIterator<Uint8Array> {
  readonly #passing: Passing;
  readonly #source: AsyncIterator<Uint8Array>;
  #over = false;
  #counted = 0;
  #tail = '';

  constructor(passing: Passing) {
    this.#passing = passing;
    this.#source = passing.body[Symbol.asyncIterator]();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    if (this.#over) return DONE;
    try {
      const next = await this.#source.next();
      if (next.done === true) this.#finish();
      else this.#pass(next.value);
      return next;
    } catch (error) {
      const words = this.#isBetweenEvents() ? this.#passing.lastWords() : undefined;
      this.#finish();
      if (words === undefined) throw error;
      return { done: false, value: words };
    }
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.#finish();
    // Not awaited: a generator ends only after the chunk that it is waiting for.
    this.#source.return?.().catch(() => undefined);
    return DONE;
  }

  #pass(chunk: Uint8Array): void {
    this.#counted += chunk.length;
    this.#tail = (this.#tail + String.fromCharCode(...chunk.subarray(-LONGEST_END))).slice(-LONGEST_END);
    if (this.#counted >= STEP) this.#tell();
  }

  /** "Events are separated by a blank line" (HTML, server-sent events); in the middle of one nothing else can be said. */
  #isBetweenEvents(): boolean {
    return this.#tail === '' || /(?:\n\n|\r\r|\r\n\r\n)$/.test(this.#tail);
  }

  #tell(): void {
    if (this.#counted > 0) this.#passing.moved(bytes(this.#counted));
    this.#counted = 0;
  }

  #finish(): void {
    if (this.#over) return;
    this.#over = true;
    this.#tell();
    this.#passing.over();
  }
}

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };
/** `\r\n\r\n` */
const LONGEST_END = 4;

/** Counts a request's body on its way to the agent. */
export async function* countUpload(body: ByteStream, moved: (count: Bytes) => void): ByteStream {
  let counted = 0;
  try {
    for await (const chunk of body) {
      counted += chunk.length;
      yield chunk;
    }
  } finally {
    if (counted > 0) moved(bytes(counted));
  }
}
