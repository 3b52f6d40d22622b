import fc from 'fast-check';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { crc32 } from 'node:zlib';
import { collectGarbage } from '../../src/daemon/garbage.ts';
import type { Entry } from '../../src/kernel/entry.ts';
import { tag, variantKey } from '../../src/kernel/ids.ts';
import { bytes } from '../../src/kernel/units.ts';
import { createArena } from '../../src/store/arena.ts';
import { createOpenBodies, createPackedBodies } from '../../src/store/bodies.ts';
import { entrySize } from '../../src/store/entry-size.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import { createPack } from '../../src/store/packed.ts';
import type { Stored } from '../../src/store/stored.ts';
import { cardOf, entryKey, entryOf } from '../support/entries.ts';
import { FakeClock } from '../support/fake-clock.ts';

const text = (said: string): Uint8Array => new TextEncoder().encode(said);

/** Other bytes of the same sum. */
const [ONE, OTHER] = ['d3f504638284', 'c50963c80102'] as const;
assert.equal(crc32(ONE), crc32(OTHER));

describe('bodies in memory that all share', () => {
  test('are held once for all that have the same bytes, until the last has gone', () => {
    const arena = createArena();
    const bodies = createPackedBodies(arena);
    const spots = [bodies.hold(text('same')), bodies.hold(text('same')), bodies.hold(text('same'))];
    const [first, ...others] = spots;
    assert.ok(first !== undefined && others.every((each) => each === first));
    for (const spot of others) bodies.release(spot);
    assert.deepEqual(new Uint8Array(arena.read(first)), text('same'));
    bodies.release(first);
    assert.throws(() => arena.read(first));
  });

  test('are two where only their sums are the same, whichever goes first', () => {
    for (const [gone, stays] of [
      [ONE, OTHER],
      [OTHER, ONE],
    ] as const) {
      const arena = createArena();
      const bodies = createPackedBodies(arena);
      const held = new Map([ONE, OTHER].map((each) => [each, bodies.hold(text(each))] as const));
      const [left, kept] = [held.get(gone), held.get(stays)];
      assert.ok(left !== undefined && kept !== undefined);
      bodies.release(left);
      assert.deepEqual(new Uint8Array(arena.read(kept)), text(stays));
      assert.deepEqual(new Uint8Array(arena.read(bodies.hold(text(gone)))), text(gone));
      assert.deepEqual(new Uint8Array(arena.read(kept)), text(stays));
    }
  });
});

describe('bodies that stay open', () => {
  test('are the same memory for all, seen by each for itself', () => {
    const bodies = createOpenBodies();
    const [one, other] = [bodies.hold(text('same')), bodies.hold(text('same'))];
    assert.equal(one.buffer, other.buffer);
    assert.notEqual(one, other);
    assert.deepEqual(other, text('same'));
    assert.notEqual(bodies.hold(text('else')).buffer, one.buffer);
  });

  test('stay the object that somebody has who brings them again', () => {
    const bodies = createOpenBodies();
    const held = [bodies.hold(text('same')), bodies.hold(text('same'))];
    for (const body of held) assert.equal(bodies.hold(body), body);
  });

  test('are not looked for any more when all have gone', () => {
    const bodies = createOpenBodies();
    const held = [bodies.hold(text('same')), bodies.hold(text('same'))];
    for (const body of held) bodies.release(body);
    assert.notEqual(bodies.hold(text('same')).buffer, held[0]?.buffer);
  });

  test('are two where only their sums are the same', () => {
    const bodies = createOpenBodies();
    const [one, other] = [bodies.hold(text(ONE)), bodies.hold(text(OTHER))];
    assert.deepEqual([one, other], [text(ONE), text(OTHER)]);
    bodies.release(one);
    assert.equal(bodies.hold(text(OTHER)).buffer, other.buffer);
  });

  test('take no part of what they were cut out of', () => {
    const held = createOpenBodies().hold(new Uint8Array(64 * 1024).subarray(0, 10));
    assert.equal(held.buffer.byteLength, 10);
  });
});

const body = fc.oneof(
  fc.constantFrom(text(ONE), text(OTHER), text(''), new Uint8Array(9_000), new Uint8Array(9_000).fill(1)),
  fc.nat(3).map((fill) => new Uint8Array(3_000).fill(fill)),
  fc.uint8Array({ maxLength: 40 }),
);

test('packed entries have the bytes that they came with, whatever comes and goes, and the last leaves nothing', () =>
  fc.assert(
    fc.property(fc.array(fc.record({ body, leaves: fc.option(fc.nat()) }), { maxLength: 200 }), (steps) => {
      const arena = createArena();
      const empty = arena.size();
      const pack = createPack(createOpenBodies(), arena);
      const held: { readonly stored: Stored; readonly entry: Entry }[] = [];
      for (const [at, { body: mine, leaves }] of steps.entries()) {
        const entry = cardOf(`agent-${at}`, { body: mine });
        held.push({ stored: pack(entry, bytes(1)), entry });
        if (leaves !== null) held.splice(leaves % held.length, 1)[0]?.stored.release();
      }
      for (const { stored, entry } of held) assert.deepEqual(stored.open(), entry);
      for (const { stored } of held) stored.release();
      assert.equal(arena.size(), empty);
    }),
    {
      numRuns: 50,
      examples: [[Array.from({ length: 200 }, (_, at) => ({ body: new Uint8Array(3_000).fill(at), leaves: null }))]],
    },
  ));

const name = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('put'), name, body, variant: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('purge', 'soften', 'drop', 'code'), name, body }) },
);

test('a store serves the bytes that were put last, after replacements, purges, evictions and codings', () =>
  fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const observer = { record: () => undefined };
      const pinned = ({ agent }: Entry): boolean => agent === 'a' || agent === 'b';
      const store = createMemoryStore({ clock: new FakeClock(), observer, maxBytes: bytes(50_000), pinned });
      const latest = new Map<string, Uint8Array>();
      for (const each of steps) {
        const variant = variantKey('variant' in each ? `v${each.variant}` : '');
        const entry = cardOf(each.name, { body: each.body, variant, generation: store.generation(), etag: '"e"' });
        if (each.do === 'put' && (await store.put(entry))) latest.set(`${entry.key} ${variant}`, each.body);
        if (each.do === 'purge' || each.do === 'soften')
          await store.purge([tag(`agent:${each.name}`)], each.do === 'soften');
        if (each.do === 'drop') for (const held of store.peek(entry.key)) await store.drop(held);
        if (each.do === 'code') store.code(entry.key, '"e"', [{ coding: 'br', body: each.body, etag: '"c"' }]);
        for (const key of ['a', 'b', 'c', 'd', 'e'].map(entryKey))
          for (const held of store.peek(key)) assert.deepEqual(held.body, latest.get(`${key} ${held.variant}`));
      }
    }),
    { numRuns: 50 },
  ));

describe('a thousand entries of the same bytes', () => {
  const external = (): number => {
    collectGarbage();
    return process.memoryUsage().arrayBuffers;
  };
  const cases: Readonly<Record<string, (at: number) => Entry>> = {
    'of origins': (at) => entryOf(`a${at}`, { body: new Uint8Array(5_000) }),
    'of origins, large': (at) => entryOf(`a${at}`, { body: new Uint8Array(30_000) }),
    'of named agents': (at) => cardOf(`a${at}`, { body: new Uint8Array(30_000) }),
  };
  for (const [what, make] of Object.entries(cases))
    test(`${what} take it once, are charged for each, and leave nothing`, async () => {
      const observer = { record: () => undefined };
      const pinned = ({ agent }: Entry): boolean => agent !== null;
      const store = createMemoryStore({ clock: new FakeClock(), observer, maxBytes: bytes(2 ** 30), pinned });
      const before = external();
      for (let at = 0; at < 1_000; at += 1) await store.put(make(at));
      const taken = external() - before;
      assert.ok(taken < 1_500_000, `${taken} bytes`);
      assert.equal(
        store.size().bytes,
        [...Array(1_000).keys()].reduce((sum, at) => sum + entrySize(make(at)), 0),
      );
      assert.equal(await store.purge([tag('all')], false), 1_000);
      const left = external() - before;
      assert.ok(left < 100_000, `${left} bytes are left`);
      assert.equal(store.size().bytes, 0);
    });
});
