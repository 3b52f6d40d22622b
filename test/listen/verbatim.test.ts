import assert from 'node:assert/strict';
import { once } from 'node:events';
import type http from 'node:http';
import net from 'node:net';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Exchange } from '../../src/listen/exchange.ts';
import { createHttp1 } from '../../src/listen/http1.ts';
import { FRONT_LIMITS } from '../../src/listen/limits.ts';
import type { Known } from '../../src/listen/standing-answers.ts';
import { RawSocket } from '../support/raw-socket.ts';

/** Each head that is answered by an answer that stands says so by its target; what it is worth is not looked at here. */
const KNOWN = { method: 'GET' } as Known;

/** Both ends of one connection. */
interface Ends {
  /** Gives bytes to the server's end as the system would, cut exactly here. */
  give(piece: string): void;
  /** Resolves to all that came back, once the connection has ended. */
  finish(): Promise<string>;
}

interface Port {
  /** Heads that were answered as known ones, and heads that were learned. */
  readonly repeated: string[];
  readonly learned: string[];
  open(): Promise<Ends>;
  /** Sends these pieces, each read by itself and then time to be answered, and resolves to all that came back in the end. */
  dialogue(pieces: readonly string[]): Promise<string>;
  close(): Promise<void>;
}

/** @param stands false for a port on which no answer stands: everything is read by Node alone. */
async function port(stands: boolean): Promise<Port> {
  const [learned, repeated]: [string[], string[]] = [[], []];
  const answers = new Map<string, string>();
  const limits = { connections: 10, ...FRONT_LIMITS };
  const request = (exchange: Exchange): Known | undefined => {
    assert.equal(exchange.protocol, 'http/1');
    return exchange.protocol === 'http/1' ? serve(exchange.request, exchange.response, stands) : undefined;
  };
  const one = createHttp1(
    {
      request,
      repeat(head, _connection, socket) {
        const answer = answers.get(head);
        if (answer === undefined) return false;
        repeated.push(head);
        socket.write(answer, 'latin1');
        return true;
      },
      learn(head) {
        learned.push(head);
        answers.set(head, whole(head));
      },
      refuse: (exchange) => void (exchange.protocol === 'http/1' && exchange.response.writeHead(400).end()),
      unread: () => undefined,
    },
    limits,
  );
  let accepted: (socket: net.Socket) => void = () => undefined;
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    one.emit('connection', socket);
    accepted(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const at = typeof address === 'object' && address !== null ? address.port : 0;
  async function open(): Promise<Ends> {
    const socket = new Promise<net.Socket>((resolve) => (accepted = resolve));
    const client = await RawSocket.connect(at);
    const side = await socket;
    return {
      give: (piece) => void (side.destroyed || side.emit('data', Buffer.from(piece, 'latin1'))),
      async finish() {
        client.finish();
        await client.ended();
        client.close();
        return client.text.replaceAll(/Date: [^\r]*/g, 'Date: then');
      },
    };
  }
  return {
    learned,
    repeated,
    open,
    async dialogue(pieces) {
      const ends = await open();
      for (const piece of pieces) {
        ends.give(piece);
        await turns();
      }
      return ends.finish();
    },
    async close() {
      server.close();
      await once(server, 'close');
      one.close();
    },
  };
}

/** What is to be answered is answered. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
}

const DATE = 'then';
const KEPT = 'Connection: keep-alive\r\nKeep-Alive: timeout=60\r\n\r\n';
const bodyOf = (target: string): string => `the card of ${target}`;
const targetOf = (head: string): string => head.split(' ', 2)[1] ?? '';

/** What Node writes for `serve`. */
function whole(head: string): string {
  const body = bodyOf(targetOf(head));
  return `HTTP/1.1 200 OK\r\nDate: ${DATE}\r\nContent-Length: ${body.length}\r\n${KEPT}${body}`;
}

/** Answers cards at once and everything else once its body is read; no answer to a slow one comes before the next turn. */
function serve(request: http.IncomingMessage, response: http.ServerResponse, stands: boolean): Known | undefined {
  const target = request.url ?? '';
  const isCard = target.startsWith('/card');
  const answer = (body: string): void => {
    response.writeHead(200, ['Date', DATE, 'Content-Length', String(body.length)]).end(body);
  };
  if (isCard && request.method === 'GET') answer(bodyOf(target));
  else if (target === '/early') answer('before its body');
  else if (target === '/slow') setImmediate(() => answer('at last'));
  else {
    let body = '';
    request.setEncoding('latin1').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => answer(`${request.method} ${body.length}`));
  }
  return isCard && stands ? KNOWN : undefined;
}

const get = (target: string, more = ''): string => `GET ${target} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`;
const CARD = get('/card');
const post = (body: string): string =>
  `POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const chunked = (body: string): string =>
  `POST /rpc HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

/** Says the same to a port where answers stand and to one where none does. */
async function both(pieces: readonly string[]): Promise<{ readonly text: string; readonly repeated: number }> {
  const [standing, plain] = await Promise.all([port(true), port(false)]);
  try {
    const [text, expected] = await Promise.all([standing.dialogue(pieces), plain.dialogue(pieces)]);
    assert.equal(text, expected);
    assert.deepEqual([plain.learned, plain.repeated], [[], []]);
    return { text, repeated: standing.repeated.length };
  } finally {
    await Promise.all([standing.close(), plain.close()]);
  }
}

describe('a request in the bytes of one that was read before', () => {
  test('is answered without Node from the fourth time on', async () => {
    const { text, repeated } = await both([CARD, CARD, CARD, CARD, CARD]);
    assert.equal(text, whole(CARD).repeat(5));
    assert.equal(repeated, 2);
  });

  test('is known on every connection', async () => {
    const on = await port(true);
    await on.dialogue([CARD, CARD, CARD]);
    await on.dialogue([CARD, CARD, CARD]);
    assert.deepEqual([on.learned, on.repeated], [[CARD], [CARD]]);
    await on.close();
  });

  const PRIMED = [CARD, CARD, CARD, CARD];
  /** What has these bytes in it, and is none of these requests. */
  const unlike: readonly (readonly [name: string, pieces: readonly string[]])[] = [
    ['a body', [post(CARD).slice(0, -CARD.length), CARD, CARD]],
    ['a body that nobody waits for', [post(CARD).replace('/rpc', '/early').slice(0, -CARD.length), CARD, CARD]],
    ['the end of a body', [post(`x${CARD}`).slice(0, -CARD.length), CARD, CARD]],
    ['a chunk', [chunked(CARD).slice(0, -CARD.length - 7), CARD, '\r\n0\r\n\r\n', CARD]],
    ['a chunk size that is still to come', [chunked('').slice(0, -5), CARD]],
    ['trailers', [chunked('').slice(0, -2), CARD, CARD]],
    ['the rest of a head', ['GET /x HTTP/1.1\r\nHost: localhost\r\nX: ', CARD, CARD]],
    ['the rest of a head behind another one', [`${CARD}GET /x HTTP/1.1\r\nHost: localhost\r\nX: `, CARD, CARD]],
    ['the rest of a target', ['GET /', CARD]],
    ['what follows an empty line', ['\r\n', CARD, '\r\n\r\n', CARD, CARD]],
    ['what follows half an empty line', ['\r', CARD, CARD]],
    ['a message behind the last one', [get('/card', 'Connection: close\r\n'), CARD]],
    ['what is sent into a tunnel', ['CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', CARD]],
    ['what is sent behind a switch of protocols', [get('/x', 'Connection: upgrade\r\nUpgrade: x\r\n'), CARD, CARD]],
    ['what follows nonsense', ['nonsense\r\n\r\n', CARD]],
    ['one of two in one piece', [CARD + CARD, CARD, CARD + post('x'), CARD]],
    ['one with half of another behind it', [CARD + CARD.slice(0, 9), CARD.slice(9), CARD]],
  ];
  for (const [name, pieces] of unlike) {
    test(`is not ${name}`, async () => {
      await both([...PRIMED, ...pieces]);
    });
  }

  test('waits for the answers that are due before it', async () => {
    const { text } = await both([...PRIMED, get('/slow') + get('/slow'), CARD, CARD]);
    assert.ok(text.endsWith(`at last${whole(CARD).repeat(2)}`));
    const on = await port(true);
    await on.dialogue(PRIMED);
    const ends = await on.open();
    for (const piece of [CARD, CARD, get('/slow'), CARD]) ends.give(piece);
    assert.ok((await ends.finish()).endsWith(`at last${whole(CARD)}`));
    await on.close();
  });

  test('leaves the reader alone that a refused tunnel has given back: it may be that of another connection', async () => {
    const on = await port(true);
    const tunnel = await on.open();
    for (const piece of [...PRIMED, 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n']) {
      tunnel.give(piece);
      await turns();
    }
    const others = [await on.open(), await on.open()];
    for (const each of others) each.give(CARD.slice(0, 20));
    tunnel.give('nonsense\r\n\r\n');
    for (const each of others) each.give(CARD.slice(20));
    for (const each of others) assert.equal(await each.finish(), whole(CARD));
    await tunnel.finish();
    await on.close();
  });

  for (const head of [
    get('/card', 'Connection: close\r\n'),
    CARD.replace('1.1', '1.0').replace('\r\n\r\n', '\r\nConnection: keep-alive\r\n\r\n'),
    CARD.replace('GET', 'HEAD'),
    get('/card', `X-Long: ${'x'.repeat(4_100)}\r\n`),
  ]) {
    test(`is read each time where it is ${JSON.stringify(head.slice(0, 70))}`, async () => {
      const on = await port(true);
      for (let times = 0; times < 3; times += 1) await on.dialogue([...PRIMED, head, head, head]);
      assert.deepEqual(on.learned, [CARD]);
      assert.ok(!on.repeated.includes(head));
      await on.close();
    });
  }

  test('gets what it would get if it was read, whatever comes before and wherever bytes are cut', async () => {
    const message = fc.constantFrom(
      CARD,
      CARD,
      get('/card?2'),
      get('/slow'),
      post(CARD),
      post(CARD + CARD),
      chunked(CARD),
      '\r\n',
    );
    const cuts = fc.array(fc.nat(400), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fc.array(message, { maxLength: 8 }), cuts, async (messages, places) => {
        // Mostly message by message, since that is how clients send; and a few cuts anywhere.
        const ends = messages.map((_, at) => messages.slice(0, at + 1).join('').length);
        const text = messages.join('');
        const at = [...new Set([0, ...ends, ...places.filter((each) => each < text.length)])].toSorted((a, b) => a - b);
        await both([...PRIMED, ...at.slice(1).map((end, index) => text.slice(at[index], end))]);
      }),
      { numRuns: 60 },
    );
  });
});
