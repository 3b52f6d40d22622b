import type { RpcId } from './operation.ts';

/** What Cardea reads of a JSON-RPC request: where it goes depends on it, and nothing else is looked at. */
export interface RpcHead {
  readonly method: string | undefined;
  readonly id: RpcId;
  /** `params.tenant`; `''` where there is none. */
  readonly tenant: string;
}

/** Reads the head of a JSON-RPC request while its bytes pass, so that a large message is never held. */
export interface RpcScan {
  feed(chunk: Uint8Array): void;
  /** What was found so far. */
  head(): RpcHead;
  /** What makes it no request that can be judged, in words; undefined while nothing does. */
  wrong(): string | undefined;
  /** True when the object has ended. */
  complete(): boolean;
}

export const scanRpc = (): RpcScan => new Scan();

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const OPEN_ARRAY = 0x5b;
const CLOSE_OBJECT = 0x7d;
const CLOSE_ARRAY = 0x5d;
const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** No method, id or tenant in use is longer; of longer words only the length is known. */
const LONGEST_WORD = 1_024;

/** The members that decide, by the object that they stand in. */
const TOP: readonly string[] = ['method', 'id', 'params'];
const PARAMS: readonly string[] = ['tenant'];

/**
 * A scanner over bytes. It follows strings and brackets everywhere, and names only in the request itself and in `params`. A name that
 * stands twice, or in another case, is refused: parsers differ on which one counts, and the origin's may take the other.
 */
class Scan implements RpcScan {
  #depth = 0;
  #ended = false;
  #wrong: string | undefined;
  #inString = false;
  #escaped = false;
  #word: number[] | undefined;
  /** True where the next string at a followed depth is a name. */
  #nameNext = false;
  #name = '';
  /** True inside the object that `params` is. */
  #inParams = false;
  readonly #seen = new Set<string>();
  #method: string | undefined;
  #id: RpcId = null;
  #tenant = '';

  feed(chunk: Uint8Array): void {
    for (const byte of chunk) {
      if (this.#wrong !== undefined) return;
      if (this.#inString) this.#string(byte);
      else this.#structure(byte);
    }
  }

  head(): RpcHead {
    return { method: this.#method, id: this.#id, tenant: this.#tenant };
  }

  wrong(): string | undefined {
    return this.#wrong;
  }

  complete(): boolean {
    return this.#ended;
  }

  /** True where names matter: directly in the request, or directly in its params. */
  #isFollowed(): boolean {
    return this.#depth === 1 || (this.#depth === 2 && this.#inParams);
  }

  /** True for the value that the last name was for, where a call's way depends on it. */
  #isDeciding(): boolean {
    return this.#name === (this.#inParams ? 'tenant' : 'method');
  }

  #string(byte: number): void {
    if (!this.#escaped && byte === QUOTE) {
      this.#inString = false;
      if (this.#isFollowed()) this.#endString();
      return;
    }
    this.#escaped = !this.#escaped && byte === BACKSLASH;
    if (this.#word !== undefined && this.#word.length <= LONGEST_WORD) this.#word.push(byte);
  }

  #structure(byte: number): void {
    if (isSpace(byte)) return;
    if (this.#depth === 0) return this.#outside(byte);
    switch (byte) {
      case QUOTE:
        this.#inString = true;
        this.#word = this.#isFollowed() ? [] : undefined;
        return;
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        return this.#open(byte);
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        return this.#close();
      case COLON:
        return;
      case COMMA:
        this.#endScalar();
        this.#nameNext = this.#isFollowed();
        return;
      default:
        if (this.#isFollowed() && !this.#nameNext) this.#scalar(byte);
    }
  }

  #scalar(byte: number): void {
    this.#word ??= [];
    if (this.#word.length <= LONGEST_WORD) this.#word.push(byte);
  }

  #outside(byte: number): void {
    if (this.#ended) this.#wrong = 'something follows the request';
    else if (byte !== OPEN_OBJECT) this.#wrong = 'it is no JSON object; batches are not part of A2A';
    this.#depth = 1;
    this.#nameNext = true;
  }

  #open(byte: number): void {
    if (this.#depth === 1 && this.#name === 'params') this.#inParams = byte === OPEN_OBJECT;
    else if (this.#isFollowed() && this.#isDeciding()) this.#wrong = `its "${this.#name}" is no text`;
    this.#depth += 1;
    this.#nameNext = this.#isFollowed();
    this.#word = undefined;
  }

  #close(): void {
    this.#endScalar();
    this.#depth -= 1;
    if (this.#depth === 1) this.#inParams = false;
    if (this.#depth === 0) this.#ended = true;
    this.#nameNext = false;
  }

  #endString(): void {
    const text = textOf(this.#word ?? []);
    this.#word = undefined;
    if (this.#nameNext) return this.#beginMember(text);
    this.#take(text);
  }

  #beginMember(name: string | undefined): void {
    this.#nameNext = false;
    this.#name = name ?? '';
    const known = this.#inParams ? PARAMS : TOP;
    // Go's decoder takes names in any case, and folds by Unicode.
    const meant = known.find((each) => each.toUpperCase() === this.#name.toUpperCase());
    if (meant === undefined) return;
    const place = `${this.#inParams ? 'params.' : ''}${meant}`;
    if (meant !== this.#name) this.#wrong = `"${place}" is written in another case`;
    else if (this.#seen.has(place)) this.#wrong = `"${place}" stands twice`;
    this.#seen.add(place);
  }

  /** A number, true, false or null has ended. */
  #endScalar(): void {
    if (this.#word === undefined || !this.#isFollowed()) return;
    const text = String.fromCharCode(...this.#word.slice(0, LONGEST_WORD));
    this.#word = undefined;
    if (text === 'null') return;
    if (this.#isDeciding()) this.#wrong = `its "${this.#name}" is no text`;
    else if (!this.#inParams && this.#name === 'id' && /^-?\d{1,16}(\.\d{1,16})?$/.test(text)) this.#id = Number(text);
  }

  #take(text: string | undefined): void {
    if (text === undefined && this.#isDeciding()) this.#wrong = `its "${this.#name}" is too long or no text`;
    else if (this.#inParams && this.#name === 'tenant') this.#tenant = text ?? '';
    else if (!this.#inParams && this.#name === 'method') this.#method = text;
    else if (!this.#inParams && this.#name === 'id') this.#id = text ?? null;
  }
}

/** Decodes the inside of a JSON string; undefined where it is longer than what is read, or none. */
function textOf(bytes: readonly number[]): string | undefined {
  if (bytes.length > LONGEST_WORD) return undefined;
  try {
    const text: unknown = JSON.parse(`"${new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(bytes))}"`);
    return typeof text === 'string' ? text : undefined;
  } catch {
    return undefined;
  }
}
