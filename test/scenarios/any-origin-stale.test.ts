import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { Behave } from '../support/origin-server.ts';
import { ANY_ORIGIN, anyOriginUrl, scenario as worldScenario } from '../support/scenario.ts';
import { type Got, type World, answers, breaks, fails } from '../support/world.ts';

interface Place {
  readonly world: World;
  get(headers?: Readonly<Record<string, string>>): Promise<Got>;
  /** How often the origin was asked. */
  asked(): number;
}

/** An origin with `content: any`, nothing assumed where it says nothing. */
const scenario = (name: string, origin: Behave, run: (place: Place) => Promise<void>): void => {
  const config = `cache: { prefetch: false, defaultTtl: 0s }\n${ANY_ORIGIN}`;
  worldScenario(name, { origin, config }, (world) => {
    const url = `${anyOriginUrl(world)}/thing`;
    return run({ world, get: (headers = {}) => world.get(url, headers), asked: () => world.origin.asked.length });
  });
};

const text = (body: string, cacheControl: string, more: Readonly<Record<string, string>> = {}): Behave =>
  answers(body, { 'Content-Type': 'text/plain', 'Cache-Control': cacheControl, ...more });

const status =
  (code: number, fields: Readonly<Record<string, string>>): Behave =>
  (_request, response) =>
    void response.writeHead(code, { 'Content-Length': 2, ...fields }).end('ok');

const isHit = (got: Got): boolean => String(got.headers['cache-status']).startsWith('cardea; hit;');

describe('stale-while-revalidate (RFC 5861, section 3)', () => {
  const WINDOW = text('old', 'max-age=1, stale-while-revalidate=4', { ETag: '"old"' });
  scenario('serves what is stale within its window, and the new one from then on', WINDOW, async (place) => {
    await place.get();
    await place.world.clock.advance(3_000);
    place.world.says(text('new', 'max-age=60', { ETag: '"new"' }));
    const stale = await place.get();
    assert.equal(stale.body, 'old');
    assert.equal(stale.headers.age, '3');
    assert.match(String(stale.headers['cache-status']), /hit; ttl=-2; detail=stale-while-revalidate/);
    await place.world.asked(2);
    await place.world.quiet();
    const renewed = await place.get();
    assert.equal(renewed.body, 'new');
    assert.ok(isHit(renewed));
  });

  scenario('refreshes once, however many are served meanwhile, and lets none of them wait', WINDOW, async (place) => {
    await place.get();
    await place.world.clock.advance(3_000);
    const arrived = Promise.withResolvers<() => void>();
    place.world.says((_request, response) => arrived.resolve(() => text('new', 'max-age=60')(_request, response)));
    for (let each = 0; each < 5; each += 1) assert.equal((await place.get()).body, 'old');
    const go = await arrived.promise;
    assert.equal((await place.get()).body, 'old');
    assert.equal(place.asked(), 2);
    go();
    await place.world.quiet();
    assert.equal((await place.get()).body, 'new');
  });

  scenario('asks where what came meanwhile wants to be asked about', WINDOW, async (place) => {
    await place.get();
    await place.world.clock.advance(3_000);
    place.world.says(text('second', 'no-cache', { ETag: '"second"' }));
    assert.equal((await place.get()).body, 'old');
    await place.world.asked(2);
    await place.world.quiet();
    place.world.says(text('third', 'no-cache', { ETag: '"third"' }));
    assert.equal((await place.get()).body, 'third');
  });

  for (const [seconds, body] of [
    [5, 'old'],
    [6, 'new'],
  ] as const)
    scenario(`at ${seconds} s of 1 + 4 it is the ${body} one that is served`, WINDOW, async (place) => {
      await place.get();
      place.world.says(text('new', 'max-age=60'));
      await place.world.clock.advance(seconds * 1_000);
      assert.equal((await place.get()).body, body);
    });
});

describe('stale-if-error (RFC 5861, section 4)', () => {
  const FAILURES: readonly (readonly [string, Behave])[] = [
    ['closes the connection', breaks],
    ['says 500', fails(500)],
    ['says 503', fails(503)],
  ];
  for (const [what, failing] of FAILURES) {
    scenario(
      `within its window the stored one answers where the origin ${what}`,
      text('old', 'max-age=2, stale-if-error=60'),
      async (place) => {
        await place.get();
        await place.world.clock.advance(4_000);
        place.world.says(failing);
        assert.equal((await place.get()).body, 'old');
      },
    );
    for (const forbids of ['must-revalidate', 'proxy-revalidate', 'no-cache', 's-maxage=2'])
      scenario(
        `never under ${forbids}, where the origin ${what}`,
        text('old', `max-age=2, stale-if-error=60, ${forbids}`),
        async (place) => {
          await place.get();
          await place.world.clock.advance(4_000);
          place.world.says(failing);
          const got = await place.get();
          assert.ok(got.status >= 500, String(got.status));
          assert.notEqual(got.body, 'old');
        },
      );
  }
  scenario('not beyond its window', text('old', 'max-age=2, stale-if-error=1'), async (place) => {
    await place.get();
    await place.world.clock.advance(4_000);
    place.world.says(fails(500));
    assert.equal((await place.get()).status, 500);
  });
});

describe('what is stored', () => {
  const MODIFIED = { 'Last-Modified': new Date(1_700_000_000_000).toUTCString() };
  const CASES: readonly (readonly [string, Behave, boolean])[] = [
    [
      'no-store with must-understand, of a status that is understood',
      status(200, { 'Cache-Control': 'max-age=60, no-store, must-understand' }),
      true,
    ],
    [
      'no-store with must-understand, of one that is not',
      status(599, { 'Cache-Control': 'max-age=60, no-store, must-understand' }),
      false,
    ],
    ['an unknown status that may be kept by its age', status(599, { 'Cache-Control': 'max-age=60' }), true],
    ['an unknown status that is public', status(599, { 'Cache-Control': 'public', ...MODIFIED }), true],
    ['an unknown status of which nothing is said', status(599, MODIFIED), false],
    ...([200, 203, 404, 405, 410, 414, 501] as const).map(
      (code) => [`${code} by a guess`, status(code, MODIFIED), true] as const,
    ),
    ...([201, 202, 403, 502, 503, 504] as const).map(
      (code) => [`${code} by a guess`, status(code, MODIFIED), false] as const,
    ),
    [
      'a targeted max-age beside no-store',
      status(200, { 'Cache-Control': 'no-store', 'CDN-Cache-Control': 'max-age=60' }),
      true,
    ],
    [
      'a targeted no-store beside max-age',
      status(200, { 'Cache-Control': 'max-age=60', 'CDN-Cache-Control': 'no-store' }),
      false,
    ],
    [
      'a targeted private beside max-age',
      status(200, { 'Cache-Control': 'max-age=60', 'CDN-Cache-Control': 'private' }),
      false,
    ],
    [
      'a targeted field that does not parse',
      status(200, { 'Cache-Control': 'no-store', 'CDN-Cache-Control': 'max-age=60, &&&&' }),
      false,
    ],
    [
      'a targeted field of the wrong type',
      status(200, { 'Cache-Control': 'no-store', 'CDN-Cache-Control': 'max-age="60"' }),
      false,
    ],
    [
      'a targeted max-age of which Age leaves nothing',
      status(200, { 'CDN-Cache-Control': 'max-age=60', Age: '120' }),
      false,
    ],
    [
      'a targeted max-age beside an Expires that is past',
      status(200, { 'CDN-Cache-Control': 'max-age=60', Expires: '0' }),
      true,
    ],
    ['Set-Cookie with a lifetime', status(200, { 'Cache-Control': 'max-age=60', 'Set-Cookie': 'a=b' }), true],
  ];
  for (const [what, origin, hit] of CASES)
    scenario(`${hit ? 'yes' : 'no'}: ${what}`, origin, async (place) => {
      await place.get();
      assert.equal(isHit(await place.get()), hit);
      assert.equal(place.asked(), hit ? 1 : 2);
    });

  scenario('an older one is not served once a newer one may not be stored', text('one', 'max-age=1'), async (place) => {
    await place.get();
    await place.world.clock.advance(2_000);
    place.world.says(text('two', 'no-store'));
    assert.equal((await place.get()).body, 'two');
    place.world.says(text('three', 'no-store'));
    assert.equal((await place.get()).body, 'three');
  });
});

describe('what a stored response says', () => {
  const dated = (fields: Readonly<Record<string, string>>): Behave => text('x', 'max-age=3600', fields);
  scenario(
    'Date and Expires stay, Age grows',
    dated({ Expires: 'Fri, 01 Jan 2100 00:00:00 GMT', Age: '30' }),
    async (place) => {
      const first = await place.get();
      await place.world.clock.advance(3_000);
      const hit = await place.get();
      assert.ok(isHit(hit));
      assert.equal(hit.headers.date, first.headers.date);
      assert.equal(hit.headers.expires, first.headers.expires);
      assert.equal(hit.headers.age, '33');
    },
  );
});
