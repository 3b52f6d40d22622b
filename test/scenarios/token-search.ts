/** A part of a token that is no accident. */
const WINDOW = 20;
/** What tokens are written in. */
const WORDS = new RegExp(`[A-Za-z0-9+/=_.~-]{${WINDOW},}`, 'g');

/**
 * Finds parts of tokens in any bytes: in one byte a character and in two, at either alignment. Every stretch of a token that is twice as
 * long as the window holds a whole step of the text, so that one step in twenty is looked up.
 */
export class TokenSearch {
  readonly #windows = new Map<string, string>();

  constructor(tokens: Iterable<string>) {
    for (const token of tokens) {
      for (let from = 0; from + WINDOW <= token.length; from += 1) {
        const window = token.slice(from, from + WINDOW);
        // What several have in common, as a header, is a part of each.
        if (!this.#windows.has(window)) this.#windows.set(window, token);
      }
    }
  }

  /** Gives the tokens of which a part is there, each once. */
  find(bytes: Buffer): readonly string[] {
    return this.#find(readings(bytes));
  }

  /** The same of a heap snapshot, whose strings are one list at its end, whatever they are in memory. */
  findInSnapshot(snapshot: Buffer): readonly string[] {
    return this.#find(
      pieces(snapshot.subarray(snapshot.lastIndexOf('"strings":['))).map((piece) => piece.toString('latin1')),
    );
  }

  #find(texts: Iterable<string>): readonly string[] {
    const found = new Set<string>();
    for (const text of texts) {
      for (const [word] of text.matchAll(WORDS)) {
        for (let from = 0; from + WINDOW <= word.length; from += WINDOW) {
          const token = this.#windows.get(word.slice(from, from + WINDOW));
          if (token !== undefined) found.add(token);
        }
      }
    }
    return [...found];
  }
}

/** A string has half a gigabyte of characters at the most. */
const CHUNK = 64 * 1024 * 1024;
/** No token that is cut in two by the end of a chunk is missed. */
const OVERLAP = 16 * 1024;

const pieces = (bytes: Buffer): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / CHUNK) }, (_, at) =>
    bytes.subarray(at * CHUNK, (at + 1) * CHUNK + OVERLAP),
  );

function* readings(bytes: Buffer): Generator<string> {
  for (const piece of pieces(bytes)) {
    yield piece.toString('latin1');
    yield piece.toString('utf16le');
    yield piece.subarray(1).toString('utf16le');
  }
}
