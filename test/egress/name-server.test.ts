import assert from 'node:assert/strict';
import { type TestContext, describe, test } from 'node:test';
import * as fc from 'fast-check';
import { createResolver, queryAsk } from '../../src/egress/resolve.ts';
import { ms } from '../../src/kernel/units.ts';
import { type NameServerOptions, type Resource, type Script, startNameServer } from '../support/name-server.ts';
import { startOrigin } from '../support/origin-server.ts';
import { manualClock, orderFor, rig, ruleFor } from './harness.ts';

/*
 * `egress.dns` against a name server that lies, over real UDP and TCP. 127.0.0.1 stands for a public address: a rule allows it. On
 * 127.0.0.2, same port, stands what must never be reached.
 */

const SIGNAL = new AbortController().signal;
const BOUNDS = { floor: ms(1_000), ceiling: ms(60_000), timeout: ms(2_000) };
const PUBLIC = '127.0.0.1';
const PRIVATE = '127.0.0.2';

interface Lie extends NameServerOptions {
  readonly script: Script;
}

/** An origin, its forbidden neighbour, and a name server between. Each answer ends its connection, so that each fetch dials anew. */
async function start(t: TestContext, { script, ...options }: Lie) {
  const origin = await startOrigin((_request, response) => void response.setHeader('Connection', 'close').end('{}'));
  const neighbour = await startOrigin((_request, response) => void response.end('{}'), {
    host: PRIVATE,
    port: origin.port,
  });
  const dns = await startNameServer(script, options);
  const clock = manualClock();
  const resolver = createResolver(queryAsk([dns.server], BOUNDS), clock);
  const { fetcher } = rig({ clock, resolver });
  t.after(async () => {
    await fetcher.close();
    dns.close();
    await Promise.all([origin.close(), neighbour.close()]);
  });
  const url = `http://agents.example.test:${origin.port}/`;
  const rule = ruleFor([url], { unsafeAddresses: [`${PUBLIC}/32`] });
  const dialled: string[] = [];
  const fetch = async (): Promise<string> => {
    const result = await fetcher.fetch(orderFor(url, { rule }));
    dialled.push(...result.trail.addresses);
    return result.ok ? 'ok' : result.refusal.code;
  };
  const untouched = (): void => {
    assert.equal(neighbour.connections(), 0);
    assert.ok(
      dialled.every((address) => address === PUBLIC),
      dialled.join(),
    );
  };
  return { clock, dns, fetch, origin, resolver, untouched };
}

const a = (address: string, ttl = 60): Resource => ({ ttl, a: address });

describe("a name server under the test's control", () => {
  test('that flips from public to private between lookups', async (t) => {
    const { clock, dns, fetch, origin, untouched } = await start(t, {
      script: (_name, turn) => [a(turn % 2 === 1 ? PUBLIC : PRIVATE, 0)],
    });
    const seen: string[] = [];
    for (let turn = 0; turn < 6; turn += 1) {
      seen.push(await fetch());
      clock.advance(1_000);
    }
    assert.deepEqual(seen, ['ok', 'address-forbidden', 'ok', 'address-forbidden', 'ok', 'address-forbidden']);
    assert.equal(dns.turns(), 6);
    assert.equal(origin.connections(), 3);
    untouched();
  });

  test('that flips within the floor of a TTL of 0: the answer that was vetted is the one that is dialled', async (t) => {
    const { clock, dns, fetch, untouched } = await start(t, {
      script: (_name, turn) => [a(turn === 1 ? PUBLIC : PRIVATE, 0)],
    });
    assert.equal(await fetch(), 'ok');
    clock.advance(999);
    assert.equal(await fetch(), 'ok');
    assert.equal(dns.turns(), 1);
    untouched();
  });

  for (const truncates of [false, true]) {
    const transport = truncates ? 'tcp' : 'udp';
    const crowd = (size: number): readonly Resource[] =>
      Array.from({ length: size }, (_, at) => a(at === size - 2 ? PRIVATE : PUBLIC));
    for (const [size, code] of [
      [40, 'dns-failed'],
      [33, 'dns-failed'],
      [32, 'address-forbidden'],
      [2, 'address-forbidden'],
    ] as const) {
      test(`that answers ${size} records over ${transport}, one of them private: ${code}`, async (t) => {
        const { dns, fetch, origin, untouched } = await start(t, { script: () => crowd(size), truncates });
        assert.equal(await fetch(), code);
        assert.ok(dns.asked.includes(`${transport} A agents.example.test`), dns.asked.join());
        assert.equal(origin.connections(), 0);
        untouched();
      });
    }
  }

  test('that hides the private address in the other family', async (t) => {
    for (const hidden of ['::1', `::ffff:${PRIVATE}`, 'fd00:ec2::254', '64:ff9b::a9fe:a9fe']) {
      const { fetch, origin, untouched } = await start(t, {
        script: (_name, _turn, type) => (type === 'A' ? [a(PUBLIC)] : [{ ttl: 60, aaaa: hidden }]),
        both: true,
      });
      assert.equal(await fetch(), 'address-forbidden', hidden);
      assert.equal(origin.connections(), 0);
      untouched();
    }
  });

  test('that answers by a chain of CNAMEs: the address at its end decides, whatever the names say', async (t) => {
    const chain = (end: string): readonly Resource[] => [
      { ttl: 60, cname: 'b.example.test' },
      { ttl: 60, cname: 'vault.corp' },
      a(end),
    ];
    const shut = await start(t, { script: () => chain(PRIVATE) });
    assert.equal(await shut.fetch(), 'address-forbidden');
    assert.equal(shut.origin.connections(), 0);
    shut.untouched();
    const open = await start(t, { script: () => chain(PUBLIC) });
    assert.equal(await open.fetch(), 'ok');
    const [sent = []] = open.origin.headers;
    const at = sent.findIndex((name) => name.toLowerCase() === 'host');
    assert.equal(sent[at + 1], `agents.example.test:${open.origin.port}`);
    open.untouched();
  });

  for (const [ttl, kept] of [
    [0, 1_000],
    [1, 1_000],
    [30, 30_000],
    [60, 60_000],
    [61, 60_000],
    [2_000_000_000, 60_000],
  ] as const) {
    test(`that says a TTL of ${ttl} s is believed for ${kept} ms`, async (t) => {
      const { clock, resolver, dns } = await start(t, { script: () => [a(PUBLIC, ttl)] });
      await resolver.resolve('agents.example.test', SIGNAL);
      clock.advance(kept - 1);
      await resolver.resolve('agents.example.test', SIGNAL);
      assert.equal(dns.turns(), 1);
      clock.advance(1);
      await resolver.resolve('agents.example.test', SIGNAL);
      assert.equal(dns.turns(), 2);
    });
  }

  test('that has no address for the name', async (t) => {
    const { fetch, origin, untouched } = await start(t, { script: () => [] });
    assert.equal(await fetch(), 'dns-failed');
    assert.equal(origin.connections(), 0);
    untouched();
  });

  test('that answers anything at all: only what is allowed is dialled, and only where every answer is', async (t) => {
    const address = fc.oneof(
      { weight: 4, arbitrary: fc.constant(PUBLIC) },
      { weight: 1, arbitrary: fc.constantFrom(PRIVATE, '10.0.0.1', '169.254.169.254', '0.0.0.0', '224.0.0.1') },
    );
    const answers = fc.sample(fc.array(address, { minLength: 1, maxLength: 4 }), { numRuns: 60, seed: 20 });
    const { clock, fetch, untouched } = await start(t, {
      script: (_name, turn) => (answers[turn - 1] ?? []).map((one) => a(one, 0)),
    });
    for (const answer of answers) {
      const expected = answer.every((one) => one === PUBLIC) ? 'ok' : 'address-forbidden';
      assert.equal(await fetch(), expected, answer.join());
      clock.advance(1_000);
    }
    untouched();
  });
});
