import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { tag } from '../../src/kernel/ids.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { startOrigin } from '../support/origin-server.ts';
import { scenario } from '../support/scenario.ts';
import {
  answers,
  ask,
  breaks,
  CARD,
  CARD_PATH,
  type Got,
  OTHER_CARD,
  World,
  type WorldOptions,
} from '../support/world.ts';

const MINUTE = { origin: answers(CARD, { 'Cache-Control': 'max-age=60' }) };

/** Writes a configuration and reloads it, which must work. */
async function adopt(world: World, change: (written: string) => string): Promise<void> {
  world.writes(change(world.written));
  const reloaded = await world.daemon.reload('SIGHUP');
  assert.ok(reloaded.ok, reloaded.ok ? '' : reloaded.refusal.detail);
}

/** The same, where it must be refused; resolves to why. */
async function refusedBy(world: World, change: (written: string) => string): Promise<string> {
  world.writes(change(world.written));
  const reloaded = await world.daemon.reload('SIGHUP');
  assert.equal(reloaded.ok ? '' : reloaded.refusal.code, 'conflict');
  return reloaded.ok ? '' : reloaded.refusal.detail;
}

const without = (name: string) => (text: string) => text.replace(new RegExp(`^  ${name}:.*\n`, 'm'), '');
const hit = (got: Got): boolean => /hit/.test(String(got.headers['cache-status']));

/** An origin beside the world's own. */
async function another<T>(body: string, run: (url: string, asked: readonly string[]) => Promise<T>): Promise<T> {
  const at = new Date(new FakeClock().now()).toUTCString(); // it lives in the world's time
  const origin = await startOrigin(answers(body, { 'Cache-Control': 'max-age=60', Date: at }));
  try {
    return await run(origin.url, origin.asked);
  } finally {
    await origin.close();
  }
}

const agentAt = (url: string): string => `{ origin: "${url}", unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32] }`;

describe('a broken file', () => {
  scenario(
    'changes nothing, and says what is wrong and where: in the answer, the log and metrics',
    MINUTE,
    async (world) => {
      await world.card();
      const digest = await world.metric(/^cardea_config_info/);
      const why = await refusedBy(world, (text) => `${text}cashe: {}\nlimits: { redirects: many }\n`);
      assert.match(why, /c\.yaml:\d+:1 cashe: .*cache/);
      assert.match(why, /c\.yaml:\d+:\d+ limits\.redirects: /);
      const [line] = world.logged('the configuration was not adopted: the old one stays in force');
      assert.equal(line?.['level'], 'error');
      assert.ok(Array.isArray(line?.['problems']) && line['problems'].length === 2);
      assert.match((await world.metric(/^cardea_config_last_reload_successful/)) ?? '', / 0$/);
      assert.equal(await world.metric(/^cardea_config_info/), digest);
      assert.ok(hit(await world.card()));
    },
  );

  scenario('is forgiven when it is mended', MINUTE, async (world) => {
    const good = world.written;
    await refusedBy(world, () => 'agents: [');
    const before = await world.metric(/^cardea_config_last_reload_success_timestamp_seconds/);
    await world.clock.advance(5_000);
    await adopt(world, () => good);
    assert.match((await world.metric(/^cardea_config_last_reload_successful/)) ?? '', / 1$/);
    assert.notEqual(await world.metric(/^cardea_config_last_reload_success_timestamp_seconds/), before);
  });
});

describe('an agent', () => {
  scenario('that did not change is served on: nothing is asked, judged or counted again', MINUTE, async (world) => {
    await world.card();
    await adopt(world, (text) => `${text}limits: { redirects: 2 }\n`);
    assert.ok(hit(await world.card()));
    assert.equal(world.origin.asked.length, 1);
    assert.equal(world.logged('verdict').length, 0);
  });

  scenario(
    'whose card may point at more since another came is judged again, and its origin is not asked',
    { ...MINUTE, config: 'cache: { prefetch: true }', prefetch: true },
    async (world) => {
      await adopt(world, (text) => text.replace(/^agents:/m, 'agents:\n  other: { origin: "https://127.0.0.1:9" }'));
      assert.ok(hit(await world.card()));
      assert.equal(world.logged('verdict').length, 1);
      assert.equal(world.origin.asked.length, 1);
      await world.pass(60);
      assert.ok(world.origin.asked.length > 1);
    },
  );

  scenario(
    'that is taken out is gone at once: card, list, metrics, schedule',
    { ...MINUTE, config: 'cache: { prefetch: true }', prefetch: true },
    async (world) => {
      assert.ok(hit(await world.card()));
      await adopt(world, without('weather'));
      assert.equal((await world.card()).code, 'unknown-agent');
      assert.doesNotMatch((await world.get('/agents')).body, /weather/);
      assert.equal(await world.metric(/agent="weather"/), undefined);
      assert.match((await world.metric(/^cardea_cache_entries\{kind="public"\}/)) ?? '', / 0$/);
      await world.pass(600);
      assert.equal(world.origin.asked.length, 1);
    },
  );

  scenario('that comes back is fetched anew', MINUTE, async (world) => {
    await world.card();
    const before = world.written;
    await adopt(world, without('weather'));
    await adopt(world, () => before);
    assert.equal((await world.card()).status, 200);
    assert.equal(world.origin.asked.length, 2);
  });

  scenario('that is new is fetched', { ...MINUTE, config: 'cache: { prefetch: true }' }, async (world) => {
    await another(OTHER_CARD, async (url) => {
      await adopt(world, (text) => text.replace(/^agents:/m, `agents:\n  other: ${agentAt(url)}`));
      await world.quiet();
      const got = await world.get('/agents/other/.well-known/agent-card.json');
      assert.deepEqual([got.body, hit(got)], [OTHER_CARD, true], String(got.headers['cache-status']));
    });
  });

  scenario("whose origin changed never serves the old origin's card", MINUTE, async (world) => {
    await world.card();
    await another(OTHER_CARD, async (url) => {
      await adopt(world, (text) => text.replaceAll(world.origin.url, url));
      assert.equal((await world.card()).body, OTHER_CARD);
    });
  });

  scenario('nor where the new origin is down', MINUTE, async (world) => {
    await world.card();
    const free = await another(OTHER_CARD, async (url) => url);
    await adopt(world, (text) => text.replaceAll(world.origin.url, free));
    const got = await world.card();
    assert.equal(got.code, 'origin-unreachable');
    await adopt(world, (text) => text.replaceAll(free, world.origin.url));
    assert.equal((await world.card()).status, 200);
    assert.equal(world.origin.asked.length, 2); // its card of before is not there any more either
  });

  scenario('may be served stale no longer than it says now', MINUTE, async (world) => {
    await world.card();
    world.says(breaks);
    await world.clock.advance(120_000);
    assert.equal((await world.card()).status, 200);
    await adopt(world, (text) => text.replace('weather: {', 'weather: { maxStale: 0s,'));
    assert.equal((await world.card()).code, 'origin-unreachable');
  });

  scenario('that failed is tried again, without its negative time', MINUTE, async (world) => {
    world.says(breaks);
    assert.equal((await world.card()).status, 502);
    world.says(MINUTE.origin);
    assert.equal((await world.card()).status, 502);
    await adopt(world, (text) => text);
    assert.equal((await world.card()).status, 200);
  });
});

describe('a card that is stored is judged again before it is served', () => {
  scenario('and refused by rules that it does not meet', MINUTE, async (world) => {
    await world.card();
    await adopt(world, (text) => text.replace('weather: {', 'weather: { versions: ["0.3"],'));
    assert.equal((await world.card()).code, 'unsupported-version');
  });

  scenario('and served by others that it meets, though its origin is down', MINUTE, async (world) => {
    await world.card();
    world.says(breaks);
    await adopt(world, (text) => text.replace('weather: {', 'weather: { schema: strict,'));
    const got = await world.card();
    assert.equal(got.body, CARD);
    assert.ok(hit(got));
    assert.equal(world.logged('verdict').length, 1);
  });
});

describe('what is on its way', () => {
  /** An origin that answers when it is told to. */
  function slow() {
    const waiting: (() => void)[] = [];
    const origin: NonNullable<WorldOptions['origin']> = (request, response) =>
      void waiting.push(() => answers(CARD, { 'Cache-Control': 'max-age=60' })(request, response));
    return { origin, answer: () => waiting.shift()?.() };
  }

  const gone = slow();
  scenario('for an agent that is taken out is answered that there is none', gone, async (world) => {
    const waiting = [world.card(), world.card()];
    await world.asked(1);
    await adopt(world, without('weather'));
    gone.answer();
    for (const got of await Promise.all(waiting)) assert.equal(got.code, 'unknown-agent');
    assert.match((await world.metric(/^cardea_cache_entries\{kind="public"\}/)) ?? '', / 0$/);
    assert.equal(world.logged('exchange')[0]?.['outcome'], 'superseded');
  });

  const moved = slow();
  scenario('to an origin that is not the one any more is asked of the new one', moved, async (world) => {
    const waiting = [world.card(), world.card()];
    await world.asked(1);
    await another(OTHER_CARD, async (url, asked) => {
      await adopt(world, (text) => text.replaceAll(world.origin.url, url));
      moved.answer();
      for (const got of await Promise.all(waiting)) assert.equal(got.body, OTHER_CARD);
      assert.equal(asked.length, 1); // they wait for one
    });
  });

  const stricter = slow();
  scenario('under rules that became stricter is fetched and judged by those', stricter, async (world) => {
    const waiting = world.card();
    await world.asked(1);
    await adopt(world, (text) => text.replace('weather: {', 'weather: { versions: ["0.3"],'));
    await world.asked(2);
    stricter.answer();
    stricter.answer();
    assert.equal((await waiting).code, 'unsupported-version');
  });

  const same = slow();
  scenario('for an agent that did not change just goes on', same, async (world) => {
    const waiting = world.card();
    await world.asked(1);
    await adopt(world, (text) => `${text}limits: { redirects: 2 }\n`);
    same.answer();
    assert.equal((await waiting).status, 200);
    assert.equal(world.origin.asked.length, 1);
  });
});

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('a listener', () => {
  scenario(
    'that is added opens, that is moved or taken out closes, and the others stay open',
    MINUTE,
    async (world) => {
      const { agents, ops } = world.daemon.started;
      const [one, two] = [await freePort(), await freePort()];
      const own = '/.well-known/agent-card.json';
      const at = (port: number) => (text: string) =>
        text.replace(/weather: \{(?: listen: [^,]*,)?/, `weather: { listen: "127.0.0.1:${port}",`);
      await adopt(world, at(one));
      assert.deepEqual(world.daemon.started.listeners, { weather: `127.0.0.1:${one}` });
      assert.equal((await ask(`http://127.0.0.1:${one}${own}`, {})).status, 200);
      await adopt(world, at(two));
      assert.equal((await ask(`http://127.0.0.1:${two}${own}`, {})).status, 200);
      await assert.rejects(ask(`http://127.0.0.1:${one}${own}`, {}), { code: 'ECONNREFUSED' });
      await adopt(world, (text) => text.replace(/listen: "127\.0\.0\.1:\d+",/, ''));
      assert.deepEqual(world.daemon.started.listeners, {});
      await assert.rejects(ask(`http://127.0.0.1:${two}${own}`, {}), { code: 'ECONNREFUSED' });
      assert.deepEqual([world.daemon.started.agents, world.daemon.started.ops], [agents, ops]);
    },
  );

  scenario(
    'that cannot be opened keeps the whole old configuration, and what was opened with it is closed',
    MINUTE,
    async (world) => {
      const [free, taken] = [await freePort(), net.createServer().listen(0, '127.0.0.1')];
      await new Promise((resolve) => taken.once('listening', resolve));
      const { port } = taken.address() as net.AddressInfo;
      const before = world.daemon.started;
      const why = await refusedBy(world, (text) =>
        text
          .replace('weather: {', `weather: { listen: "127.0.0.1:${free}", versions: ["0.3"],`)
          .replace(/^agents:/m, `agents:\n  other: { origin: "https://other.example", listen: "127.0.0.1:${port}" }`),
      );
      taken.close();
      assert.match(why, /listener (other|weather): cannot open 127\.0\.0\.1:\d+: the port is taken/);
      assert.deepEqual(world.daemon.started, before);
      await assert.rejects(ask(`http://127.0.0.1:${free}/`, {}), { code: 'ECONNREFUSED' });
      assert.equal((await world.card()).status, 200);
    },
  );

  test('that is moved is found by daemon.json, where there is a state folder', async () => {
    const state = fs.mkdtempSync(path.join(os.tmpdir(), 'cardea-reload-'));
    const world = await World.start({ ...MINUTE, state });
    const found = (): unknown => JSON.parse(fs.readFileSync(path.join(state, 'daemon.json'), 'utf8'));
    try {
      assert.deepEqual(found(), world.daemon.started);
      const port = await freePort();
      await adopt(world, (text) => text.replace(/admin: "[^"]*"/, `admin: "127.0.0.1:${port}"`));
      assert.deepEqual(world.daemon.started.admin, [`127.0.0.1:${port}`]);
      assert.deepEqual(found(), world.daemon.started);
      const headers = { Authorization: `Bearer ${fs.readFileSync(path.join(state, 'admin-token'), 'utf8').trim()}` };
      assert.equal((await ask(`http://127.0.0.1:${port}/config`, { headers })).status, 200);
    } finally {
      await world.stop();
    }
    assert.equal(fs.existsSync(path.join(state, 'daemon.json')), false);
    fs.rmSync(state, { recursive: true });
  });

  scenario('goes from one address to all of them and back on one port', MINUTE, async (world) => {
    const port = await freePort();
    for (const host of ['127.0.0.1', '0.0.0.0', '127.0.0.1']) {
      await adopt(world, (text) => text.replace(/ops: "[^"]*"/, `ops: "${host}:${port}"`));
      assert.deepEqual(world.daemon.started.ops, [`${host}:${port}`]);
      assert.equal((await ask(`http://127.0.0.1:${port}/livez`, {})).status, 200);
    }
  });

  scenario('opens again where its successor on the same port could not', MINUTE, async (world) => {
    const port = await freePort();
    await adopt(world, (text) => text.replace(/ops: "[^"]*"/, `ops: "127.0.0.1:${port}"`));
    await refusedBy(world, (text) => text.replace(/ops: "[^"]*"/, `ops: "192.0.2.1:${port}"`));
    assert.equal((await ask(`http://127.0.0.1:${port}/livez`, {})).status, 200);
  });

  scenario('answers for the names that are written now', MINUTE, async (world) => {
    const named = { Host: 'cardea.internal' };
    assert.equal((await world.card(named)).code, 'misdirected');
    await adopt(world, (text) => text.replace('listen: {', 'listen: { names: [cardea.internal],'));
    assert.equal((await world.card(named)).status, 200);
  });

  scenario('lets a request that it has accepted finish', { origin: () => undefined }, async (world) => {
    const port = await freePort();
    await adopt(world, (text) => text.replace('weather: {', `weather: { listen: "127.0.0.1:${port}",`));
    const waiting = ask(`http://127.0.0.1:${port}/.well-known/agent-card.json`, {});
    await world.asked(1);
    world.says(MINUTE.origin);
    await adopt(world, (text) => text.replace(/listen: "127\.0\.0\.1:\d+",/, ''));
    assert.equal(
      await ask(`http://127.0.0.1:${port}/`, {}).catch((error: NodeJS.ErrnoException) => error.code),
      'ECONNREFUSED',
    );
    await world.clock.advance(10_000);
    assert.equal((await waiting).code, 'origin-timeout');
  });
});

describe('other settings count from then on', () => {
  scenario('log.level', MINUTE, async (world) => {
    await adopt(world, (text) => `${text}log: { level: error }\n`);
    const lines = world.log.length;
    await world.card();
    assert.equal(world.log.length, lines);
    await adopt(world, (text) => text.replace('level: error', 'level: debug'));
    assert.ok(world.log.length > lines);
  });

  scenario('log.hits', MINUTE, async (world) => {
    await world.card();
    await adopt(world, (text) => `${text}log: { hits: true }\n`);
    const lines = world.logged('request').length;
    await world.card();
    assert.equal(world.logged('request').length, lines + 1);
  });

  test('kill.file: one that is there already stops everything before the new rules serve', async () => {
    const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'cardea-reload-')), 'KILL');
    fs.writeFileSync(file, '');
    const world = await World.start(MINUTE);
    try {
      assert.equal((await world.card()).status, 200);
      await adopt(world, (text) => `${text}kill: { file: ${file} }\n`);
      assert.equal((await world.card()).code, 'killed');
      assert.equal(world.daemon.killSwitch.active()[0]?.by, 'file');
      await adopt(world, (text) => text.replace(/kill: .*\n/, ''));
      const [kill] = world.daemon.killSwitch.active();
      const lifted = await world.daemon.killSwitch.lift({ id: kill?.id ?? '', reason: 'over', by: 'admin' });
      assert.ok(lifted.ok); // the file is nobody's any more
      assert.equal((await world.card()).status, 200);
    } finally {
      await world.stop();
      fs.rmSync(path.dirname(file), { recursive: true });
    }
  });

  scenario('cache.maxBytes', { ...MINUTE, config: 'cache: { prefetch: false, maxBytes: 1MiB }' }, async (world) => {
    await world.card();
    await adopt(world, (text) => text.replace('maxBytes: 1MiB', 'maxBytes: 64KiB'));
    assert.ok(hit(await world.card()));
  });

  scenario('state is named as one that waits for the next start', MINUTE, async (world) => {
    await adopt(world, (text) => text.replace('state: memory', 'state: ./elsewhere'));
    const [line] = world.logged('state: the new value counts from the next start');
    assert.equal(line?.['setting'], 'state');
  });
});

describe('the daemon', () => {
  scenario('stays stopped over a reload', MINUTE, async (world) => {
    await world.card();
    const engaged = await world.daemon.killSwitch.engage({ scope: tag('all'), reason: 'drill', by: 'admin' });
    assert.ok(engaged.ok);
    await adopt(world, (text) => text.replace('weather: {', 'weather: { schema: strict,'));
    assert.equal((await world.card()).code, 'killed');
    await world.quiet();
    assert.equal(world.origin.asked.length, 1);
    await world.daemon.killSwitch.lift({ id: engaged.value.kill.id, reason: 'over', by: 'admin' });
    assert.equal((await world.card()).status, 200);
  });

  test('reloads nothing any more once it drains', async () => {
    const world = await World.start(MINUTE);
    const stopping = world.stop();
    const reloaded = await world.daemon.reload('admin');
    assert.match(reloaded.ok ? '' : reloaded.refusal.detail, /draining/);
    await stopping;
  });

  scenario('reads once for all who ask while it is reading, and after they asked', MINUTE, async (world) => {
    await world.quiet();
    const first = world.daemon.reload('admin');
    world.writes(world.written.replace('weather: {', 'weather: { versions: ["0.3"],'));
    const others = [world.daemon.reload('SIGHUP'), world.daemon.reload('admin'), world.daemon.reload('file')];
    const digests = new Set((await Promise.all(others)).map((each) => each.ok && each.value.digest));
    assert.equal(digests.size, 1);
    assert.equal((await world.card()).code, 'unsupported-version');
    assert.ok((await first).ok);
  });

  scenario('hands its configuration and the address of every listener to whoever asks', MINUTE, async (world) => {
    const headers = { Authorization: `Bearer ${world.daemon.token}` };
    await adopt(world, (text) => `${text}limits: { redirects: 7 }\n`);
    const got = await ask(`http://${world.daemon.started.admin[0]}/config`, { headers });
    assert.match(got.body, /"redirects":7/);
  });
});

scenario('an answer on the hit path is the same before and after', MINUTE, async (world) => {
  const first = await world.card();
  await adopt(world, (text) => `${text}limits: { redirects: 2 }\n`);
  const second = await world.get(CARD_PATH);
  assert.deepEqual([second.body, second.headers['etag']], [first.body, first.headers['etag']]);
});
