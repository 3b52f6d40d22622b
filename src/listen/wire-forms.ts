import type { Answer } from '../kernel/answer.ts';
import type { Exchange } from './exchange.ts';
import { type Head, headOf, isBodiless, linesOf } from './head.ts';
import { STATUS_CODES } from './node-http.ts';

/** What an answer is as a protocol writes it. */
export interface WireForm {
  readonly head: Head;
  /** The body under HTTP/1, where it is short: one character per byte. */
  text(): string;
  /** The body under HTTP/2, where it is short, as what Node would make of other bytes at each write. */
  buffer(): Buffer;
  /** All of it as Node writes it for GET on an HTTP/1.1 connection that is kept for so many ms; undefined where only Node can. */
  whole(idleTimeout: number): Uint8Array | undefined;
  /** The head under HTTP/2, as names and values in turn, which Node takes faster than a record. */
  lines(): string[];
}

export interface WireForms {
  /** Makes an answer's form; of one that is given again, once. Throws where there is none. */
  of(answer: Answer, method: string): WireForm;
  /** True where the form of an answer is at hand, since it was given before. */
  has(answer: Answer): boolean;
}

/** The forms that are kept go with their answers. */
export function createWireForms(): WireForms {
  const kept = new WeakMap<Answer, WireForm>();
  return {
    has: (answer) => kept.has(answer),
    of(answer, method) {
      // Where there is no body, what is said of its length depends on the method, except with a status that says nothing of it.
      const mayKeep = answer.holds !== undefined && (answer.body instanceof Uint8Array || answer.status === 304);
      if (!mayKeep) return new Form(answer, method);
      let form = kept.get(answer);
      if (form === undefined) kept.set(answer, (form = new Form(answer, method)));
      return form;
    },
  };
}

/** Made as far as it is asked for, once. */
class Form implements WireForm {
  readonly head: Head;
  readonly #body: Answer['body'];
  #text: string | undefined;
  #buffer: Buffer | undefined;
  #whole: Uint8Array | undefined;
  #lines: string[] | undefined;

  constructor(answer: Answer, method: string) {
    this.head = headOf(answer, method);
    this.#body = answer.body;
  }

  text(): string {
    return (this.#text ??= this.buffer().toString('latin1'));
  }

  buffer(): Buffer {
    return (this.#buffer ??= isShort(this.#body) ? bufferOf(this.#body) : Buffer.alloc(0));
  }

  whole(idleTimeout: number): Uint8Array | undefined {
    if (!this.head.hasDate || (this.#body !== null && !isShort(this.#body))) return undefined;
    return (this.#whole ??= joined(this.head, idleTimeout, isBodiless(this.head.status) ? null : this.#body));
  }

  /** Node writes the date into it where there is none: then each answer needs its own. */
  lines(): string[] {
    const lines = (this.#lines ??= linesOf(this.head.status, this.head.fields));
    return this.head.hasDate ? lines : [...lines];
  }
}

/** Fields have passed Node's own check when they were first written. */
function joined({ status, fields }: Head, idleTimeout: number, body: Uint8Array | null): Uint8Array {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n`;
  for (let at = 0; at + 1 < fields.length; at += 2) head += `${fields[at]}: ${fields[at + 1]}\r\n`;
  head += `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(idleTimeout / 1_000)}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head, 'latin1'), body ?? new Uint8Array()]);
}

/**
 * Puts the head before the body. Throws where a field cannot be written, with nothing sent.
 * @param more what the writer knows: whether the connection ends, and whether no body follows.
 */
export function writeHead(
  exchange: Exchange,
  form: WireForm,
  more: { readonly closes: boolean; readonly ends: boolean },
): void {
  if (exchange.protocol === 'http/2') {
    exchange.stream.respond(form.lines(), { endStream: more.ends });
    return;
  }
  const { response } = exchange;
  const { status, fields, hasDate } = form.head;
  response.sendDate = !hasDate;
  response.writeHead(status, more.closes ? [...fields, 'Connection', 'close'] : fields);
}

/** Longer bodies are written piece by piece, so that a client that stops reading is noticed. */
export const AT_ONCE = 64 * 1024;

export const isShort = (body: Answer['body']): body is Uint8Array =>
  body instanceof Uint8Array && body.byteLength <= AT_ONCE;

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
