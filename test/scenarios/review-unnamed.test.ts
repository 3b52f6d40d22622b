import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import type { PendingView, ReviewView, WaitingView } from '../../src/admin/ports.ts';
import { ADMIN_COMMANDS } from '../../src/cli/admin-commands.ts';
import { runCommand } from '../../src/cli/help.ts';
import { digestCard } from '../../src/card/digest.ts';
import { readFrom } from '../support/config.ts';
import { type NameServer, startNameServer } from '../support/name-server.ts';
import { type Got, World, type WorldOptions, ask } from '../support/world.ts';
import { BASE, SENDS, seen, serves } from './review-world.ts';

const PLAIN = 'Tells the weather of a place.';
const LOOPBACK = 'unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32]';

let dns: NameServer;
before(async () => {
  dns = await startNameServer(() => [{ ttl: 60, a: '127.0.0.1' }]);
});
after(() => dns.close());

const ends: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

interface Ruled extends WorldOptions {
  /** `review` of the rule, as YAML flow. */
  readonly rule?: string;
  readonly match?: string;
}

/** A daemon with a rule for cards that nobody has named, an origin that is every host below `many.example`, and a reviewer. */
class Unnamed {
  readonly world: World;
  readonly #state: string | undefined;

  private constructor(world: World, state: string | undefined) {
    this.world = world;
    this.#state = state;
  }

  static async start(card: object, { rule = '{}', match = 'http://*.many.example', ...options }: Ruled = {}) {
    // The port is part of an origin, and only the origin knows it.
    const config = `cache: { prefetch: false, staleWhileRevalidate: 0s }
egress: { dns: ["${dns.server}"] }
origins: [{ match: "${match}:$PORT", content: card, interfaces: any, review: ${rule}, ${LOOPBACK} }]`;
    const port = options.port ?? (await freePort());
    const world = await World.start({
      origin: serves(card),
      ...options,
      port,
      config: config.replace('$PORT', `${port}`),
    });
    const at = new Unnamed(world, options.state);
    ends.push(() => world.stop());
    return at;
  }

  url(host = 'a', at = '/card.json'): string {
    return `http://${host}.many.example:${this.port}${at}`;
  }

  get port(): number {
    return Number(new URL(this.world.origin.url).port);
  }

  get(host = 'a', at = '/card.json', headers = {}): Promise<Got> {
    return this.world.get(`/origins/http/${host}.many.example:${this.port}${at}`, headers);
  }

  async later(host = 'a'): Promise<Got> {
    await this.world.clock.advance(61_000);
    return this.get(host);
  }

  async offers(card: object): Promise<Got> {
    this.world.says(serves(card));
    return this.later();
  }

  admin(order: string, body?: object): Promise<Got> {
    const [method = 'GET', target = ''] = order.split(' ');
    const headers = { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' };
    const { admin } = this.world.daemon.started;
    return ask(`http://${admin[0]}${target}`, { method, headers }, body && JSON.stringify(body));
  }

  get token(): string {
    return this.world.daemon.token ?? readFileSync(path.join(this.#state ?? '', 'admin-token'), 'utf8').trim();
  }

  async waiting(): Promise<readonly WaitingView[]> {
    return (JSON.parse((await this.admin('GET /changes')).body) as { pending: WaitingView[] }).pending;
  }

  async pending(url = this.url()): Promise<readonly PendingView[]> {
    const got = await this.admin(`GET /agents/${encodeURIComponent(url)}/change`);
    return (JSON.parse(got.body) as { pending: PendingView[] }).pending;
  }

  async review(url = this.url()): Promise<ReviewView> {
    return (JSON.parse((await this.admin(`GET /agents/${encodeURIComponent(url)}`)).body) as { review: ReviewView })
      .review;
  }

  async decide(action: 'approve' | 'reject', digest?: string, url = this.url()): Promise<Got> {
    const named = digest ?? (await this.pending(url))[0]?.digest;
    const got = await this.admin(`POST /agents/${encodeURIComponent(url)}/${action}`, {
      digest: named,
      reason: 'seen',
    });
    await this.world.quiet();
    return got;
  }
}

/** A port that is free now: a rule names it before the origin is there. */
async function freePort(): Promise<number> {
  const { createServer } = await import('node:net');
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

const byText = (one: string, other: string): number => (one < other ? -1 : 1);

const folder = (): string => {
  const made = mkdtempSync(path.join(tmpdir(), 'cardea-unnamed-'));
  ends.push(() => rmSync(made, { recursive: true, force: true }));
  return made;
};

describe('a card under a wildcard', () => {
  test('waits at first, is approved by its URL, and changes like an agent’s', async () => {
    const at = await Unnamed.start(BASE);
    const first = await at.get();
    assert.deepEqual([first.status, first.code], [503, 'first-use-held']);
    assert.match(first.body, new RegExp(`cardea review http://a\\.many\\.example:${at.port}/card\\.json`));
    const [waits, ...others] = await at.waiting();
    assert.deepEqual(
      [waits?.agent, waits?.why, waits?.digest, others.length],
      [at.url(), 'first-use', digestCard(BASE), 0],
    );
    assert.equal((await at.decide('approve')).status, 200);
    assert.equal(seen(await at.get()), `approved ${PLAIN}`);
    assert.equal(seen(await at.later()), `approved ${PLAIN}`);
    assert.equal(seen(await at.offers(SENDS)), `held ${PLAIN}`);
    assert.deepEqual((await at.waiting())[0]?.classes, ['skill-text']);
    await at.decide('approve');
    assert.match(seen(await at.get()), /^approved .*sends it/);
    assert.deepEqual(await at.waiting(), []);
  });
  test('one approval is for one URL', async () => {
    const at = await Unnamed.start(BASE);
    await at.get();
    await at.decide('approve');
    assert.equal((await at.get('b')).code, 'first-use-held');
    assert.equal((await at.get('a', '/other.json')).code, 'first-use-held');
    assert.equal((await at.get('a', '/card.json?x')).code, 'first-use-held');
    assert.equal(seen(await at.get()), `approved ${PLAIN}`);
  });
  test('rejected: nothing of it is served', async () => {
    const at = await Unnamed.start(BASE);
    await at.get();
    await at.decide('reject');
    assert.equal((await at.later()).code, 'first-use-held');
    assert.deepEqual(await at.waiting(), []);
  });
  test('firstUse: allow takes the first, and holds the next', async () => {
    const at = await Unnamed.start(BASE, { rule: '{ firstUse: allow, maxHold: 100s }' });
    assert.equal(seen(await at.get()), `first-use ${PLAIN}`);
    assert.equal(seen(await at.offers(SENDS)), `held ${PLAIN}`);
    await at.world.clock.advance(101_000);
    assert.equal((await at.get()).code, 'change-held');
  });
  test('the rule says per class what becomes of a change', async () => {
    const at = await Unnamed.start(BASE, { rule: '{ firstUse: allow, skillText: block }' });
    await at.get();
    assert.equal(seen(await at.offers(SENDS)), `held ${PLAIN}`);
    assert.equal((await at.waiting())[0]?.why, 'blocked');
    assert.equal((await at.decide('approve')).code, 'conflict');
  });
  test('is counted under other, and explained', async () => {
    const at = await Unnamed.start(BASE, { rule: '{ firstUse: allow }' });
    await at.get();
    await at.offers(SENDS);
    const line = /^cardea_card_pending_changes\{agent="other",class="skill-text"\}/;
    assert.match(String(await at.world.metric(line)), / 1$/);
    assert.equal(await at.world.metric(/many\.example/), undefined);
    const { body } = await at.admin(`GET /explain?target=${encodeURIComponent(at.url())}`);
    assert.match(body, /Not taken: sha256:\w+, it waits for review \(skill-text\)/);
  });
  test('is named by its URL, as it is used, where its change is told', async () => {
    const at = await Unnamed.start(BASE);
    await at.get();
    const { body } = await at.admin(`GET /agents/${encodeURIComponent(at.url())}/change`);
    assert.equal((JSON.parse(body) as { agent: string }).agent, at.url());
  });
  test('another spelling of its URL is told the right one', async () => {
    const at = await Unnamed.start(BASE);
    await at.get();
    for (const spelled of [at.url().replace('http:', 'HTTP:'), at.url('A'), at.url('a', '/./card.json')]) {
      const got = await at.admin(`POST /agents/${encodeURIComponent(spelled)}/approve`, {
        digest: digestCard(BASE),
        reason: 'seen',
      });
      assert.equal(got.status, 404, spelled);
    }
    const got = await at.admin(`GET /agents/${encodeURIComponent(at.url('A'))}/change`);
    assert.match(got.body, /write http:\/\/a\.many\.example:\d+\/card\.json/);
    assert.equal((await at.get()).code, 'first-use-held');
  });
});

describe('through a restart', () => {
  test('approvals, rejections and what waits stay', async () => {
    const state = folder();
    let at = await Unnamed.start(BASE, { state });
    const { port } = at;
    await at.get();
    await at.decide('approve');
    await at.offers(SENDS);
    await at.get('b');
    await ends.pop()?.();
    at = await Unnamed.start(SENDS, { state, port });
    assert.deepEqual((await at.waiting()).map(({ agent, why }) => `${agent} ${why}`).toSorted(byText), [
      `${at.url('a')} held`,
      `${at.url('b')} first-use`,
    ]);
    assert.equal(seen(await at.get()), `held ${PLAIN}`, 'the approved one is served, from the ledger');
    await at.decide('reject');
    assert.equal(seen(await at.later()), `approved ${PLAIN}`);
    assert.equal((await at.review()).decisions.length, 2);
  });
});

describe('pins', () => {
  const pinned = async (text: string) => {
    const dir = folder();
    const pins = path.join(dir, 'approved.yaml');
    writeFileSync(pins, text);
    const port = await freePort();
    const file = path.join(dir, 'cardea.yaml');
    return { pins, port, options: { rule: `{ firstUse: pinned, pins: "file:${pins}" }`, file, port } };
  };
  test('approve by URL, in a file that is read again', async () => {
    const { pins, port, options } = await pinned('');
    const at = await Unnamed.start(BASE, options);
    assert.equal((await at.get()).code, 'first-use-held');
    assert.equal((await at.decide('approve')).code, 'conflict', 'the pins alone approve');
    writeFileSync(pins, `"http://a.many.example:${port}/card.json": [${digestCard(BASE)}]\n`);
    assert.ok((await at.world.daemon.reload('SIGHUP')).ok);
    await at.world.quiet();
    assert.deepEqual(await at.waiting(), []);
    assert.equal(seen(await at.get()), `approved ${PLAIN}`);
    assert.equal((await at.get('b')).code, 'first-use-held');
    writeFileSync(pins, '');
    assert.ok((await at.world.daemon.reload('SIGHUP')).ok);
    assert.equal((await at.get()).code, 'first-use-held', 'a pin that goes takes its approval with it');
  });
  test('of a URL that is spelled otherwise are a problem', async () => {
    const { pins, port, options } = await pinned('');
    const at = await Unnamed.start(BASE, options);
    writeFileSync(pins, `"http://A.many.example:${port}/card.json": [${digestCard(BASE)}]\n`);
    const reloaded = await at.world.daemon.reload('SIGHUP');
    assert.ok(!reloaded.ok && /write http:\/\/a\.many\.example/.test(reloaded.refusal.detail));
  });
});

describe('in the terminal', () => {
  test('what waits is listed with agents, reviewed, approved and rejected by its URL', async () => {
    const at = await Unnamed.start(BASE);
    await at.get();
    await at.get('b');
    const run = (...argv: string[]) => command(at, argv);
    assert.match((await run('review')).out, new RegExp(`^AGENT .*\\n${at.url('a')} +any +first-use `));
    const shown = await run('review', at.url());
    assert.match(shown.out, new RegExp(`cardea approve ${at.url()} ${digestCard(BASE)} --reason`));
    assert.match((await run('approve', at.url(), digestCard(BASE), '--print')).out, /^"http:\S+": \["sha256:\w+"\]\n$/);
    assert.equal((await run('approve', at.url(), digestCard(BASE), '--reason', 'read')).code, 0);
    assert.equal((await run('reject', at.url('b'), digestCard(BASE), '--reason', 'no')).code, 0);
    assert.equal((await run('review')).out, 'nothing waits\n');
    assert.match((await run('explain', at.url())).out, /In force: sha256:\w+, approved by a person/);
  });
});

async function command(at: Unnamed, argv: readonly string[]) {
  let [out, err] = ['', ''];
  const admin = String(at.world.daemon.started.admin[0]);
  const files = new Map([['/srv/token', new TextEncoder().encode(at.token)]]);
  const code = await runCommand(ADMIN_COMMANDS, {
    argv: [...argv, '--admin', admin, '--token-file', 'token'],
    env: { COLUMNS: '240' },
    cwd: '/srv',
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
    readFile: readFrom(files),
  });
  await at.world.quiet();
  return { code, out, err };
}
