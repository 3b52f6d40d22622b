import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { REQUEST_CASES } from './attack-cases.ts';
import { NOT_APPLICABLE } from './not-applicable.ts';

/** Tests of other folders that hold a case of the request half. */
const ELSEWHERE = ['../discovery/loop.test.ts'];

test('every case of the request half is a test or has a reason, and never both', () => {
  const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.test.ts'));
  const texts = [...files, ...ELSEWHERE]
    .map((name) => readFileSync(`${import.meta.dirname}/${name}`, 'utf8'))
    .join('\n');
  // Cases that are bytes are run from the table itself.
  const isHeld = ({ id, raw }: (typeof REQUEST_CASES)[number]): boolean =>
    (raw !== undefined && NOT_APPLICABLE[id] === undefined) || new RegExp(`\\b${id}\\b`).test(texts);
  const missing = REQUEST_CASES.filter((one) => !isHeld(one) && NOT_APPLICABLE[one.id] === undefined);
  const both = REQUEST_CASES.filter((one) => isHeld(one) && NOT_APPLICABLE[one.id] !== undefined);
  assert.deepEqual(
    [missing, both].map((cases) => cases.map(({ id }) => id)),
    [[], []],
  );
});
