import type { Duplex } from 'node:stream';
import { problemAnswer } from '../bindings/problem.ts';
import { type Refusal, refuse } from '../kernel/refusal.ts';
import { STATUS_CODES } from './node-http.ts';

/** Says what was wrong with bytes that Node's parser could not read or would not wait for; undefined when the client left. */
export function nonsense(error: NodeJS.ErrnoException): Refusal | undefined {
  switch (error.code) {
    case 'ECONNRESET':
    case 'EPIPE':
    case 'HPE_INVALID_EOF_STATE':
      return undefined;
    case 'HPE_HEADER_OVERFLOW':
      return refuse('request-too-large', 'The request head is too long or has too many fields.', { status: 431 });
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return refuse('request-too-large', 'The chunk extensions are too long.', { status: 413 });
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return refuse('request-timeout', 'The request did not arrive in time.');
    default:
      return refuse('bad-request', 'The bytes are no HTTP request.');
  }
}

/** CONNECT asks for a tunnel, and what goes through a tunnel is not seen. */
export const noTunnel = (): Refusal =>
  refuse(
    'method-not-allowed',
    'Cardea is no tunnel: it must see what it serves. Ask for http:// URLs without CONNECT.',
    {
      allow: ['GET', 'HEAD', 'POST'],
    },
  );

/** Answers on a connection that has no response object, and ends it. */
export function refuseRaw(socket: Duplex, refusal: Refusal, linger: number): void {
  if (socket.writable) socket.write(rawAnswer(refusal));
  endGently(socket, linger);
}

/**
 * Ends our side and reads on for a moment: a connection closed on unread bytes is reset, and the reset can overtake the answer
 * (RFC 9112 §9.6).
 * @param linger in ms.
 */
function endGently(socket: Duplex, linger: number): void {
  const timer = setTimeout(() => socket.destroy(), linger).unref();
  socket.on('error', () => socket.destroy()).once('close', () => clearTimeout(timer));
  socket.end();
  socket.resume();
}

function rawAnswer(refusal: Refusal): Buffer {
  const { status, fields, body } = problemAnswer(refusal, { kind: 'other', agent: null });
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Refused'}`, 'Connection: close'];
  for (let at = 0; at + 1 < fields.length; at += 2) lines.push(`${fields[at]}: ${fields[at + 1]}`);
  const text = body instanceof Uint8Array ? body : new Uint8Array();
  lines.push(`Date: ${new Date().toUTCString()}`, `Content-Length: ${text.length}`, '', '');
  return Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), text]);
}
