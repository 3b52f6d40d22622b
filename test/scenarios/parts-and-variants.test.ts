import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { Behave } from '../support/origin-server.ts';
import { ANY_ORIGIN, anyOriginUrl, scenario as worldScenario } from '../support/scenario.ts';
import { type Got, type World, answers } from '../support/world.ts';

interface Place {
  readonly world: World;
  get(path: string, headers?: Readonly<Record<string, string>>, method?: string): Promise<Got>;
  /** What the origin was sent of one field, request by request. */
  sent(field: string): readonly (string | undefined)[];
}

/** An origin with `content: any` on a listener of its own. */
const scenario = (name: string, origin: Behave, run: (place: Place) => Promise<void>): void => {
  worldScenario(name, { origin, config: ANY_ORIGIN }, (world) => {
    const url = anyOriginUrl(world);
    return run({
      world,
      get: (path, headers = {}, method = 'GET') => world.get(url + path, headers, method),
      sent: (field) =>
        world.origin.headers.map((lines) => {
          const at = lines.findIndex((line, index) => index % 2 === 0 && line.toLowerCase() === field);
          return at === -1 ? undefined : lines[at + 1];
        }),
    });
  });
};

const WHOLE = '0123456789';
const FRESH = { 'Content-Type': 'text/plain', 'Cache-Control': 'max-age=60' };

/** An origin that knows ranges: of the representation `tag` it serves what is asked for. */
const ranging =
  (tag: string, whole = WHOLE, more: Readonly<Record<string, string>> = {}): Behave =>
  (request, response) => {
    const { range, 'if-range': condition } = request.headers;
    const found = /^bytes=(\d+)-(\d*)$/.exec(range ?? '');
    const fields = { ...FRESH, ETag: tag, ...more };
    if (found === null || (condition !== undefined && condition !== tag)) {
      answers(whole, fields)(request, response);
      return;
    }
    const first = Number(found[1]);
    const last = found[2] === '' ? whole.length - 1 : Number(found[2]);
    if (first >= whole.length) {
      response.writeHead(416, { 'Content-Range': `bytes */${whole.length}`, 'Content-Length': 0 }).end();
      return;
    }
    const part = whole.slice(first, last + 1);
    const range206 = { 'Content-Range': `bytes ${first}-${last}/${whole.length}`, 'Content-Length': part.length };
    response.writeHead(206, { ...fields, ...range206 }).end(part);
  };

const FIRST = { Range: 'bytes=0-3' };

describe('a stored beginning', () => {
  scenario('is completed by asking for the rest alone', ranging('"one"', WHOLE, { 'X-At': 'first' }), async (place) => {
    await place.get('/a', FIRST);
    place.world.says(ranging('"one"', WHOLE, { 'X-At': 'second' }));
    const whole = await place.get('/a');
    assert.equal(whole.status, 200);
    assert.equal(whole.body, WHOLE);
    assert.equal(whole.headers['content-length'], '10');
    assert.equal(whole.headers['content-range'], undefined);
    assert.equal(whole.headers['x-at'], 'second');
    assert.equal(whole.headers['cache-status'], 'cardea; fwd=partial; fwd-status=206; stored; ttl=60');
    assert.deepEqual(place.sent('range'), ['bytes=0-3', 'bytes=4-']);
    assert.deepEqual(place.sent('if-range'), [undefined, '"one"']);
    const hit = await place.get('/a');
    assert.match(String(hit.headers['cache-status']), /; hit;/);
    assert.equal(hit.body, WHOLE);
  });

  scenario('of another representation is not: If-Range brings the new one whole', ranging('"one"'), async (place) => {
    await place.get('/a', FIRST);
    place.world.says(ranging('"two"', 'abcdefghij'));
    const whole = await place.get('/a');
    assert.equal(whole.body, 'abcdefghij');
    assert.equal(place.world.origin.asked.length, 2);
    assert.equal((await place.get('/a')).body, 'abcdefghij');
  });

  const careless =
    (tag: string, body: string): Behave =>
    (_request, response) => {
      const part = body.slice(4);
      response.writeHead(206, { ...FRESH, ETag: tag, 'Content-Range': `bytes 4-${body.length - 1}/${body.length}` });
      response.end(part);
    };
  const MIXTURES: readonly (readonly [string, Behave])[] = [
    ['another tag', careless('"two"', 'abcdefghij')],
    ['a weak tag', careless('W/"one"', 'abcdefghij')],
    ['another length', careless('"one"', 'abcdefghijk')],
  ];
  for (const [what, mixing] of MIXTURES)
    scenario(`and a rest with ${what} are never mixed: the whole is asked for`, ranging('"one"'), async (place) => {
      await place.get('/a', FIRST);
      place.world.says((request, response) => {
        const asksForRest = request.headers.range !== undefined;
        (asksForRest ? mixing : answers('abcdefghij', { ...FRESH, ETag: '"two"' }))(request, response);
      });
      const whole = await place.get('/a');
      assert.equal(whole.status, 200);
      assert.equal(whole.body, 'abcdefghij');
      assert.deepEqual(place.sent('range'), ['bytes=0-3', 'bytes=4-', undefined]);
    });

  scenario('of what has become shorter is given up', ranging('"one"'), async (place) => {
    await place.get('/a', FIRST);
    place.world.says((request, response) => {
      if (request.headers.range === undefined) answers('ab', { ...FRESH, ETag: '"two"' })(request, response);
      else response.writeHead(416, { 'Content-Range': 'bytes */2', 'Content-Length': 0 }).end();
    });
    const whole = await place.get('/a');
    assert.equal(whole.status, 200);
    assert.equal(whole.body, 'ab');
  });

  scenario('is completed when it is stale too: the rest confirms it', ranging('"one"'), async (place) => {
    await place.get('/a', FIRST);
    await place.world.clock.advance(120_000);
    assert.equal((await place.get('/a')).body, WHOLE);
    assert.deepEqual(place.sent('range'), ['bytes=0-3', 'bytes=4-']);
    assert.equal((await place.get('/a')).body, WHOLE);
    assert.equal(place.world.origin.asked.length, 2);
  });

  scenario('and a middle are not: only one request may complete', ranging('"one"'), async (place) => {
    await place.get('/a', { Range: 'bytes=2-5' });
    assert.equal((await place.get('/a')).body, WHOLE);
    assert.deepEqual(place.sent('range'), ['bytes=2-5', undefined]);
  });

  scenario('leaves what the caller asks with conditions of its own alone', ranging('"one"'), async (place) => {
    await place.get('/a', FIRST);
    const got = await place.get('/a', { 'If-None-Match': '"mine"' });
    assert.equal(got.body, WHOLE);
    assert.deepEqual(place.sent('range'), ['bytes=0-3', undefined]);
    assert.deepEqual(place.sent('if-none-match'), [undefined, '"mine"']);
  });

  scenario('whose rest breaks off is not stored, and the client sees it break', ranging('"one"'), async (place) => {
    await place.get('/a', FIRST);
    place.world.says((_request, response) => {
      const fields = { ...FRESH, ETag: '"one"', 'Content-Range': 'bytes 4-9/10', 'Content-Length': 6 };
      response.writeHead(206, fields);
      response.write('45', () => response.destroy());
    });
    await assert.rejects(place.get('/a'));
    place.world.says(ranging('"one"'));
    assert.equal((await place.get('/a')).body, WHOLE);
  });
});

describe('a caller that no stored variant is for', () => {
  const negotiated =
    (tags: Readonly<Record<string, string>>): Behave =>
    (request, response) => {
      const language = request.headers['accept-language'] ?? 'none';
      const tag = tags[language] ?? '"none"';
      const fields = { ...FRESH, Vary: 'Accept-Language', ETag: tag };
      if ((request.headers['if-none-match'] ?? '').split(', ').includes(tag)) response.writeHead(304, fields).end();
      else answers(`text ${tag}`, fields)(request, response);
    };
  const SAME = negotiated({ en: '"english"', 'en-GB': '"english"', de: '"german"' });

  scenario('is asked for with all their tags, and may get one of them', SAME, async (place) => {
    await place.get('/a', { 'Accept-Language': 'en' });
    await place.get('/a', { 'Accept-Language': 'de' });
    const got = await place.get('/a', { 'Accept-Language': 'en-GB' });
    assert.equal(got.status, 200);
    assert.equal(got.body, 'text "english"');
    assert.equal(got.headers['cache-status'], 'cardea; fwd=vary-miss; fwd-status=304; stored; ttl=60');
    assert.equal(place.sent('if-none-match').at(-1), '"german", "english"');
    assert.equal(place.sent('accept-language').at(-1), 'en-GB');
    for (const [language, text] of [
      ['en-GB', 'text "english"'],
      ['en', 'text "english"'],
      ['de', 'text "german"'],
    ] as const) {
      const hit = await place.get('/a', { 'Accept-Language': language });
      assert.match(String(hit.headers['cache-status']), /; hit;/, language);
      assert.equal(hit.body, text);
    }
    assert.equal(place.world.origin.asked.length, 3);
  });

  scenario('gets a new one where none of them is meant', SAME, async (place) => {
    await place.get('/a', { 'Accept-Language': 'en' });
    const got = await place.get('/a', { 'Accept-Language': 'de' });
    assert.equal(got.body, 'text "german"');
    assert.match(String(got.headers['cache-status']), /fwd=vary-miss; fwd-status=200; stored/);
  });

  scenario('may hear that nothing of that tag is to be kept any more', SAME, async (place) => {
    for (const language of ['en', 'en-GB']) await place.get('/a', { 'Accept-Language': language });
    const gone = { 'Cache-Control': 'no-store', Vary: 'Accept-Language', ETag: '"english"' };
    place.world.says((request, response) => {
      if (request.headers['if-none-match'] === undefined) answers('new', gone)(request, response);
      else response.writeHead(304, gone).end();
    });
    assert.equal((await place.get('/a', { 'Accept-Language': 'fr' })).body, 'text "english"');
    for (const language of ['en', 'en-GB']) {
      assert.equal((await place.get('/a', { 'Accept-Language': language })).body, 'new', language);
    }
  });

  scenario('is asked for anew where a 304 does not say which', SAME, async (place) => {
    await place.get('/a', { 'Accept-Language': 'en' });
    await place.get('/a', { 'Accept-Language': 'de' });
    place.world.says((request, response) => {
      if (request.headers['if-none-match'] === undefined) answers('third', FRESH)(request, response);
      else response.writeHead(304, { Vary: 'Accept-Language' }).end();
    });
    const got = await place.get('/a', { 'Accept-Language': 'fr' });
    assert.equal(got.status, 200);
    assert.equal(got.body, 'third');
    assert.equal(place.world.origin.asked.length, 4);
  });

  scenario('keeps its own condition', SAME, async (place) => {
    await place.get('/a', { 'Accept-Language': 'en' });
    const got = await place.get('/a', { 'Accept-Language': 'en-GB', 'If-None-Match': '"mine"' });
    assert.equal(got.status, 200);
    assert.equal(place.sent('if-none-match').at(-1), '"mine"');
  });
});

describe('a confirmation', () => {
  const tagged = answers('text', { ...FRESH, ETag: '"t"' });
  scenario('that forbids storing takes out what it confirms', tagged, async (place) => {
    await place.get('/a');
    await place.world.clock.advance(120_000);
    place.world.says(
      (_request, response) => void response.writeHead(304, { 'Cache-Control': 'no-store', ETag: '"t"' }).end(),
    );
    const got = await place.get('/a');
    assert.equal(got.body, 'text');
    assert.match(String(got.headers['cache-status']), /fwd=stale; fwd-status=304$/);
    place.world.says(tagged);
    assert.match(String((await place.get('/a')).headers['cache-status']), /fwd=uri-miss/);
  });

  scenario('for a caller that wants nothing stored leaves what is stored', tagged, async (place) => {
    await place.get('/a');
    place.world.says((_request, response) => void response.writeHead(304, { ...FRESH, ETag: '"t"' }).end());
    const got = await place.get('/a', { 'Cache-Control': 'no-cache, no-store' });
    assert.equal(got.body, 'text');
    assert.match(String((await place.get('/a')).headers['cache-status']), /; hit;/);
  });

  scenario('that varies otherwise is for this request alone', tagged, async (place) => {
    await place.get('/a', { 'X-Who': 'one' });
    await place.world.clock.advance(120_000);
    place.world.says(
      (_request, response) => void response.writeHead(304, { ...FRESH, ETag: '"t"', Vary: 'X-Who' }).end(),
    );
    await place.get('/a', { 'X-Who': 'one' });
    assert.match(String((await place.get('/a', { 'X-Who': 'one' })).headers['cache-status']), /; hit;/);
    place.world.says(answers('other', FRESH));
    assert.equal((await place.get('/a', { 'X-Who': 'two' })).body, 'other');
  });

  scenario(
    'carries the fields that the stored response varies on',
    answers('text', { ...FRESH, ETag: '"t"', Vary: 'X-Who' }),
    async (place) => {
      await place.get('/a', { 'X-Who': 'one' });
      await place.world.clock.advance(120_000);
      await place.get('/a', { 'X-Who': 'one' });
      assert.deepEqual(place.sent('x-who'), ['one', 'one']);
      assert.deepEqual(place.sent('if-none-match'), [undefined, '"t"']);
    },
  );
});

scenario('only-if-cached is refused without blaming an origin', answers('text', FRESH), async (place) => {
  const got = await place.get('/a', { 'Cache-Control': 'only-if-cached' });
  assert.equal(got.status, 504);
  assert.equal(got.headers['proxy-status'], undefined);
  assert.equal(place.world.origin.asked.length, 0);
});
