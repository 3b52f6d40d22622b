import assert from 'node:assert/strict';
import http2 from 'node:http2';
import { after, before, describe, test } from 'node:test';
import { PREFACE, TYPE, frame, framesOf, getLines, request } from '../support/http2-frames.ts';
import { RawSocket } from '../support/raw-socket.ts';
import { CARD_PATH, World } from '../support/world.ts';
import { REQUEST_CASES, bytesOf } from './attack-cases.ts';

/** Cases about framing that HTTP/2 does not have. */
const OF_HTTP1: ReadonlySet<string> = new Set([
  'HTTP-TGT-H14', // the version of the request line
  'HTTP-TGT-H16', // the same
  'HTTP-TGT-24', // Node's client sends no such path; below, by bytes
]);

/** A stream that was reset before it had an answer. */
const RESET = 0;

/** Statuses where the same request means another thing than on HTTP/1.1, or the table leaves them to words. */
const STATUSES: Readonly<Record<string, readonly number[]>> = {
  // ":path" is a path, and ":authority" a host and port: anything else is "malformed", which ends the stream (RFC 9113 §8.1.1).
  'HTTP-TGT-2': [RESET],
  'HTTP-TGT-4': [RESET],
  'HTTP-TGT-6': [RESET],
  'HTTP-TGT-H4': [RESET],
  'HTTP-TGT-H6': [RESET],
  'HTTP-TGT-8': [405],
  'HTTP-TGT-10': [404],
  'HTTP-TGT-12': [400],
  'HTTP-TGT-26': [400, 404],
  'HTTP-TGT-36': [200],
  'HTTP-TGT-38': [414, 431],
  'HTTP-TGT-H10': [200],
  'HTTP-TGT-H12': [200],
  'HTTP-TGT-M11': [200],
};
/** Everything else that names no card, or names a host that is none of ours. */
const ELSE = { target: [404], host: [400, 421], method: [400, 405, 501] };

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly hosts: readonly string[];
}

/** Takes a case's request apart; its first Host is `:authority`, a second one stays a field. */
function askedBy(raw: string): Asked {
  const [line = '', ...fields] = bytesOf(raw).split('\r\n');
  const [method = '', path = ''] = line.split(' ');
  return { method, path, hosts: fields.flatMap((field) => /^host: (.*)$/i.exec(field)?.[1] ?? []) };
}

describe('attack table: targets and hosts over h2c', { timeout: 60_000 }, () => {
  let world: World;
  before(async () => {
    world = await World.start();
    await world.card();
  });
  after(() => world.stop());

  async function statusOf({ method, path, hosts: [authority = '', second] }: Asked): Promise<number> {
    const session = http2.connect(world.base);
    const pseudo = { ':method': method, ':path': path, ':authority': authority };
    const stream = session.request(second === undefined ? pseudo : { ...pseudo, host: second });
    const status = await new Promise<number>((resolve) => {
      stream.once('response', (head) => resolve(head[':status'] ?? RESET));
      stream.once('error', () => resolve(RESET)).once('close', () => resolve(RESET));
    });
    session.destroy();
    return status;
  }

  for (const { id, title, raw } of REQUEST_CASES.filter(
    (one) => one.id.startsWith('HTTP-TGT-') && !OF_HTTP1.has(one.id),
  ))
    test(`${id} ${title}`, async () => {
      const asked = world.origin.asked.length;
      const kind = /-H\d+$/.test(id) ? 'host' : /-M\d+$/.test(id) ? 'method' : 'target';
      const wanted = STATUSES[id] ?? ELSE[kind];
      const status = await statusOf(askedBy(raw ?? ''));
      assert.ok(wanted.includes(status), `${status} is none of ${wanted.join()}`);
      assert.equal(world.origin.asked.length, asked, 'the origin was asked');
      assert.equal((await world.card()).status, 200, 'another client is served');
    });

  test('HTTP-TGT-24 raw NUL in path', async () => {
    const socket = await RawSocket.connect(Number(new URL(world.base).port));
    const path = CARD_PATH.replace('weather', 'wea\0ther');
    await socket.send(Buffer.concat([Buffer.from(PREFACE), frame(TYPE.settings, 0, 0)]));
    await socket.send(request(1, getLines({ ':path': path })));
    await socket.until(() => framesOf(socket).some(({ type, stream }) => stream === 1 || type === TYPE.goaway));
    assert.ok(!socket.text.includes('skills'), 'a card came back');
    socket.close();
  });
});
