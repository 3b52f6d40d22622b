import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, describe, test } from 'node:test';
import type { EgressRule } from '../../src/kernel/egress-rule.ts';
import { urlId } from '../../src/kernel/ids.ts';
import { bytes, ms } from '../../src/kernel/units.ts';
import type { FetchOrder } from '../../src/ports.ts';
import { makeAuthority } from '../support/certificates.ts';
import { type Behave, startOrigin } from '../support/origin-server.ts';
import { startProxy } from '../support/proxy-server.ts';
import { orderFor, rig, ruleFor, scripted, textOf } from './harness.ts';

const HOST = 'agents.example.test';
const OTHER = { name: 'agents.other' };
const STREAM = { total: ms(0), bytes: bytes(0), idle: ms(60_000) };
const authority = makeAuthority();

/** An origin under a name, and a way to ask it as this or that rule. */
async function start(t: TestContext, more: { readonly http2?: boolean; readonly behave?: Behave } = {}) {
  const { http2 = false, behave = (_request, response) => void response.end('{}') } = more;
  const origin = await startOrigin(behave, { tls: authority.issue({ names: [HOST] }), http2 });
  t.after(() => origin.close());
  const folder = mkdtempSync(join(tmpdir(), 'cardea-shared-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const url = `https://${HOST}:${origin.port}/`;
  const rule = ruleFor([url], { tls: { ca: write('ca.pem', authority.cert) } });
  const { fetcher, clock } = rig({ resolver: scripted({ [HOST]: [['127.0.0.1']] }) });
  t.after(() => fetcher.close());
  const order = (by: Partial<EgressRule>, given: Partial<FetchOrder> = {}) =>
    orderFor(url, { ...given, rule: { ...rule, ...by } });
  return { origin, rule, fetcher, clock, write, order, url };
}

describe('agents of one origin', () => {
  test('share a connection: whose rule it is makes no difference to how it is made', async (t) => {
    const { origin, fetcher, order } = await start(t);
    const first = await fetcher.fetch(order({}));
    const second = await fetcher.fetch(order(OTHER));
    assert.ok(first.ok && second.ok);
    assert.deepEqual([first.trail.reused, second.trail.reused], [false, true]);
    assert.equal(origin.connections(), 1);
  });
  test('and what else a rule may reach is looked at for each request, not for the connection', async (t) => {
    const { origin, fetcher, order } = await start(t);
    assert.ok((await fetcher.fetch(order({}))).ok);
    const elsewhere = await fetcher.fetch(order({ ...OTHER, allowed: ruleFor(['https://other.test']).allowed }));
    assert.ok(!elsewhere.ok);
    assert.equal(elsewhere.refusal.code, 'origin-not-allowed');
    assert.ok(
      (await fetcher.fetch(order({ ...OTHER, allowed: ruleFor([`https://${HOST}:${origin.port}`]).allowed }))).ok,
    );
    assert.equal(origin.connections(), 1);
    assert.equal(origin.asked.length, 2);
  });
  test('send nothing of one to the origin in the name of another', async (t) => {
    const { origin, fetcher, order } = await start(t);
    await fetcher.fetch(order({}, { fields: ['Authorization', 'Bearer mine', 'Cookie', 'a=1'] }));
    await fetcher.fetch(order(OTHER, { fields: ['Accept', 'application/json'] }));
    assert.equal(origin.connections(), 1);
    assert.doesNotMatch(origin.headers[1]?.join('\n') ?? '', /mine|a=1|authorization|cookie/i);
  });

  // Each of them decides how a connection is made, or what it may lead to.
  const APART: Readonly<Record<string, (made: Awaited<ReturnType<typeof start>>) => Partial<EgressRule>>> = {
    'another range of unsafeAddresses': () => ({ unsafeAddresses: ['127.0.0.0/8'] }),
    'one more of unsafeAddresses': () => ({ unsafeAddresses: ['127.0.0.1/32', '10.0.0.5/32'] }),
    'no cleartext': () => ({ cleartext: false }),
    'other files of trust that say the same': ({ write }) => ({ tls: { ca: write('copy.pem', authority.cert) } }),
    'a certificate of its own': ({ rule, write }) => {
      const { cert, key } = authority.issue({ names: ['client.test'] });
      return { tls: { ...rule.tls, cert: write('client.pem', cert), key: write('client.key', key) } };
    },
  };
  for (const [name, by] of Object.entries(APART)) {
    test(`share none with one of ${name}`, async (t) => {
      const made = await start(t);
      const { origin, fetcher, order } = made;
      const other = by(made);
      for (const rule of [{}, other, {}, other]) assert.ok((await fetcher.fetch(order(rule))).ok);
      assert.equal(origin.connections(), 2, 'one each');
    });
  }
  test('share none with one that goes by a proxy, nor do those of two proxies', async (t) => {
    const { origin, fetcher, order } = await start(t);
    const proxies = [await startProxy(origin.port), await startProxy(origin.port)];
    for (const proxy of proxies) t.after(() => proxy.close());
    const rules = [{}, ...proxies.map(({ url }) => ({ proxy: urlId(url) }))];
    for (const rule of [...rules, ...rules]) assert.ok((await fetcher.fetch(order(rule))).ok);
    assert.equal(origin.connections(), 3);
    assert.deepEqual(
      proxies.map(({ asked }) => asked.length),
      [1, 1],
    );
  });
  test('share none that was made with files which have changed since', async (t) => {
    const { origin, fetcher, order, rule, write } = await start(t);
    assert.ok((await fetcher.fetch(order({}))).ok);
    const ca = rule.tls?.ca ?? '';
    cpSync(ca, `${ca}.old`);
    write('ca.pem', `${authority.cert}\n`);
    assert.ok((await fetcher.fetch(order(OTHER))).ok);
    assert.equal(origin.connections(), 2);
  });
  test('share none with another port, scheme or host', async (t) => {
    const plain = await startOrigin((_request, response) => void response.end('{}'));
    const also = await startOrigin((_request, response) => void response.end('{}'));
    t.after(() => Promise.all([plain.close(), also.close()]));
    const urls = [`http://one.test:${plain.port}/`, `http://two.test:${plain.port}/`, `http://one.test:${also.port}/`];
    const { fetcher } = rig({ resolver: scripted({ 'one.test': [['127.0.0.1']], 'two.test': [['127.0.0.1']] }) });
    t.after(() => fetcher.close());
    const rule = ruleFor(urls);
    for (const url of [...urls, ...urls]) assert.ok((await fetcher.fetch(orderFor(url, { rule }))).ok);
    assert.deepEqual([plain.connections(), also.connections()], [2, 1]);
  });
});

describe('what callers write themselves', () => {
  const callBy =
    ({ fetcher, order }: Awaited<ReturnType<typeof start>>) =>
    async (by: Partial<EgressRule>) => {
      const asked = order(by);
      const result = await fetcher.open({ ...asked, limits: { ...asked.limits, ...STREAM } });
      assert.ok(result.ok);
      await textOf(result.response.body);
      return result.trail.reused;
    };
  test('shares the connections of its own rule, and none with a card or with another rule', async (t) => {
    const made = await start(t);
    const call = callBy(made);
    assert.deepEqual([await call({}), await call({}), await call(OTHER)], [false, true, false]);
    const card = await made.fetcher.fetch(made.order({}));
    assert.ok(card.ok && !card.trail.reused);
    assert.deepEqual([await call({}), await call(OTHER)], [true, true]);
    assert.equal(made.origin.connections(), 3);
  });
  test('goes by HTTP/2 with everybody, since a frame says whose it is', async (t) => {
    const made = await start(t, { http2: true });
    const call = callBy(made);
    assert.deepEqual([await call({}), await call(OTHER)], [false, true]);
    const card = await made.fetcher.fetch(made.order({}));
    assert.ok(card.ok && card.trail.reused);
    assert.equal(made.origin.connections(), 1);
  });
  for (const credential of ['NTLM TlRMTVNTUAAB', 'Negotiate YII=', 'negotiate'])
    for (const http2 of [false, true]) {
      test(`${credential} vouches for a connection, so nobody else uses it; http2: ${http2}`, async (t) => {
        const { origin, fetcher, order } = await start(t, { http2 });
        const bound = { fields: ['Authorization', credential] };
        assert.ok((await fetcher.fetch(order({}))).ok);
        for (const given of [bound, bound, {}, {}]) assert.ok((await fetcher.fetch(order({}, given))).ok);
        assert.equal(origin.connections(), 3, 'one for those without, one for each with');
      });
    }
  test('other credentials are of their request alone', async (t) => {
    const { origin, fetcher, order } = await start(t);
    for (const credential of ['Bearer negotiate', 'Basic bnRsbQ==', 'NTLMish x'])
      assert.ok((await fetcher.fetch(order({}, { fields: ['Authorization', credential] }))).ok);
    assert.equal(origin.connections(), 1);
  });
});

describe('an end of one agent', () => {
  test('does not end the exchange of another on the same HTTP/2 connection', async (t) => {
    const waiting: ServerResponse[] = [];
    const { origin, fetcher, order } = await start(t, {
      http2: true,
      behave: (request, response) => {
        if (request.url === '/') waiting.push(response);
        else response.end('{}');
      },
    });
    const { url } = order({});
    assert.ok((await fetcher.fetch(order({}, { url: urlId(`${url}warm`) }))).ok);
    const kill = new AbortController();
    const killed = fetcher.fetch(order({}, { signal: kill.signal }));
    const other = fetcher.fetch(order(OTHER));
    while (waiting.length < 2) await new Promise(setImmediate);
    kill.abort(new Error('stopped'));
    assert.ok(!(await killed).ok);
    waiting[1]?.end('still here');
    const result = await other;
    assert.ok(result.ok && result.trail.reused);
    assert.equal(Buffer.from(result.response.body).toString(), 'still here');
    assert.equal(origin.connections(), 1);
  });
  test('takes its HTTP/1.1 connection along: nobody gets what was meant for it', async (t) => {
    const waiting: ServerResponse[] = [];
    const { origin, fetcher, order } = await start(t, {
      behave: (_request, response) => {
        if (origin.asked.length === 2) waiting.push(response);
        else response.end('{}');
      },
    });
    assert.ok((await fetcher.fetch(order({}))).ok);
    const kill = new AbortController();
    const killed = fetcher.fetch(order({}, { signal: kill.signal }));
    while (waiting.length < 1) await new Promise(setImmediate);
    kill.abort(new Error('stopped'));
    assert.ok(!(await killed).ok);
    const result = await fetcher.fetch(order(OTHER));
    assert.ok(result.ok && !result.trail.reused);
    assert.equal(origin.connections(), 2);
  });
});
