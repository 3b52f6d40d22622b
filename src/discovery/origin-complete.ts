import { withoutFields } from '../http/fields.ts';
import { beginsWith, contentRange, heldBytes } from '../http/parts.ts';
import { updateFields } from '../http/validation.ts';
import type { Entry } from '../kernel/entry.ts';
import type { ByteStream } from '../kernel/fields.ts';
import type { StreamedResponse } from '../ports.ts';

const OF_THE_PART: ReadonlySet<string> = new Set(['content-range', 'content-length']);

/**
 * Joins the stored beginning of a representation and the rest of it that an origin sends (RFC 9111 §3.4). Undefined where the two do
 * not belong together.
 */
export function completeFrom(entry: Entry, response: StreamedResponse): StreamedResponse | undefined {
  const held = heldBytes(entry);
  const rest = response.status === 206 ? contentRange(response.fields) : undefined;
  if (held === undefined || rest === undefined) return undefined;
  if (!beginsWith({ fields: entry.fields, held }, { fields: response.fields, ...rest })) return undefined;
  const fields = updateFields(withoutFields(entry.fields, OF_THE_PART), withoutFields(response.fields, OF_THE_PART));
  return {
    status: 200,
    fields: [...fields, 'Content-Length', String(rest.complete)],
    body: joined(held.body, response.body),
  };
}

async function* joined(beginning: Uint8Array, rest: ByteStream): ByteStream {
  const chunks = rest[Symbol.asyncIterator]();
  try {
    yield beginning;
    for (;;) {
      const next = await chunks.next();
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await chunks.return?.();
  }
}
