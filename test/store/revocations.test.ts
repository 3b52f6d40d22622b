import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { tag } from '../../src/kernel/ids.ts';
import { REVOKED_FOR, type Revocation } from '../../src/kernel/revocation.ts';
import { epochMs, later } from '../../src/kernel/units.ts';
import { openRevocations } from '../../src/store/revocations.ts';
import { FakeClock } from '../support/fake-clock.ts';

const hashOf = (at: number): string => `h_${String(at).padStart(32, '0')}`;
const of = (at: number, scope = `principal:${hashOf(1)}`): Revocation => ({ scope: tag(scope), at: epochMs(at) });

async function opened(arrange: (file: string) => void = () => undefined) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cardea-revocations-'));
  const file = path.join(folder, 'revocations.json');
  arrange(file);
  const clock = new FakeClock();
  return { folder, file, clock, ...(await openRevocations(folder, clock)) };
}
const held = (book: Awaited<ReturnType<typeof openRevocations>>): readonly Revocation[] => [
  ...book.revocations.inForce().values(),
];

describe('revocations outlive a restart', () => {
  test('nothing is revoked at first', async () => {
    const book = await opened();
    assert.deepEqual([held(book), book.notices], [[], []]);
  });
  test('what is put is in force at once, written for this user alone, and there at the next start', async () => {
    const { revocations, folder, file, clock } = await opened();
    const one = of(clock.now());
    const writing = revocations.put(one);
    assert.deepEqual([...revocations.inForce().values()], [one]);
    assert.equal(await writing, null);
    assert.equal(fs.statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(held(await openRevocations(folder, clock)), [one]);
  });
  test('many at once leave exactly what is in force; a later one takes the place of its like', async () => {
    const { revocations, folder, clock } = await opened();
    const many = Array.from({ length: 20 }, (_, index) => of(clock.now(), `tenant:${hashOf(index)}`));
    const last = of(clock.now() + 1, `tenant:${hashOf(3)}`);
    await Promise.all([...many, last].map((each) => revocations.put(each)));
    const again = held(await openRevocations(folder, clock));
    assert.equal(again.length, 20);
    assert.equal(again.find(({ scope }) => scope === last.scope)?.at, last.at);
  });
  test('what has lapsed goes with the next one', async () => {
    const { revocations, clock } = await opened();
    const start = clock.now();
    await revocations.put(of(start));
    await clock.advance(REVOKED_FOR - 1);
    await revocations.put(of(clock.now(), `tenant:${hashOf(2)}`));
    assert.equal(revocations.inForce().size, 2);
    await clock.advance(1);
    await revocations.put(of(later(clock.now(), REVOKED_FOR), `tenant:${hashOf(2)}`));
    assert.deepEqual([...revocations.inForce().keys()], [`tenant:${hashOf(2)}`]);
  });
  test('what cannot be written holds all the same, says so, and is written with the next', async () => {
    const { revocations, folder, clock } = await opened();
    fs.rmSync(folder, { recursive: true });
    const one = of(clock.now());
    assert.match((await revocations.put(one)) ?? '', /^revocations\.json cannot be written: /);
    assert.deepEqual([...revocations.inForce().values()], [one]);
    fs.mkdirSync(folder);
    assert.equal(await revocations.put(one), null);
    assert.deepEqual(held(await openRevocations(folder, clock)), [one]);
  });
  test('10,000 are read again', async () => {
    const all = Array.from({ length: 10_000 }, (_, index) => of(index, `principal:${hashOf(index)}`));
    const book = await opened((file) =>
      fs.writeFileSync(file, JSON.stringify({ version: 1, revocations: all }, null, 2), { mode: 0o600 }),
    );
    assert.deepEqual([book.notices, book.revocations.inForce().size], [[], 10_000]);
  });
  test('state: memory keeps nothing and says so', async () => {
    const { revocations } = await openRevocations(null, new FakeClock());
    assert.equal(await revocations.put(of(1)), 'state: memory keeps nothing');
    assert.equal(revocations.inForce().size, 1);
  });
});

describe('a record that cannot be believed revokes everything until now', () => {
  const good = JSON.stringify({ version: 1, revocations: [of(1)] });
  const write = (text: string) => (file: string) => fs.writeFileSync(file, text, { mode: 0o600 });
  const cases: readonly (readonly [name: string, arrange: (file: string) => void])[] = [
    ['half of it', write(good.slice(0, 20))],
    ['empty', write('')],
    ['no object', write('[]')],
    ['a newer version', write(good.replace('1', '2'))],
    ['a name for a hash', write(good.replace(/h_0+1/, 'alice'))],
    ['a time that is none', write(good.replace(/"at":1/, '"at":"1"'))],
    ['a member that is none', write('{"version":1,"revocations":[null]}')],
    ['too large', write(good + ' '.repeat(4 * 1024 * 1024))],
    ['a folder', (file) => fs.mkdirSync(file)],
    ['a link', (file) => fs.symlinkSync('/dev/null', file)],
    [
      'writable by everyone',
      (file) => {
        write(good)(file);
        fs.chmodSync(file, 0o666);
      },
    ],
  ];
  for (const [name, arrange] of cases) {
    test(name, async () => {
      const book = await opened(arrange);
      assert.deepEqual(held(book), [{ scope: 'all', at: book.clock.now() }]);
      assert.equal(book.notices.length, 1);
    });
  }
  test('the next revocation is written with it', async () => {
    const { revocations, folder, clock } = await opened(write('{'));
    assert.equal(await revocations.put(of(clock.now())), null);
    const again = await openRevocations(folder, clock);
    assert.deepEqual([again.notices, again.revocations.inForce().size], [[], 2]);
  });
});
