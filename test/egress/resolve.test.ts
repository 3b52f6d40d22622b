import assert from 'node:assert/strict';
import { type Socket, createSocket } from 'node:dgram';
import { type TestContext, describe, test } from 'node:test';
import { type Ask, MAX_ANSWERS, createResolver, queryAsk, systemAsk } from '../../src/egress/resolve.ts';
import { RefusalError } from '../../src/kernel/refusal.ts';
import { ms } from '../../src/kernel/units.ts';
import { startOrigin } from '../support/origin-server.ts';
import { manualClock, orderFor, rig, ruleFor } from './harness.ts';

const SIGNAL = new AbortController().signal;
const codeOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'resolved',
    (error: unknown) => (error instanceof RefusalError ? error.refusal.code : 'other'),
  );

function counted(answers: readonly string[], ttl = 10_000) {
  let count = 0;
  const ask: Ask = async () => {
    count += 1;
    return { addresses: answers, ttl: ms(ttl) };
  };
  return { ask, count: () => count };
}

describe('a resolver with memory', () => {
  test('an answer is kept for its time, to the millisecond', async () => {
    const clock = manualClock();
    const { ask, count } = counted(['127.0.0.1']);
    const resolver = createResolver(ask, clock);
    await resolver.resolve('a.test', SIGNAL);
    clock.advance(9_999);
    await resolver.resolve('a.test', SIGNAL);
    assert.equal(count(), 1);
    clock.advance(1);
    await resolver.resolve('a.test', SIGNAL);
    assert.equal(count(), 2);
  });
  test('SSRF-DNS-18 fifty who ask at once are one question', async () => {
    const { ask, count } = counted(['127.0.0.1']);
    const resolver = createResolver(ask, manualClock());
    await Promise.all(Array.from({ length: 50 }, () => resolver.resolve('a.test', SIGNAL)));
    assert.equal(count(), 1);
  });
  test('SSRF-DNS-8 without a time to live each connection asks once, and no more', async () => {
    const { ask, count } = counted(['127.0.0.1'], 0);
    const resolver = createResolver(ask, manualClock());
    for (let turn = 1; turn <= 3; turn += 1) {
      await resolver.resolve('a.test', SIGNAL);
      assert.equal(count(), turn);
    }
  });
  test('what is forgotten is asked again; failures are not kept', async () => {
    const { ask, count } = counted(['127.0.0.1']);
    const resolver = createResolver(ask, manualClock());
    await resolver.resolve('a.test', SIGNAL);
    resolver.forget('a.test');
    await resolver.resolve('a.test', SIGNAL);
    assert.equal(count(), 2);
    let failures = 0;
    const failing = createResolver(
      () => Promise.reject(Object.assign(new Error(), { code: `E${(failures += 1)}` })),
      manualClock(),
    );
    assert.equal(await codeOf(failing.resolve('a.test', SIGNAL)), 'dns-failed');
    assert.equal(await codeOf(failing.resolve('a.test', SIGNAL)), 'dns-failed');
    assert.equal(failures, 2);
  });
  for (const [size, expected] of [
    [MAX_ANSWERS, 'resolved'],
    [MAX_ANSWERS + 1, 'dns-failed'],
    [5_000, 'dns-failed'],
    [0, 'dns-failed'],
  ] as const) {
    test(`SSRF-DNS-2 ${size} addresses: ${expected}`, async () => {
      const { ask } = counted(Array.from({ length: size }, () => '93.184.215.14'));
      assert.equal(await codeOf(createResolver(ask, manualClock()).resolve('a.test', SIGNAL)), expected);
    });
  }
  test('names that nobody asks for again do not pile up', async () => {
    const { ask, count } = counted(['127.0.0.1']);
    const resolver = createResolver(ask, manualClock());
    for (let at = 0; at < 1_100; at += 1) await resolver.resolve(`n${at}.test`, SIGNAL);
    await resolver.resolve('n0.test', SIGNAL);
    assert.equal(count(), 1_101);
  });
  test('who leaves stops waiting; who stays gets the answer', async () => {
    const gate = Promise.withResolvers<void>();
    const resolver = createResolver(
      () => gate.promise.then(() => ({ addresses: ['127.0.0.1'], ttl: ms(0) })),
      manualClock(),
    );
    const controller = new AbortController();
    const leaver = resolver.resolve('a.test', controller.signal);
    const stayer = resolver.resolve('a.test', SIGNAL);
    controller.abort();
    await assert.rejects(leaver);
    gate.resolve();
    assert.deepEqual(await stayer, ['127.0.0.1']);
  });
  test("SSRF-DNS-4 a second answer to one question is nobody's", async () => {
    const ask: Ask = () =>
      new Promise((resolve) => {
        resolve({ addresses: ['127.0.0.1'], ttl: ms(0) });
        // oxlint-disable-next-line promise/no-multiple-resolved -- that is the attack
        resolve({ addresses: ['10.0.0.1'], ttl: ms(0) });
      });
    assert.deepEqual(await createResolver(ask, manualClock()).resolve('a.test', SIGNAL), ['127.0.0.1']);
  });
});

describe("the system's resolution", () => {
  test('every address that the machine knows, in its order, kept for egress.dnsTtl', async () => {
    const asked: unknown[] = [];
    const lookup = (
      name: string,
      options: unknown,
      done: (error: null, found: readonly { address: string; family: number }[]) => void,
    ) => {
      asked.push([name, options]);
      done(null, [
        { address: '2001:db8::1', family: 6 },
        { address: '192.0.2.1', family: 4 },
      ]);
    };
    const answers = await systemAsk(ms(10_000), lookup as unknown as Parameters<typeof systemAsk>[1])('a.test');
    assert.deepEqual(answers, { addresses: ['2001:db8::1', '192.0.2.1'], ttl: 10_000 });
    assert.deepEqual(asked, [['a.test', { all: true, order: 'verbatim' }]]);
  });
  test('a name of the hosts file is found; one that cannot exist is not', async () => {
    const resolver = createResolver(systemAsk(ms(0)), manualClock());
    const found = await resolver.resolve('localhost', SIGNAL);
    assert.ok(found.some((address) => address === '127.0.0.1' || address === '::1'));
    assert.equal(await codeOf(resolver.resolve('a..b', SIGNAL)), 'dns-failed');
  });
});

/** A name server on loopback: it answers A questions from the script, everything else with nothing. */
async function nameServer(t: TestContext, script: (name: string, turn: number) => readonly Resource[]) {
  const socket: Socket = createSocket('udp4');
  let turn = 0;
  socket.on('message', (query, from) => {
    const end = query.indexOf(0, 12) + 5;
    const question = query.subarray(12, end);
    const type = query.readUInt16BE(end - 4);
    const name = nameIn(question);
    const records = type === 1 ? script(name, (turn += 1)) : [];
    socket.send(answerTo(query, question, records), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  t.after(() => socket.close());
  return { server: `127.0.0.1:${socket.address().port}`, turns: () => turn };
}

interface Resource {
  readonly ttl: number;
  readonly a?: string;
  /** A CNAME to this name; the records after it belong to that name. */
  readonly cname?: string;
}

const wireName = (name: string): Buffer =>
  Buffer.concat([
    ...name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
    Buffer.from([0]),
  ]);

function nameIn(question: Buffer): string {
  const labels: string[] = [];
  for (let at = 0; (question[at] ?? 0) > 0; at += 1 + (question[at] ?? 0)) {
    labels.push(question.subarray(at + 1, at + 1 + (question[at] ?? 0)).toString());
  }
  return labels.join('.');
}

function answerTo(query: Buffer, question: Buffer, records: readonly Resource[]): Buffer {
  const header = Buffer.alloc(12);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  let owner: Buffer = Buffer.from([0xc0, 12]);
  const answers = records.map(({ ttl, a, cname }) => {
    const data = cname === undefined ? Buffer.from((a ?? '').split('.').map(Number)) : wireName(cname);
    const fixed = Buffer.alloc(10);
    fixed.writeUInt16BE(cname === undefined ? 1 : 5, 0);
    fixed.writeUInt16BE(1, 2);
    fixed.writeUInt32BE(ttl, 4);
    fixed.writeUInt16BE(data.length, 8);
    const record = Buffer.concat([owner, fixed, data]);
    if (cname !== undefined) owner = data;
    return record;
  });
  return Buffer.concat([header, question, ...answers]);
}

describe("egress.dns: a name server under the test's control", () => {
  const BOUNDS = { floor: ms(1_000), ceiling: ms(60_000), timeout: ms(2_000) };

  async function reach(t: TestContext, script: (turn: number) => readonly Resource[], unsafe: readonly string[]) {
    const origin = await startOrigin((_request, response) => void response.end('{}'));
    t.after(() => origin.close());
    const dns = await nameServer(t, (_name, turn) => script(turn));
    const clock = manualClock();
    const resolver = createResolver(queryAsk([dns.server], BOUNDS), clock);
    const { fetcher } = rig({ clock, resolver });
    t.after(() => fetcher.close());
    const url = `http://agents.example.test:${origin.port}/`;
    const go = () => fetcher.fetch(orderFor(url, { rule: ruleFor([url], { unsafeAddresses: unsafe }) }));
    return { origin, dns, clock, go, resolver };
  }

  test('an answer that flips from public to private: no forbidden connect', async (t) => {
    const { origin, clock, go, dns } = await reach(
      t,
      (turn) => [{ ttl: 0, a: turn === 1 ? '192.0.2.1' : '127.0.0.1' }],
      [],
    );
    for (const turn of [1, 2, 3]) {
      const result = await go();
      assert.ok(!result.ok);
      assert.equal(result.refusal.code, 'address-forbidden');
      assert.equal(dns.turns(), turn);
      clock.advance(1_000);
    }
    assert.equal(origin.connections(), 0);
  });
  test('thirty-one public records and a private one', async (t) => {
    const records = [
      ...Array.from({ length: 31 }, (_, at) => ({ ttl: 60, a: `93.184.215.${at}` })),
      { ttl: 60, a: '127.0.0.1' },
    ];
    const { origin, go } = await reach(t, () => records, []);
    const result = await go();
    assert.ok(!result.ok);
    assert.equal(result.refusal.code, 'address-forbidden');
    assert.equal(origin.connections(), 0);
  });
  test('a chain of CNAMEs is judged by the address at its end', async (t) => {
    const chain = [
      { ttl: 60, cname: 'b.example.test' },
      { ttl: 60, cname: 'vault.corp' },
      { ttl: 60, a: '127.0.0.1' },
    ];
    const shut = await reach(t, () => chain, []);
    const result = await shut.go();
    assert.ok(!result.ok);
    assert.equal(result.refusal.code, 'address-forbidden');
    const open = await reach(t, () => chain, ['127.0.0.1/32']);
    assert.ok((await open.go()).ok);
  });
  for (const [ttl, kept] of [
    [0, 1_000],
    [30, 30_000],
    [2_000_000_000, 60_000],
  ] as const) {
    test(`a TTL of ${ttl} s is kept for ${kept} ms`, async (t) => {
      const { clock, resolver, dns } = await reach(t, () => [{ ttl, a: '127.0.0.1' }], []);
      await resolver.resolve('agents.example.test', SIGNAL);
      clock.advance(kept - 1);
      await resolver.resolve('agents.example.test', SIGNAL);
      assert.equal(dns.turns(), 1);
      clock.advance(1);
      await resolver.resolve('agents.example.test', SIGNAL);
      assert.equal(dns.turns(), 2);
    });
  }
  test('a name without addresses does not resolve', async (t) => {
    const { go, origin } = await reach(t, () => [], []);
    const result = await go();
    assert.ok(!result.ok);
    assert.equal(result.refusal.code, 'dns-failed');
    assert.equal(origin.connections(), 0);
  });
});
