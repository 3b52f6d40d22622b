import type { Json } from './json.ts';
import { quote } from './json.ts';

/** Where scanning stopped, and why; line and column count from 1. */
export interface ScanFault {
  readonly line: number;
  readonly column: number;
  readonly what: string;
}

export type Scan = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly fault: ScanFault };

/** Whatever the configuration says: nesting that the scanner's own recursion, and that of every reader after it, bears with ease. */
const DEEPEST = 256;

/** A card of a thousand skills has about ten thousand values; seven canonical forms of ten times as many would hold the process up. */
const MAX_VALUES = 50_000;

/** No decimal of a double needs more: 309 digits before the point, or 324 places and 17 digits after it. */
const LONGEST_NUMBER = 400;

/** Integers up to 2^53 are doubles without loss, and they have at most 16 digits. */
const SAFE_DIGITS = 15;

/**
 * Reads strict JSON (RFC 8259, I-JSON of RFC 7493): duplicate names, lone surrogates, `__proto__`, numbers that a double cannot hold
 * and nesting deeper than the bound are faults. `JSON.parse` sees none of these, and each makes one text two documents.
 */
export function scanJson(text: string, maxDepth: number): Scan {
  const scanner = new Scanner(text, Math.min(maxDepth, DEEPEST));
  try {
    return { ok: true, value: scanner.document() };
  } catch (error) {
    if (error instanceof Stop) return { ok: false, fault: { ...positionOf(text, error.at), what: error.message } };
    throw error;
  }
}

/** Unwinds the scanner; never leaves this file. */
class Stop extends Error {
  readonly at: number;
  constructor(at: number, what: string) {
    super(what);
    this.at = at;
  }
}

class Scanner {
  readonly #text: string;
  readonly #maxDepth: number;
  /** Then so is every part of it between two quotation marks. */
  readonly #isWellFormed: boolean;
  #at = 0;
  #values = 0;

  constructor(text: string, maxDepth: number) {
    this.#text = text;
    this.#maxDepth = maxDepth;
    this.#isWellFormed = text.isWellFormed();
  }

  document(): Json {
    const value = this.#value(1);
    if (this.#peek() !== undefined) this.#stop('there is more after the end of the document');
    return value;
  }

  #value(depth: number): Json {
    const mark = this.#peek();
    this.#values += 1;
    if (this.#values > MAX_VALUES) this.#stop(`the document has more than ${MAX_VALUES} values`);
    switch (mark) {
      case '{':
        return this.#object(depth);
      case '[':
        return this.#array(depth);
      case '"':
        return this.#string();
      case 't':
        return this.#word('true', true);
      case 'f':
        return this.#word('false', false);
      case 'n':
        return this.#word('null', null);
      case undefined:
        return this.#stop('the document ends too early');
      default:
        return this.#number();
    }
  }

  #object(depth: number): Json {
    this.#enter(depth);
    const object: Record<string, Json> = Object.create(null);
    if (this.#closes('}')) return object;
    do {
      if (this.#peek() !== '"') this.#stop('a member name in double quotes was expected');
      const at = this.#at;
      const name = this.#string();
      if (name === '__proto__') this.#stop('a member may not be named "__proto__"', at);
      if (name in object) this.#stop(`the member ${quote(name)} stands twice in one object`, at);
      if (!this.#closes(':')) this.#stop('":" was expected');
      object[name] = this.#value(depth + 1);
    } while (this.#continues('}'));
    return object;
  }

  #array(depth: number): Json {
    this.#enter(depth);
    const array: Json[] = [];
    if (this.#closes(']')) return array;
    do array.push(this.#value(depth + 1));
    while (this.#continues(']'));
    return array;
  }

  #enter(depth: number): void {
    if (depth > this.#maxDepth) this.#stop(`nesting is deeper than ${this.#maxDepth}`);
    this.#at += 1;
  }

  #closes(mark: '}' | ']' | ':'): boolean {
    if (this.#peek() !== mark) return false;
    this.#at += 1;
    return true;
  }

  #continues(bracket: '}' | ']'): boolean {
    const mark = this.#peek();
    if (mark !== bracket && mark !== ',') this.#stop(`"," or ${quote(bracket)} was expected`);
    this.#at += 1;
    return mark === ',';
  }

  /** The next character that is no white space. Most often there is nothing to pass over: none above the space is white. */
  #peek(): string | undefined {
    if (!(this.#text.charCodeAt(this.#at) > 0x20)) this.#match(SPACE);
    return this.#text[this.#at];
  }

  #word<T extends Json>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) this.#stop('no JSON value starts here');
    this.#at += word.length;
    return value;
  }

  /** Most strings have no escape: they are what stands there. */
  #string(): string {
    const start = this.#at;
    const end = this.#plainEnd(start + 1);
    if (this.#text[end] !== '"' || !this.#isWellFormed) return this.#anyString();
    this.#at = end + 1;
    return this.#text.slice(start + 1, end);
  }

  /** Where what may stand in a string as it is ends, from this place on. */
  #plainEnd(from: number): number {
    PLAIN.lastIndex = from;
    PLAIN.test(this.#text);
    return PLAIN.lastIndex;
  }

  #anyString(): string {
    const start = this.#at;
    this.#at += 1;
    let value = '';
    for (;;) {
      const end = this.#plainEnd(this.#at);
      value += this.#text.slice(this.#at, end);
      this.#at = end;
      const mark = this.#text[end];
      if (mark === '"') break;
      if (mark !== '\\')
        this.#stop(mark === undefined ? 'a string does not end' : 'a control character stands in a string');
      value += this.#escape();
    }
    this.#at += 1;
    if (!value.isWellFormed()) this.#stop('a string holds half of a surrogate pair', start);
    return value;
  }

  #escape(): string {
    const escape = this.#match(ESCAPE);
    if (escape === '') this.#stop('a string holds an escape that JSON does not know');
    const plain = ESCAPES[escape[1] ?? ''];
    return plain ?? String.fromCharCode(Number.parseInt(escape.slice(2), 16));
  }

  #number(): number {
    const start = this.#at;
    const token = this.#match(NUMBER);
    if (token === '') this.#stop('no JSON value starts here');
    const value = Number(token);
    if (token.length > LONGEST_NUMBER || !isHeld(token, value))
      this.#stop('a number is one that a double cannot hold', start);
    return value;
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }

  #stop(what: string, at = this.#at): never {
    throw new Stop(at, what);
  }
}

const SPACE = /[ \t\n\r]*/y;
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/**
 * Tells whether a double keeps what the number says: no overflow, no non-zero that becomes zero, no integer that changes. A fraction
 * with more digits than a double has is rounded, as RFC 8785's own examples are.
 */
function isHeld(token: string, value: number): boolean {
  if (!Number.isFinite(value)) return false;
  if (value === 0) return !/[1-9]/.test(token.split(/e/i, 1)[0] ?? '');
  if (token.length <= SAFE_DIGITS || /[.eE]/.test(token)) return true;
  return BigInt(token) === BigInt(value) || significant(token) === significant(String(value));
}

/** The digits that count: `-1200` and `1.2e+3` both give `12`. */
const significant = (decimal: string): string =>
  (decimal.split('e', 1)[0] ?? '').replace(/[-.]/g, '').replace(/^0+|0+$/g, '');

function positionOf(text: string, at: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, at);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: at - lineStart + 1 };
}
