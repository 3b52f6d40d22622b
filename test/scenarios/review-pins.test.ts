import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, test } from 'node:test';
import { digestCard } from '../../src/card/digest.ts';
import { problemsOf } from '../support/config.ts';
import { BASE, Reviewing, SENDS, seen } from './review-world.ts';

const PLAIN = 'Tells the weather of a place.';
const [FIRST, SECOND] = [digestCard(BASE), digestCard(SENDS)];

/** A mounted ConfigMap: `approved.yaml` leads through `..data` to the version in use, which a swap exchanges at once. */
class Mounted {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'cardea-pins-'));
  #version = 0;

  constructor(text: string) {
    this.swap(text);
    symlinkSync('..data/approved.yaml', path.join(this.folder, 'approved.yaml'));
  }

  get file(): string {
    return path.join(this.folder, 'approved.yaml');
  }

  swap(text: string): void {
    this.#version += 1;
    const version = `..version-${this.#version}`;
    mkdirSync(path.join(this.folder, version));
    writeFileSync(path.join(this.folder, version, 'approved.yaml'), text);
    symlinkSync(version, path.join(this.folder, '..data_tmp'));
    renameSync(path.join(this.folder, '..data_tmp'), path.join(this.folder, '..data'));
  }
}

const ends: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function start(pins: string, firstUse: string, state = 'memory'): Promise<{ at: Reviewing; mounted: Mounted }> {
  const mounted = new Mounted(pins);
  const review = `{ firstUse: ${firstUse}, pins: "file:${mounted.file}" }`;
  const file = path.join(mounted.folder, 'cardea.yaml');
  const at = await Reviewing.start(BASE, { review, file, state });
  ends.push(
    () => at.world.stop(),
    () => rmSync(mounted.folder, { recursive: true, force: true }),
  );
  return { at, mounted };
}

/** Another version of the ConfigMap is mounted, and the daemon has seen it. */
async function swap({ at, mounted }: { at: Reviewing; mounted: Mounted }, text: string): Promise<void> {
  mounted.swap(text);
  const reloaded = await at.world.daemon.reload('SIGHUP');
  assert.ok(reloaded.ok, reloaded.ok ? '' : reloaded.refusal.detail);
  await at.world.quiet();
}

describe('pins', () => {
  test('approve a first card, and one that waits, by a swap alone', async () => {
    const world = await start('', 'pinned');
    const { at } = world;
    assert.equal(seen(await at.world.card()), 'first-use-held');
    await swap(world, `weather: [${FIRST}]`);
    assert.equal(seen(await at.world.card()), `approved ${PLAIN}`);
    assert.equal(seen(await at.offers(SENDS)), `held ${PLAIN}`);
    await swap(world, `weather: ["${FIRST}", "${SECOND}"]\nplanner: []\n`);
    assert.match(seen(await at.world.card()), /^approved .*sends it/);
    assert.deepEqual(
      (await at.detail()).review.inForce.map(({ by }) => by),
      ['pin'],
    );
    assert.deepEqual(await at.pending(), []);
  });
  test('taken away take their approval with them: what was in force before is again', async () => {
    const world = await start(`weather: [${FIRST}, ${SECOND}]`, 'pinned');
    const { at } = world;
    assert.equal(seen(await at.world.card()), `approved ${PLAIN}`);
    assert.match(seen(await at.offers(SENDS)), /^approved .*sends it/);
    await swap(world, `weather: [${FIRST}]`);
    assert.equal(seen(await at.world.card()), `held ${PLAIN}`);
    await swap(world, '');
    assert.equal(seen(await at.world.card()), 'first-use-held');
  });
  test('of other agents approve nothing here', async () => {
    const { at } = await start(`planner: [${FIRST}]`, 'hold');
    assert.equal(seen(await at.world.card()), 'first-use-held');
  });
  test('a broken file changes nothing', async () => {
    const world = await start(`weather: [${FIRST}]`, 'pinned');
    world.mounted.swap('weather: [sha256:nonsense]');
    assert.equal((await world.at.world.daemon.reload('SIGHUP')).ok, false);
    assert.equal(seen(await world.at.world.card()), `approved ${PLAIN}`);
  });
});

describe('a file of pins', () => {
  const problems = (pins: string) =>
    problemsOf('agents: { a: { origin: "https://a.example", review: { pins: "file:p.yaml" } } }', {
      files: { '/etc/app/p.yaml': pins },
    });
  const cases: readonly (readonly [string, string, RegExp | null])[] = [
    ['is well', `a: [${FIRST}]`, null],
    ['may be empty', '', null],
    ['may name an agent without digests', 'a:', null],
    ['holds no list', '- a', /p\.yaml:1:1 holds AGENT: \[sha256:…\]/],
    ['has a list per agent', `a: ${FIRST}`, /p\.yaml:1:4 "a" has a list of digests/],
    ['has whole digests', 'a: [sha256:ab]', /p\.yaml:1:5 is no digest/],
    ['has lower-case digests', `a: [${FIRST.toUpperCase()}]`, /is no digest/],
    ['is well-formed', 'a: [', /p\.yaml:\d+:\d+ is not well-formed/],
  ];
  for (const [what, text, expected] of cases) {
    test(what, async () => {
      const found = await problems(text);
      if (expected === null) assert.deepEqual(found, []);
      else assert.match(found.join('\n'), expected);
    });
  }
  test('that is not there is a problem', async () => {
    const text = 'agents: { a: { origin: "https://a.example", review: { pins: "file:/none.yaml" } } }';
    assert.match((await problemsOf(text)).join(), /review\.pins: \/none\.yaml cannot be read/);
  });
  test('is named by file:', async () => {
    const text = 'agents: { a: { origin: "https://a.example", review: { pins: ./p.yaml } } }';
    assert.match((await problemsOf(text)).join(), /write file:\.\/p\.yaml/);
  });
});
