import assert from 'node:assert/strict';
import http from 'node:http';
import type http2 from 'node:http2';
import { describe, mock, test } from 'node:test';
import type { Answer } from '../../src/kernel/answer.ts';
import type { Ask } from '../../src/kernel/ask.ts';
import { tag } from '../../src/kernel/ids.ts';
import { type Listening, answer, ask2, listening } from '../support/listening.ts';
import { ask } from '../support/world.ts';

/** A handler that gives one answer again and again, after it has looked at what a case says. */
interface Stage {
  readonly on: Listening;
  holds: boolean;
  get(fields?: http.OutgoingHttpHeaders, target?: string, method?: string): Promise<number>;
}

async function withStage(
  looks: (ask: Ask) => void,
  run: (stage: Stage) => Promise<void>,
  more: Partial<Answer> = {},
): Promise<void> {
  const shared: Answer = { ...answer(200), holds: () => stage.holds, ...more };
  const on = await listening(
    (asked) => {
      looks(asked);
      return shared;
    },
    {},
    ['example.test'],
  );
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const stage: Stage = {
    on,
    holds: true,
    async get(headers = {}, target = '/card', method = 'GET') {
      const { status } = await ask(`http://127.0.0.1:${on.port}${target}`, { agent, headers, method });
      return status;
    },
  };
  try {
    await run(stage);
  } finally {
    agent.destroy();
    await on.close();
  }
}

const nothing = (): void => undefined;
const DATED = { ...answer(200), fields: ['Date', 'Mon, 30 Nov 2026 10:00:00 GMT', 'ETag', '"1"'] };

/** How often the handler was asked for so many requests. */
async function askedFor({ on }: Stage, times: number, request: () => Promise<unknown>): Promise<number> {
  const before = on.asks.length;
  for (let at = 0; at < times; at += 1) await request();
  return on.asks.length - before;
}

describe('an answer that stands', () => {
  test('is given without the handler from the third time on, and counted each time', () =>
    withStage(nothing, async (stage) => {
      assert.equal(await askedFor(stage, 5, () => stage.get()), 2);
      assert.equal(stage.on.events.filter(({ kind }) => kind === 'request').length, 5);
    }));

  test('is given no longer once it does not hold', () =>
    withStage(nothing, async (stage) => {
      await askedFor(stage, 3, () => stage.get());
      stage.holds = false;
      assert.equal(await askedFor(stage, 3, () => stage.get()), 3);
    }));

  type Other = readonly [name: string, fields: http.OutgoingHttpHeaders, target: string, method: string, asked: number];
  const reads = (asked: Ask): void => void asked.field('accept-encoding');
  const others: readonly Other[] = [
    ['the very same', { 'Accept-Encoding': 'gzip', 'X-Trace': '1' }, '/card', 'GET', 0],
    ['another value of a field that was not read', { 'Accept-Encoding': 'gzip', 'X-Trace': '2' }, '/card', 'GET', 0],
    ['another value of a field that was read', { 'Accept-Encoding': 'br', 'X-Trace': '1' }, '/card', 'GET', 1],
    ['one field less', { 'Accept-Encoding': 'gzip' }, '/card', 'GET', 1],
    ['one field more', { 'Accept-Encoding': 'gzip', 'X-Trace': '1', 'If-None-Match': '*' }, '/card', 'GET', 1],
    ['a name in other letters', { 'accept-encoding': 'gzip', 'X-Trace': '1' }, '/card', 'GET', 1],
    ['another target', { 'Accept-Encoding': 'gzip', 'X-Trace': '1' }, '/card?x', 'GET', 1],
    ['another method', { 'Accept-Encoding': 'gzip', 'X-Trace': '1' }, '/card', 'HEAD', 1],
  ];
  for (const [name, fields, target, method, asked] of others) {
    test(`${asked === 0 ? 'is' : 'is not'} that of ${name}`, () =>
      withStage(reads, async (stage) => {
        await askedFor(stage, 3, () => stage.get({ 'Accept-Encoding': 'gzip', 'X-Trace': '1' }));
        assert.equal(await askedFor(stage, 1, () => stage.get(fields, target, method)), asked);
      }));
  }

  test('is not that of a request for another host, which is refused as ever', () =>
    withStage(
      nothing,
      async (stage) => {
        await askedFor(stage, 7, () => stage.get({ Host: 'example.test' }));
        assert.equal(await stage.get({ Host: 'evil.test' }), 421);
        await askedFor(stage, 5, () => stage.get({ Host: 'example.test' }));
        stage.on.listener.follow({ names: new Set(), connections: 100 });
        assert.equal(await stage.get({ Host: 'example.test' }), 421);
      },
      DATED,
    ));

  for (const name of ['Authorization', 'Proxy-Authorization', 'Cookie']) {
    test(`never is that of a request with ${name}`, () =>
      withStage(nothing, async (stage) => {
        assert.equal(await askedFor(stage, 4, () => stage.get({ [name]: 'secret' })), 4);
      }));
  }

  const ofOneCaller = (run: (stage: Stage) => Promise<void>): Promise<void> =>
    withStage(nothing, run, { forCredential: true });
  const shows = (Authorization: string, more: http.OutgoingHttpHeaders = {}) => ({ Authorization, ...more });

  test('that says itself whether its credential is good is that of whoever shows the very same one', () =>
    ofOneCaller(async (stage) => {
      assert.equal(await askedFor(stage, 5, () => stage.get(shows('Bearer alice'))), 2);
      for (const each of ['Bearer alicf', 'bearer alice', 'Bearer', 'Bearer  alice', ''])
        assert.equal(await askedFor(stage, 1, () => stage.get(shows(each))), 1, each);
      assert.equal(await askedFor(stage, 1, () => stage.get()), 1);
      assert.equal(await askedFor(stage, 1, () => stage.get(shows('Bearer alice'), '/other')), 1);
      assert.equal(await askedFor(stage, 1, () => stage.get(shows('Bearer alice'))), 0);
      stage.holds = false;
      assert.equal(await askedFor(stage, 2, () => stage.get(shows('Bearer alice'))), 2);
    }));

  for (const name of ['Proxy-Authorization', 'Cookie'])
    test(`that says so never is that of a request with ${name}`, () =>
      ofOneCaller(async (stage) => {
        assert.equal(await askedFor(stage, 4, () => stage.get(shows('Bearer alice', { [name]: 'secret' }))), 4);
      }));

  test('that says so is kept for each of those who ask in turn', () =>
    ofOneCaller(async (stage) => {
      const round = async (): Promise<void> => {
        for (const each of ['alice', 'bob', 'eve']) await stage.get(shows(`Bearer ${each}`));
      };
      await round();
      await round();
      assert.equal(await askedFor(stage, 3, round), 0);
    }));

  const unforeseen: readonly (readonly [name: string, looks: (ask: Ask) => void])[] = [
    ['all fields', (asked) => void asked.fields],
    ['the body', (asked) => void asked.body],
    ['whether the client is there', (asked) => void asked.signal()],
    ['the way for interim responses', (asked) => void asked.interim],
  ];
  for (const [name, looks] of unforeseen) {
    test(`never is where the handler looked at ${name}`, () =>
      withStage(looks, async (stage) => {
        assert.equal(await askedFor(stage, 4, () => stage.get()), 4);
      }));
  }

  test('is kept apart from what is said over HTTP/2', () =>
    withStage(nothing, async (stage) => {
      await askedFor(stage, 3, () => stage.get({}, '/card'));
      const session: http2.ClientHttp2Session = stage.on.session();
      const get = (): Promise<unknown> => ask2(session, { ':path': '/card' });
      assert.equal(await askedFor(stage, 4, get), 1, 'the second time of this answer');
      assert.equal((await ask2(session, { ':path': '/card', host: 'other.test' })).status, 421);
    }));

  /** What came back for so many times the same bytes on one connection, and how many of the requests Node has read. */
  async function verbatim({ on }: Stage, request: string | ((at: number) => string), times: number) {
    const emit = mock.method(http.Server.prototype, 'emit');
    const socket = await on.connect();
    for (let at = 1; at <= times; at += 1) {
      await socket.send(typeof request === 'string' ? request : request(at));
      await socket.responses(at);
    }
    socket.close();
    const read = emit.mock.calls.filter(
      ({ arguments: given }) => (given as readonly unknown[])[0] === 'request',
    ).length;
    emit.mock.restore();
    return { text: socket.text, read };
  }
  const request = (more = ''): string => `GET /card HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`;
  const bearer = 'aUTHorization: Bearer a\r\n';
  for (const [name, given, fields, read] of [
    ['an answer', DATED, '', 5],
    ['a 304', { ...DATED, status: 304, body: null }, 'If-None-Match: "1"\r\n', 5],
    ['a reason of Node', { ...DATED, status: 404 }, '', 5],
    ['an answer to a credential', { ...DATED, forCredential: true }, bearer, 5],
    ['an answer to a credential elsewhere', DATED, 'X-Api-Key: secret\r\n', 9],
    ['an answer without a date, which is Node’s', answer(200), '', 9],
    ['a long answer', { ...DATED, body: new Uint8Array(70_000) }, '', 9],
  ] as const) {
    test(`gives ${name} in the same bytes, of nine times ${9 - read} without Node`, () =>
      withStage(
        nothing,
        async (stage) => {
          const got = await verbatim(stage, request(fields), 9);
          const [first = ''] = got.text.split(/(?<!^)(?=HTTP\/1\.1 )/);
          assert.equal(got.text.replaceAll(/Date: [^\r]*/g, ''), first.replace(/Date: [^\r]*/, '').repeat(9));
          assert.equal(got.read, read);
          assert.equal(stage.on.events.filter(({ kind }) => kind === 'request').length, 9);
        },
        given,
      ));
  }

  const traceOf = (at: number): string => `00-0af7651916cd43dd8448eb211c80319c-${String(at).padStart(16, '0')}-01`;
  const traced: readonly (readonly [
    name: string,
    fields: (at: number) => string,
    read: number,
    more?: Partial<Answer>,
  ])[] = [
    ['a trace', (at) => `traceparent: ${traceOf(at)}\r\n`, 5],
    ['a trace in capitals', (at) => `Traceparent: ${traceOf(at)}\r\nAccept: */*\r\n`, 5],
    ['a trace beside a credential', (at) => `${bearer}traceparent: ${traceOf(at)}\r\n`, 5, { forCredential: true }],
    ['two traces', (at) => `traceparent: ${traceOf(1)}\r\ntraceparent: ${traceOf(at)}\r\n`, 9],
    ['a longer trace', (at) => `traceparent: ${traceOf(at)}0\r\n`, 9],
    ['a trace of other letters', (at) => `traceparent: ${traceOf(at).replace('a', 'g')}\r\n`, 9],
    ['the state of a trace', (at) => `traceparent: ${traceOf(at)}\r\ntracestate: a=${at}\r\n`, 9],
  ];
  for (const [name, fieldsOf, read, more] of traced) {
    test(`is given to ${name}, another one each time, of nine times ${9 - read} without Node`, () =>
      withStage(
        nothing,
        async (stage) => {
          const got = await verbatim(stage, (at) => request(fieldsOf(at)), 9);
          assert.equal(got.read, read);
          assert.equal(got.text.match(/HTTP\/1\.1 200/g)?.length, 9);
        },
        { ...DATED, ...more },
      ));
  }

  test('is read each time for another trace where the handler looked at it', () =>
    withStage(
      (asked) => void asked.field('traceparent'),
      async (stage) => {
        const got = await verbatim(stage, (at) => request(`traceparent: ${traceOf(at)}\r\n`), 9);
        assert.deepEqual([got.read, stage.on.asks.length], [9, 9]);
      },
      DATED,
    ));

  test('is not given to another trace where the handler looked at it, also once its bytes are known', () =>
    withStage(
      (asked) => void asked.field('traceparent'),
      async (stage) => {
        const got = await verbatim(stage, (at) => request(`traceparent: ${traceOf(at < 6 ? 1 : 2)}\r\n`), 6);
        assert.equal(got.text.match(/HTTP\/1\.1 200/g)?.length, 6);
        assert.equal(stage.on.asks.length, 3, 'two for the first trace, and one for the other');
      },
      DATED,
    ));

  test('by its bytes is given no longer once it does not hold, or when the listener ends', () =>
    withStage(
      nothing,
      async (stage) => {
        await verbatim(stage, request(), 6);
        assert.equal(await askedFor(stage, 3, () => verbatim(stage, request(), 1)), 0);
        stage.holds = false;
        assert.equal(await askedFor(stage, 3, () => verbatim(stage, request(), 1)), 3);
        stage.holds = true;
        await verbatim(stage, request(), 6);
        const socket = await stage.on.connect();
        for (let at = 1; at <= 3; at += 1) {
          await socket.send(request());
          await socket.responses(at);
        }
        const drained = stage.on.listener.drain(new Promise<never>(() => undefined));
        await socket.send(request());
        assert.equal((await socket.responses(4)).at(-1)?.fields.get('connection'), 'close');
        socket.close();
        await drained;
      },
      DATED,
    ));

  test('by its bytes is cut off by a kill while its client takes nothing', () =>
    withStage(
      nothing,
      async ({ on }) => {
        const socket = await on.connect();
        for (let at = 1; at <= 4; at += 1) {
          await socket.send(request());
          await socket.responses(at);
        }
        socket.pause();
        while (on.listener.count(tag('agent:a')) === 0) {
          await socket.send(request());
          await new Promise((resolve) => void setImmediate(resolve));
        }
        on.listener.cut(tag('agent:b'));
        assert.equal(on.listener.count(tag('agent:a')), 1);
        on.listener.cut(tag('agent:a'));
        socket.resume();
        await socket.ended();
      },
      { ...DATED, body: new Uint8Array(60_000), tags: [tag('agent:a')] },
    ));
});
