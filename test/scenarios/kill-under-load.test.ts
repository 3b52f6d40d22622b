import assert from 'node:assert/strict';
import fs from 'node:fs';
import http2 from 'node:http2';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { tag } from '../../src/kernel/ids.ts';
import { CARD, CARD_PATH, type Got, World, type WorldOptions, answers } from '../support/world.ts';

/** A card of some 3 MB: with twenty readers more than all buffers on the way hold. */
const skill = { name: 'S', description: 'x'.repeat(60_000), tags: ['t'] };
const HUGE = JSON.stringify({
  ...JSON.parse(CARD),
  skills: Array.from({ length: 50 }, (_, index) => ({ id: `s${index}`, ...skill })),
});

/** An HTTP/2 stream whose client reads when it is told to. */
interface Reader {
  readonly stream: http2.ClientHttp2Stream;
  /** Reads what there is, to the end; resolves to how much came and whether it was all. */
  drain(): Promise<{ readonly bytes: number; readonly whole: boolean }>;
}

function read(session: http2.ClientHttp2Session, target: string): Promise<Reader> {
  const stream = session.request({ ':path': target });
  // A stream that is cut off may be over before anybody reads it.
  const over = new Promise((resolve) => stream.on('error', () => undefined).once('close', resolve));
  const drain = async () => {
    let bytes = 0;
    stream.on('data', (chunk: Buffer) => (bytes += chunk.length));
    await over;
    return { bytes, whole: bytes === HUGE.length };
  };
  return new Promise((resolve, reject) => {
    stream.once('response', () => resolve({ stream, drain })).once('error', reject);
  });
}

/** Answers the first card at once, and everything after it when it is let. */
function origin() {
  const waiting: (() => void)[] = [];
  let served = false;
  const behave: NonNullable<WorldOptions['origin']> = (request, response) => {
    const slow = request.url === '/slow';
    const answer = answers(slow ? CARD : HUGE, { 'Cache-Control': 'max-age=60' });
    if (slow || served) waiting.push(() => answer(request, response));
    else answer(request, response);
    served ||= !slow;
  };
  return { behave, waiting };
}

const SLOW = CARD_PATH.replace('weather', 'slow');
const optionsOf = (state: string, behave: NonNullable<WorldOptions['origin']>, port?: number): WorldOptions => ({
  origin: behave,
  state,
  ...(port === undefined ? {} : { port }),
  config: `  slow: { card: "$ORIGIN/slow", unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32] }
cache: { prefetch: true, prefetchTimeout: 0s }
limits: { cardBytes: 16MiB }`,
});

async function inWorld(options: WorldOptions, run: (world: World) => Promise<void>): Promise<void> {
  const world = await World.start(options);
  try {
    await run(world);
  } finally {
    await world.stop();
  }
}

const killedOn = async (world: World): Promise<void> => {
  for (const target of [CARD_PATH, SLOW, '/agents', '/.well-known/ai-catalog.json'])
    assert.equal((await world.get(target)).code, 'killed', target);
};

test('a kill under load: streams are cut, waiters told, nothing fetched or stored after it, and no restart lifts it', async () => {
  const state = fs.mkdtempSync(path.join(os.tmpdir(), 'cardea-load-'));
  const { behave, waiting } = origin();
  let port = 0;
  await inWorld(optionsOf(state, behave), async (world) => {
    port = world.origin.port;
    // The first prefetch has the one card, and waits for the other.
    while ((await world.card({}, 'HEAD')).status !== 200) await world.quiet();
    await world.clock.advance(61_000); // that fetch is given up, and the other card is stale
    assert.equal((await world.card({}, 'HEAD')).status, 200); // which sets off a refresh behind
    const waiters: Promise<Got>[] = Array.from({ length: 10 }, () => world.get(SLOW));
    const sessions = [http2.connect(world.base), http2.connect(world.base)];
    const readers = await Promise.all(
      sessions.flatMap((session) => Array.from({ length: 10 }, () => read(session, CARD_PATH))),
    );
    await world.asked(4); // each card, the refresh, and the slow card once more
    const killing = world.daemon.killSwitch.engage({ scope: tag('all'), reason: 'drill', by: 'admin' });
    await killedOn(world);
    const engaged = await killing;
    assert.ok(engaged.ok && engaged.value.persisted);
    const asked = world.origin.asked.length;
    for (const answer of waiting) answer();
    for (const got of await Promise.all(waiters)) assert.deepEqual([got.status, got.code], [503, 'killed']);
    const drained = await Promise.all(readers.map(({ drain }) => drain()));
    assert.ok(
      drained.every(({ whole }) => !whole),
      `${drained.filter(({ whole }) => whole).length} had it all`,
    );
    for (const session of sessions) session.destroy();
    await world.pass(120);
    await killedOn(world);
    assert.equal(world.origin.asked.length, asked, 'the origin was asked after the acknowledgement');
    assert.match((await world.metric(/^cardea_cache_entries\{kind="public"\}/)) ?? '', / 0$/);
  });
  const lost = (name: string): void => fs.rmSync(path.join(state, name), { force: true });
  const losses: readonly (readonly [string, () => void])[] = [
    ['a restart', () => undefined],
    ['the loss of both databases', () => ['cards.db', 'cards.db-wal', 'ledger.db', 'ledger.db-wal'].forEach(lost)],
    ['databases that are none', () => fs.writeFileSync(path.join(state, 'cards.db'), 'x'.repeat(9_000))],
  ];
  for (const [name, lose] of losses) {
    lose();
    await inWorld(optionsOf(state, behave, port), async (world) => {
      await world.daemon.prefetched;
      await killedOn(world);
      assert.equal(world.origin.asked.length, 0, name);
    });
  }
});

test('the loss of the whole folder but its name stops everything, rather than lifting what was stopped', async () => {
  const state = fs.mkdtempSync(path.join(os.tmpdir(), 'cardea-load-'));
  const { behave } = origin();
  let port = 0;
  await inWorld(optionsOf(state, behave), async (world) => {
    port = world.origin.port;
    const engaged = await world.daemon.killSwitch.engage({ scope: tag('agent:slow'), reason: 'drill', by: 'admin' });
    assert.ok(engaged.ok);
  });
  fs.rmSync(path.join(state, 'kills.json'));
  await inWorld(optionsOf(state, behave, port), async (world) => {
    await killedOn(world);
    assert.equal(world.origin.asked.length, 0);
  });
});
