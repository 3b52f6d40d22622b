import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type Spot, createArena } from '../../src/store/arena.ts';

const SLAB = 256 * 1024;
const filled = (length: number, value: number): Uint8Array => new Uint8Array(length).fill(value);

describe('an arena', () => {
  test('keeps what it was given, whatever else comes and goes', () => {
    const step = fc.record({
      lengths: fc.array(fc.oneof(fc.nat(4_000), fc.nat(40_000)), { maxLength: 3 }),
      frees: fc.array(fc.nat(), { maxLength: 3 }),
      shares: fc.nat(2),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const arena = createArena();
        const empty = arena.size();
        const kept: { readonly spot: Spot; readonly bytes: Uint8Array }[] = [];
        for (const [at, { lengths, frees, shares }] of steps.entries()) {
          for (const length of lengths) {
            const bytes = filled(length, at % 251);
            const spot = arena.keep(bytes);
            kept.push({ spot, bytes });
            for (let more = 0; more < shares; more += 1) kept.push({ spot: arena.share(spot), bytes });
          }
          for (const which of frees) {
            const [gone] = kept.splice(which % (kept.length || 1), 1);
            if (gone !== undefined) assert.equal(arena.free(gone.spot), !kept.some(({ spot }) => spot === gone.spot));
          }
        }
        for (const { spot, bytes } of kept) assert.deepEqual(new Uint8Array(arena.read(spot)), bytes);
        for (const { spot } of kept) arena.free(spot);
        assert.equal(arena.size(), empty);
      }),
      { numRuns: 30 },
    );
  });

  test('wastes a third of what it keeps at most, besides the slabs that are being filled, whatever goes', () => {
    const arena = createArena();
    const spots = Array.from({ length: 4_000 }, (_, at) => arena.keep(filled(3_000, at % 251)));
    assert.ok(arena.size() < 4_000 * 3_000 * 1.02 + SLAB);
    const left = spots.filter((spot, at) => {
      if (at % 5 !== 0) arena.free(spot);
      return at % 5 === 0;
    });
    assert.ok(arena.size() < (left.length * 3_000 * 4) / 3 + 2 * SLAB, `${arena.size()} bytes`);
    for (const [at, spot] of left.entries()) assert.equal(arena.read(spot)[2_999], (at * 5) % 251);
  });

  test('takes nothing more when all has gone', () => {
    const arena = createArena();
    const empty = arena.size();
    const spots = [...Array(1_000).keys()].map(() => arena.keep(filled(3_000, 1)));
    spots.push(arena.keep(filled(SLAB * 2, 2)));
    for (const spot of spots) arena.free(spot);
    assert.equal(arena.size(), empty);
  });

  test('frees each thing once', () => {
    const arena = createArena();
    const [one, other] = [arena.keep(filled(10, 1)), arena.keep(filled(10, 2))];
    arena.free(one);
    assert.throws(() => arena.free(one), /nothing is kept there/);
    assert.throws(() => arena.read(one), /nothing is kept there/);
    assert.deepEqual(new Uint8Array(arena.read(other)), filled(10, 2));
  });
});
