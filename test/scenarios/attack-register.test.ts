import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

/** Cases of the HTTP attack table about stores, freshness and callers: every one is run by a test that names it, or has a reason here. */

const read = (file: string): string => readFileSync(new URL(file, import.meta.url), 'utf8');
const IDS = (JSON.parse(read('../fixtures/attacks/http.json')) as readonly { readonly id: string }[]).map(
  ({ id }) => id,
);
/** The other half, about requests and about what an origin answers, has registers beside the listeners' and egress's tests. */
const OURS = IDS.filter((id) => /^HTTP-(CACHE|FRESH)-/.test(id));
/** Of the other half, what one caller could do to another. */
const OF_CALLERS = ['HTTP-HDR-5', 'HTTP-HDR-11', 'HTTP-DOS-27', 'HTTP-UP-18', 'HTTP-UP-20'];

const AGAINST_THE_DAEMON = [
  'partition-attacks.test.ts',
  'poisoning-attacks.test.ts',
  'indistinguishable.test.ts',
  'tampered-archive.test.ts',
];
const BY_THE_RULES_ALONE = ['../http/attacks.test.ts'];

/** Another test by another name: the file, and a test in it. */
const ELSEWHERE: Readonly<Record<string, readonly [file: string, title: string]>> = {
  'HTTP-CACHE-51': ['../store/extended.test.ts', 'whatever happens, what is held is what was put and not taken away'],
};

const NOT_APPLICABLE: Readonly<Record<string, string>> = {
  'HTTP-CACHE-41':
    'only-if-cached is obeyed on content: any (any-origin.test.ts); a caller of cards has no say in whether the origin is asked',
  'HTTP-FRESH-60':
    'no version is older than another to Cardea: a changed card, whatever its version, is decided by the classes of its change (docs/review.md)',
};

const names = (files: readonly string[], id: string): boolean =>
  files.some((file) => new RegExp(`'[^'\\n]*\\b${id}\\b`).test(read(file)));

test('every case is run or has a reason, and never both', () => {
  for (const id of [...OURS, ...OF_CALLERS]) {
    const run = names([...AGAINST_THE_DAEMON, ...BY_THE_RULES_ALONE], id);
    const other = ELSEWHERE[id] !== undefined || NOT_APPLICABLE[id] !== undefined;
    assert.ok(run !== other, `${id}: ${run ? 'run, and excused as well' : 'nowhere'}`);
  }
  for (const id of [...Object.keys(ELSEWHERE), ...Object.keys(NOT_APPLICABLE), ...OF_CALLERS])
    assert.ok(IDS.includes(id), id);
});

test('what is held elsewhere is there', () => {
  for (const [file, title] of Object.values(ELSEWHERE))
    assert.ok(read(file).includes(`test('${title}'`), `${file}: ${title}`);
});

test('what could go from one caller to another is run against the daemon', () => {
  const across = [1, 3, 5, 7, 9, 11, 13, 15, 19, 21, 23, 25, 27, 33, 35, 37, 39, 43, 45, 47, 49].map(
    (n) => `HTTP-CACHE-${n}`,
  );
  const validators = [48, 50, 54, 58].map((n) => `HTTP-FRESH-${n}`);
  for (const id of [...across, ...validators, ...OF_CALLERS]) assert.ok(names(AGAINST_THE_DAEMON, id), id);
});
