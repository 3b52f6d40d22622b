import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import type { ScalarType } from '../../src/config/types/scalar.ts';

/** What is written, and the value as it is shown again. */
export type Good = readonly [written: string, shown: string | number | boolean | null];
/** What is written, and a part of what is said about it. */
export type Bad = readonly [written: string, said: string];

/** A type of the table with what it reads and what it refuses; `hunter2` stands for a secret. */
export interface TypeCases {
  readonly name: string;
  readonly type: ScalarType<unknown>;
  readonly good: readonly Good[];
  readonly bad: readonly Bad[];
}

/** Holds a type to its cases, and to never throwing. */
export function describeType({ name, type, good, bad }: TypeCases): void {
  describe(name, () => {
    for (const [written, shown] of good) {
      test(`reads ${JSON.stringify(written.slice(0, 70))}`, () => {
        const read = type.read(written, '/folder');
        assert.equal(read.ok ? type.show(read.value) : read.why, shown);
      });
    }
    for (const [written, said] of bad) {
      test(`refuses ${JSON.stringify(written.slice(0, 70))}`, () => {
        const read = type.read(written, '/folder');
        assert.ok(!read.ok, 'was read');
        assert.ok(read.why.includes(said), read.why);
        assert.ok(!read.why.includes('hunter2'), 'repeats a secret');
      });
    }
    test('never throws, and reads again what it shows', () => {
      const anything = fc.oneof(
        fc.string(),
        fc.webUrl({ withFragments: true, withQueryParameters: true }),
        fc.ipV6(),
        fc.constantFrom(...good.map(([text]) => text)),
      );
      fc.assert(
        fc.property(anything, (text) => {
          const read = type.read(text, '/folder');
          if (!read.ok) return;
          const again = type.read(String(type.show(read.value)), '/elsewhere');
          assert.deepEqual(again, read);
        }),
      );
    });
  });
}
