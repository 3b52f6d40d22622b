import assert from 'node:assert/strict';
import http from 'node:http';
import type http2 from 'node:http2';
import { describe, test } from 'node:test';
import type { Answer } from '../../src/kernel/answer.ts';
import type { Ask } from '../../src/kernel/ask.ts';
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
    withStage(nothing, async (stage) => {
      await askedFor(stage, 3, () => stage.get({ Host: 'example.test' }));
      assert.equal(await stage.get({ Host: 'evil.test' }), 421);
      assert.equal(await stage.get({ Host: 'example.test' }), 200);
      stage.on.listener.follow({ names: new Set(), connections: 100 });
      assert.equal(await stage.get({ Host: 'example.test' }), 421);
    }));

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
});
