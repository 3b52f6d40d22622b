import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startNameServer } from '../support/name-server.ts';
import { startOrigin } from '../support/origin-server.ts';
import { startProxy } from '../support/proxy-server.ts';
import { CARD, CARD_PATH, type Got, World, type WorldOptions } from '../support/world.ts';

/** How the daemon leaves its Pod, told from outside. */

async function inWorld(options: WorldOptions, run: (world: World) => Promise<void>): Promise<void> {
  const world = await World.start(options);
  try {
    await run(world);
  } finally {
    await world.stop();
  }
}

/** A port that nobody has: the configuration must name it before the origin is there. */
async function freePort(): Promise<number> {
  const origin = await startOrigin(() => undefined);
  await origin.close();
  return origin.port;
}

const PLANNER = CARD_PATH.replace('weather', 'planner');
const NEVER = 'negativeTtl: 0s, prefetch: false';

describe('an egress proxy', () => {
  test('is asked for every origin by name; who may be asked for is decided before', async (t) => {
    const port = await freePort();
    const proxy = await startProxy(port);
    t.after(() => proxy.close());
    const config = `  planner: { origin: "http://planner.agents.example.test:${port}", unsafeCleartext: true, interfaces: any }
cache: { ${NEVER} }
egress: { proxy: "${proxy.url}" }
origins: [{ match: "https://dex.example.test", content: none, proxy: null }]`;
    await inWorld({ port, config, agent: 'proxy: null' }, async (world) => {
      assert.equal((await world.get(PLANNER)).body, CARD);
      assert.deepEqual(proxy.asked, [`planner.agents.example.test:${port}`]);
      assert.equal((await world.card()).status, 200);
      assert.equal(proxy.asked.length, 1, 'an agent with proxy: null is reached directly');
      const [line, ...others] = world.logged(
        'an egress proxy resolves names; the allowlist holds, addresses are its own affair',
      );
      assert.deepEqual(line?.['proxies'], [`${proxy.url}/: agents.planner`]);
      assert.equal(others.length, 0);
    });
  });

  test('that refuses is named, and a redirect to an address that is forbidden is not even asked of it', async (t) => {
    const proxy = await startProxy(0, 'HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n');
    t.after(() => proxy.close());
    const config = `  planner: { origin: "https://planner.agents.example.test" }
  inside: { origin: "https://10.0.0.5" }
cache: { ${NEVER} }
egress: { proxy: "${proxy.url}" }`;
    await inWorld({ config }, async (world) => {
      const refused = await world.get(PLANNER);
      assert.deepEqual([refused.status, refused.code], [502, 'origin-unreachable']);
      assert.match(refused.body, /proxy answered CONNECT with 403/);
      const inside = await world.get(CARD_PATH.replace('weather', 'inside'));
      assert.equal(inside.code, 'address-forbidden');
      assert.deepEqual(proxy.asked, ['planner.agents.example.test:443']);
    });
  });
});

describe('name servers of our own', () => {
  test('are asked instead of the system, and their answers vetted', async (t) => {
    const port = await freePort();
    const dns = await startNameServer((name) => [
      { ttl: 0, a: name.startsWith('planner') ? '127.0.0.1' : '127.0.0.2' },
    ]);
    t.after(() => dns.close());
    const reach = 'interfaces: any, unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32]';
    const config = `  planner: { origin: "http://planner.example.test:${port}", ${reach} }
  other: { origin: "http://other.example.test:${port}", ${reach} }
cache: { ${NEVER} }
egress: { dns: ["${dns.server}"] }`;
    await inWorld({ port, config }, async (world) => {
      assert.equal((await world.get(PLANNER)).status, 200);
      const other: Got = await world.get(CARD_PATH.replace('weather', 'other'));
      assert.deepEqual([other.status, other.code], [502, 'address-forbidden']);
      assert.deepEqual(
        new Set(dns.asked.map((line) => line.split(' ').at(-1))),
        new Set(['planner.example.test', 'other.example.test']),
      );
      assert.match((await world.metric(/^cardea_egress_denied_total{reason="address-forbidden"}/)) ?? '', / [1-9]/);
    });
  });
});

describe("Cardea's own listeners", () => {
  test('are never dialled: by literal, by mapped literal, by a name, or as 0.0.0.0', async (t) => {
    const port = await freePort();
    const dns = await startNameServer(() => [{ ttl: 60, a: '127.0.0.1' }]);
    t.after(() => dns.close());
    const reach = 'unsafeCleartext: true, unsafeAddresses: [127.0.0.0/8, 0.0.0.0/8, "::1", "::ffff:127.0.0.0/104"]';
    const hosts = { literal: '127.0.0.1', mapped: '[::ffff:7f00:1]', named: 'me.example.test', zero: '0.0.0.0' };
    const agents = Object.entries(hosts).map(
      ([name, host]) => `  ${name}: { origin: "http://${host}:${port}", ${reach} }`,
    );
    const config = `${agents.join('\n')}\ncache: { ${NEVER} }\negress: { dns: ["${dns.server}"] }`;
    await inWorld({ config, agent: `listen: 127.0.0.1:${port}` }, async (world) => {
      for (const name of Object.keys(hosts)) {
        const got = await world.get(CARD_PATH.replace('weather', name));
        assert.deepEqual([got.status, got.code], [502, 'address-forbidden'], name);
        assert.match(got.body, /a listener of Cardea itself/);
      }
      assert.equal(world.origin.asked.length, 0);
      assert.equal(world.logged('request').length, Object.keys(hosts).length, 'no listener saw a request but ours');
    });
  });
});
