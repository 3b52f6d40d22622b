import type net from 'node:net';

/** What a client sends first when it speaks HTTP/2 with prior knowledge (RFC 9113 §3.4). */
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** What the first bytes of a connection say; `gone` when it ended or waited too long before it said anything. */
export type Spoken = 'http/1' | 'http/2' | 'gone';

/**
 * Collects first bytes for as long as they could be the HTTP/2 preface, then hands the socket on, paused and with those bytes unread.
 * The limit is for all of them: a byte now and then does not prolong it.
 * @param limit in ms.
 */
export function sniff(socket: net.Socket, limit: number, decided: (spoken: Spoken) => void): void {
  let head: Buffer = Buffer.alloc(0);
  const decide = (spoken: Spoken): void => {
    clearTimeout(timer);
    socket.off('data', read).off('error', fail).off('end', fail).off('close', fail);
    decided(spoken);
  };
  const fail = (): void => {
    decide('gone');
    socket.destroy();
  };
  const read = (chunk: Buffer): void => {
    head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
    const compared = Math.min(head.length, PREFACE.length);
    const isHttp2 = head.compare(PREFACE, 0, compared, 0, compared) === 0;
    if (isHttp2 && compared < PREFACE.length) return;
    socket.pause();
    socket.unshift(head);
    decide(isHttp2 ? 'http/2' : 'http/1');
  };
  const timer = setTimeout(fail, limit).unref();
  socket.on('data', read).on('error', fail).on('end', fail).on('close', fail);
}
