import type { Interim } from '../kernel/answer.ts';
import type { Fields } from '../kernel/fields.ts';
import { type Exchange, isOver } from './exchange.ts';
import { withoutFraming, recordOf } from './head.ts';
import { validateHeaderName, validateHeaderValue } from './node-http.ts';

/** "A client MUST be able to parse one or more 1xx responses" — RFC 9110 §15.2; "a server MUST NOT send a 1xx response to an HTTP/1.0 client". */
export function writeInterim(exchange: Exchange, { status, fields }: Interim): void {
  if (isOver(exchange) || !isInterim(status)) return;
  const kept = withoutFraming(fields);
  // What cannot be written is left out whole: an announcement that nobody gets harms nobody, and the answer is still to come.
  if (!isWritable(kept)) return;
  if (exchange.protocol === 'http/2') {
    exchange.stream.additionalHeaders(recordOf(status, kept));
    return;
  }
  const { request, response } = exchange;
  // Behind another answer on the same connection it is not this one's turn yet.
  if (request.httpVersion !== '1.1' || response.socket === null) return;
  response.writeInformation(status, [...kept]);
}

const isInterim = (status: number): boolean => Number.isInteger(status) && status >= 102 && status <= 199;

function isWritable(fields: Fields): boolean {
  try {
    for (let at = 0; at + 1 < fields.length; at += 2) {
      const name = fields[at] ?? '';
      validateHeaderName(name);
      validateHeaderValue(name, fields[at + 1] ?? '');
    }
    return true;
  } catch {
    return false;
  }
}
