import type { Client, Dispatcher } from 'undici';
import { parseRawHeaders } from 'undici/lib/core/util.js';
import type { Fields } from '../kernel/fields.ts';

/** A body while it arrives: read once, from its beginning; whoever does not read it to its end destroys it. */
export interface ArrivingBody extends AsyncIterable<Uint8Array> {
  destroy(): void;
}

/** An answer whose head has arrived. */
export interface ArrivingAnswer {
  readonly status: number;
  readonly fields: Fields;
  readonly stream: ArrivingBody;
}

/** What hears of interim answers, with their fields as a flat list. */
export type HearInterim = (interim: { readonly statusCode: number; readonly headers: Fields }) => void;

interface Ends {
  readonly signal: AbortSignal;
  readonly interim: HearInterim | undefined;
}

/**
 * Sends one request, and resolves when the head of its answer is there. Rejects with the signal's reason, or with what broke. Floor of a
 * card: 70 µs; by way of undici's own `request` and its stream it is twice that.
 */
export function sendForAnswer(client: Client, order: Dispatcher.DispatchOptions, ends: Ends): Promise<ArrivingAnswer> {
  return new Promise((resolve, reject) => {
    const arrival = new Arrival(ends, { resolve, reject });
    if (ends.signal.aborted) reject(ends.signal.reason);
    else client.dispatch(order, arrival);
  });
}

/** What waits to be read; beyond it the origin waits. Node's own streams have as much. */
const MOST_WAITING = 64 * 1024;

interface Head {
  readonly resolve: (answer: ArrivingAnswer) => void;
  readonly reject: (error: unknown) => void;
}

class Arrival implements Dispatcher.DispatchHandler, ArrivingBody, AsyncIterator<Uint8Array, undefined> {
  readonly #ends: Ends;
  readonly #head: Head;
  #controller: Dispatcher.DispatchController | undefined;
  #chunks: Uint8Array[] = [];
  #waiting = 0;
  #state: 'arriving' | 'whole' | 'broken' = 'arriving';
  #error: unknown;
  /** Tells the reader that there is more, or that there will be none. */
  #wake = (): void => undefined;

  constructor(ends: Ends, head: Head) {
    this.#ends = ends;
    this.#head = head;
    ends.signal.addEventListener('abort', this.#onAbort);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#state === 'broken') controller.abort(asError(this.#error));
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    const fields = parseRawHeaders(controller.rawHeaders);
    if (status < 200) this.#ends.interim?.({ statusCode: status, headers: fields });
    else this.#head.resolve({ status, fields, stream: this });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#state === 'broken') return;
    this.#chunks.push(chunk);
    this.#waiting += chunk.length;
    if (this.#waiting >= MOST_WAITING) controller.pause();
    this.#wake();
  }

  onResponseEnd(): void {
    this.#end('whole');
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#break(error);
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    while (this.#chunks.length === 0 && this.#state === 'arriving')
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    if (this.#state === 'broken') throw this.#error;
    const value = this.#chunks.shift();
    if (value === undefined) return { done: true, value };
    this.#waiting -= value.length;
    if (this.#waiting < MOST_WAITING) this.#controller?.resume();
    return { done: false, value };
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.destroy();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array, undefined> {
    return this;
  }

  destroy(): void {
    this.#abort(new Error('the answer is not read to its end'));
  }

  readonly #onAbort = (): void => this.#abort(this.#ends.signal.reason);

  #abort(reason: unknown): void {
    if (this.#state !== 'arriving') return;
    this.#break(reason);
    this.#controller?.abort(asError(reason));
  }

  #break(error: unknown): void {
    if (this.#state !== 'arriving') return;
    this.#error = error;
    this.#chunks = [];
    this.#head.reject(error);
    this.#end('broken');
  }

  #end(state: 'whole' | 'broken'): void {
    this.#state = state;
    this.#ends.signal.removeEventListener('abort', this.#onAbort);
    this.#wake();
  }
}

const asError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error(String(reason)));
