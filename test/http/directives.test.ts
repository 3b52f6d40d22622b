import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { NO_DIRECTIVES } from '../../src/http/cache-control.ts';
import { readerOf } from '../../src/http/fields.ts';
import { decideReuse, mayServeOnError } from '../../src/http/reuse.ts';
import { storable } from '../../src/http/storable.ts';
import type { Fields } from '../../src/kernel/fields.ts';
import { ms } from '../../src/kernel/units.ts';
import { ANY, at, dateAt, entryOf } from './given.ts';
import { type Ruling, rule, type Situation } from './oracle.ts';

/** No defaults of ours and no ceilings in the way: only the RFC speaks. */
const BARE = { ...ANY, staleIfError: ms(0), staleWhileRevalidate: ms(0), maxStale: ms(1e9) };

const FLAGS = [
  ['noStore', 'no-store'],
  ['noCache', 'no-cache'],
  ['isPrivate', 'private'],
  ['isPublic', 'public'],
  ['mustRevalidate', 'must-revalidate'],
  ['proxyRevalidate', 'proxy-revalidate'],
  ['mustUnderstand', 'must-understand'],
] as const;

const LIFETIMES: readonly Pick<Situation, 'maxAge' | 'sMaxage' | 'expiresIn'>[] = [
  { maxAge: null, sMaxage: null, expiresIn: null },
  { maxAge: 60, sMaxage: null, expiresIn: null },
  { maxAge: null, sMaxage: 60, expiresIn: null },
  { maxAge: null, sMaxage: null, expiresIn: 60 },
  { maxAge: 60, sMaxage: 10, expiresIn: 900 },
  { maxAge: 10, sMaxage: null, expiresIn: 900 },
  { maxAge: 0, sMaxage: null, expiresIn: -60 },
];
const WINDOWS: readonly Pick<Situation, 'staleIfError' | 'staleWhileRevalidate'>[] = [
  { staleIfError: null, staleWhileRevalidate: null },
  { staleIfError: 30, staleWhileRevalidate: null },
  { staleIfError: 5, staleWhileRevalidate: 20 },
];
const STATUSES = [200, 206, 301, 404, 503, 599];
/** Both neighbours of every boundary that the lifetimes and windows above have. */
const AGES = [0, 5, 6, 9, 10, 15, 16, 59, 60, 61, 65, 66, 80, 81, 90, 91];

function* situations(): Generator<Situation, void> {
  for (let bits = 0; bits < 1 << FLAGS.length; bits += 1) {
    const on = (name: (typeof FLAGS)[number][0]): boolean =>
      (bits & (1 << FLAGS.findIndex(([flag]) => flag === name))) !== 0;
    const flags = {
      noStore: on('noStore'),
      noCache: on('noCache'),
      isPrivate: on('isPrivate'),
      isPublic: on('isPublic'),
      mustRevalidate: on('mustRevalidate'),
      proxyRevalidate: on('proxyRevalidate'),
      mustUnderstand: on('mustUnderstand'),
    };
    for (const lifetime of LIFETIMES)
      for (const window of WINDOWS)
        for (const status of STATUSES)
          for (const authorization of [false, true])
            yield { ...flags, ...lifetime, ...window, status, authorization, age: 0 };
  }
}

function responseFields(s: Situation): Fields {
  const control = [
    ...FLAGS.filter(([name]) => s[name]).map(([, word]) => word),
    ...(s.maxAge === null ? [] : [`max-age=${s.maxAge}`]),
    ...(s.sMaxage === null ? [] : [`s-maxage=${s.sMaxage}`]),
    ...(s.staleIfError === null ? [] : [`stale-if-error=${s.staleIfError}`]),
    ...(s.staleWhileRevalidate === null ? [] : [`stale-while-revalidate=${s.staleWhileRevalidate}`]),
  ];
  return [
    'Date',
    dateAt(0),
    ...(control.length === 0 ? [] : ['Cache-Control', control.join(', ')]),
    ...(s.expiresIn === null ? [] : ['Expires', dateAt(s.expiresIn)]),
    ...(s.status === 206 ? ['Content-Range', 'bytes 0-4/10'] : []),
  ];
}

describe('every combination of directives, against the oracle', () => {
  test('storing, reusing, and serving stale', () => {
    let rulings = 0;
    for (const situation of situations()) {
      const fields = responseFields(situation);
      const requestFields = readerOf(situation.authorization ? ['Authorization', 'x'] : []);
      const { store } = storable({ method: 'GET', requestFields, status: situation.status, fields, policy: BARE });
      const entry = entryOf({ status: situation.status, fields, policy: BARE });
      for (const age of AGES) {
        const expected = rule({ ...situation, age });
        const { use } = decideReuse({ entry, request: NO_DIRECTIVES, now: at(age) });
        const found: Ruling = {
          stored: store,
          reusable: store && use === 'fresh',
          whileRevalidating: store && use === 'stale-while-revalidate',
          onError: store && mayServeOnError({ entry, now: at(age), status: 503 }),
        };
        if (JSON.stringify(found) !== JSON.stringify(expected)) {
          assert.deepEqual(found, expected, JSON.stringify({ ...situation, age }));
        }
        rulings += 1;
      }
    }
    assert.equal(rulings, 2 ** FLAGS.length * LIFETIMES.length * WINDOWS.length * STATUSES.length * 2 * AGES.length);
  });

  test('the oracle is no constant: each ruling is given and refused', () => {
    const seen = new Set<string>();
    for (const situation of situations()) {
      for (const age of AGES)
        for (const [name, value] of Object.entries(rule({ ...situation, age }))) seen.add(`${name} ${value}`);
      if (seen.size === 8) return;
    }
    assert.equal(seen.size, 8);
  });
});
