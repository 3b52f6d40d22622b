import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { QUESTIONS, tablesOf } from '../../scripts/generate/measurements-page.ts';

test('contestants stand in a table for each case, the cheapest first', () => {
  const standing = (cpuPer100k: number): object => ({ cpuPer100k, p50: 100, toFloor: { cpu: cpuPer100k / 2 } });
  assert.deepEqual(tablesOf({ '304': { Cardea: standing(3), floor: standing(2) } }), [
    '| 304 | cpu per 100k | p50 | to floor cpu |\n| --- | ---: | ---: | ---: |\n| floor | 2 | 100 | 1 |\n| Cardea | 3 | 100 | 1.5 |\n',
  ]);
});

test('questions without contestants have one table, with a gap where a row has no such figure', () => {
  assert.deepEqual(tablesOf({ cold: { ms: 9, cpu: 1 }, warm: { ms: 3 } }), [
    '|  | ms | cpu |\n| --- | ---: | ---: |\n| cold | 9 | 1 |\n| warm | 3 |  |\n',
  ]);
});

test('every answer that is kept is shown', () => {
  const kept = readdirSync(new URL('../../bench/results/', import.meta.url));
  const shown = Object.keys(QUESTIONS).map((question) => `${question}.json`);
  assert.deepEqual(
    kept.filter((file) => !shown.includes(file)),
    [],
  );
});
