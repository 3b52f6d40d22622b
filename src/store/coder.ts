import { promisify } from 'node:util';
import zlib from 'node:zlib';
import type { ContentCoding } from '../kernel/entry.ts';
import type { Coder } from '../ports.ts';

/** Below this the fields that a coding needs cost what it saves. */
export const SHORTEST_CODED = 256;
/** Above this one body would keep a core busy for longer than its transfer saves anybody. */
export const LARGEST_CODED = 4 * 1024 * 1024;
/** A coding that saves less than this part is not worth its memory. */
const LEAST_SAVED = 0.1;

const brotli = promisify(zlib.brotliCompress);
const gzip = promisify(zlib.gzip);

/** A window much larger than the body is memory that is cleared for nothing: for a usual card that takes as long as coding it. */
const windowFor = (body: Uint8Array): number =>
  Math.min(zlib.constants.BROTLI_DEFAULT_WINDOW, Math.max(SMALLEST_WINDOW, Math.ceil(Math.log2(body.byteLength)) + 1));
const SMALLEST_WINDOW = 12;

/** Brotli's best takes three seconds for a megabyte; at 6 it takes a tenth of one, and a usual card one millisecond. */
const BROTLI_QUALITY = 6;

const CODINGS: readonly (readonly [ContentCoding, (body: Uint8Array) => Promise<Uint8Array>])[] = [
  [
    'br',
    (body) =>
      brotli(body, {
        params: {
          [zlib.constants.BROTLI_PARAM_MODE]: zlib.constants.BROTLI_MODE_TEXT,
          [zlib.constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
          [zlib.constants.BROTLI_PARAM_LGWIN]: windowFor(body),
          [zlib.constants.BROTLI_PARAM_SIZE_HINT]: body.byteLength,
        },
      }),
  ],
  ['gzip', (body) => gzip(body, { level: zlib.constants.Z_BEST_COMPRESSION })],
];

/** Codes off the main thread, one coding of one body at a time: name look-ups and files share the few threads there are. */
export function createCoder(): Coder {
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = (work: () => Promise<Uint8Array>): Promise<Uint8Array> => {
    const done = last.then(work, work);
    last = done.catch(() => undefined);
    return done;
  };
  return {
    async code(body) {
      if (body.byteLength < SHORTEST_CODED || body.byteLength > LARGEST_CODED) return [];
      const made = await Promise.all(
        CODINGS.map(async ([coding, make]) => ({ coding, body: await inTurn(() => make(body)).catch(() => body) })),
      );
      const most = body.byteLength * (1 - LEAST_SAVED);
      return made
        .filter((each) => each.body.byteLength <= most)
        .toSorted((a, b) => a.body.byteLength - b.body.byteLength);
    },
  };
}
