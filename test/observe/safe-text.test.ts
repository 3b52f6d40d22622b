import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { areSafe, safeText, safeUrl } from '../../src/observe/safe-text.ts';

describe('what is not shown', () => {
  const SECRET = 'hunter2hunter2';
  const JWT = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl';
  const cases: readonly (readonly [name: string, text: string, secret: string])[] = [
    ['a bearer token', `got Bearer ${SECRET}, no good`, SECRET],
    ['in any case', `BEARER ${SECRET}`, SECRET],
    ['at the end of a sentence', `It sent Bearer ${SECRET}.`, SECRET],
    ['basic credentials', 'Basic dXNlcjpodW50ZXIy==', 'dXNlcjpodW50ZXIy'],
    ['DPoP', `DPoP ${SECRET}`, SECRET],
    ['a JWT by itself', `the token ${JWT} is old`, JWT.slice(10)],
    ['a JWT in quotes', `error_description="${JWT} has expired"`, 'c2lnbmF0dXJl'],
    ['a JWT without a signature', 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSJ9.', 'eyJzdWIi'],
    ['an access token in a form', `access_token=${SECRET}&x=1`, SECRET],
    ['a client secret in JSON', `{"client_secret": "${SECRET}"}`, SECRET],
    ['a password as a header', `password: ${SECRET}`, SECRET],
    ['an API key', `X-Api-Key: ${SECRET}`, SECRET],
    ['an Authorization field', `Authorization: ${SECRET}`, SECRET],
    ['a cookie', `Cookie: sid=${SECRET}`, SECRET],
    ['userinfo of a URL', `at https://user:${SECRET}@a.example/card.json`, SECRET],
    ['a user name alone', `at https://${SECRET}@a.example/card.json`, SECRET],
    ['the query of a URL', `at https://a.example/card.json?key=${SECRET}`, SECRET],
    ['the fragment of a URL', `at https://a.example/card.json#${SECRET}`, SECRET],
    ['the query in a challenge', `Bearer resource_metadata="https://a.example/x?t=${SECRET}"`, SECRET],
    ['two at once', `Bearer ${SECRET} and token=${SECRET}`, SECRET],
  ];
  for (const [name, text, secret] of cases) {
    test(name, () => {
      assert.ok(text.includes(secret), 'the case must hold its secret');
      const shown = safeText(text);
      assert.ok(!shown.includes(secret), shown);
    });
  }
});

describe('what is shown', () => {
  const cases: readonly string[] = [
    'The origin answered 503 at https://a.example/.well-known/agent-card.json.',
    'Bearer realm="agents", error="invalid_token"',
    'Basic realm="agents"',
    'skills[2].id: must be a string',
    'name: Wetterdienst Zürich — 東京',
    'Error: broken\n\tat run (file:///a.ts:1:2)',
    'the card names an unknown security scheme: apiKeys',
  ];
  for (const text of cases) test(text, () => assert.equal(safeText(text), text));

  const unseen: readonly (readonly [name: string, character: string])[] = [
    ['escape, which moves a terminal', '\u001b'],
    ['its one-byte form', '\u009b'],
    ['null', '\0'],
    ['carriage return', '\r'],
    ['right-to-left override', '\u202e'],
    ['an isolate', '\u2066'],
    ['zero width', '\u200b'],
    ['line separator', '\u2028'],
    ['byte order mark', '\ufeff'],
    ['half a character', '\ud83d'],
  ];
  for (const [name, character] of unseen) {
    test(`a mark in place of ${name}`, () => assert.equal(safeText(`a${character}b`), 'a?b'));
  }

  test('as much as is asked for: the longest whole, one more cut', () => {
    assert.equal(safeText('x'.repeat(10), 10), 'x'.repeat(10));
    assert.equal(safeText('x'.repeat(11), 10), `${'x'.repeat(9)}…`);
  });
});

test('never throws, never longer, never a control character; hostile lengths cost nothing', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 3_000 }), (text) => {
      const shown = safeText(text);
      assert.ok(shown.length <= 1_024);
      assert.doesNotMatch(shown, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e]/u);
    }),
  );
  for (const piece of ['a', 'Bearer ', 'eyJ', 'eyJaaaa.', 'https://', 'https://a@', 'token=', 'token :', '"\'', ' '])
    safeText(piece.repeat(200_000));
});

const WORDS = fc.constantFrom(
  'sha256:0a1b',
  'agents.weather',
  'the token',
  'token',
  ' ',
  '=',
  ':',
  '"',
  'Basic',
  'BEARER\t',
  'eyJhbGciOi',
  'eyj',
  '.',
  'http://a.example/b',
  'HTTPS://u@a',
  '?k=v',
  'x-api_key',
  'API-KEY: ',
  'hunter2hunter2',
  'A',
  '\n',
  'dpop ',
  'é',
  '\u200b',
  'Fri, 01 Jan 2027',
  'max-age=60',
);

test('what is not looked at closely is as it would be if it were', () => {
  fc.assert(
    fc.property(fc.array(WORDS, { maxLength: 12 }), (some) => {
      const text = some.join('');
      // A character that is not shown is reason enough to look closely.
      assert.equal(`${safeText(text)}\n?`, safeText(`${text}\n\u0001`));
    }),
  );
});

test('texts that are safe together are safe each by itself', () => {
  const texts = fc.array(
    fc.array(WORDS, { maxLength: 4 }).map((some) => some.join('')),
    { maxLength: 6 },
  );
  let safe = 0;
  fc.assert(
    fc.property(texts, (all) => {
      if (!areSafe(all)) return;
      safe += 1;
      assert.deepEqual(
        all.map((text) => safeText(text)),
        all,
      );
    }),
    { numRuns: 1_000 },
  );
  assert.ok(safe > 50, `${safe} of 1,000`);
  assert.equal(areSafe(['x'.repeat(1_024)]), true);
  assert.equal(areSafe(['x'.repeat(1_025)]), false);
  assert.equal(areSafe(['x'.repeat(512), 'x'.repeat(512)]), false);
  assert.equal(areSafe(['at https://a.example/card.json', '@']), true);
});

describe('a URL', () => {
  const cases: readonly (readonly [url: string, shown: string])[] = [
    ['https://a.example/card.json', 'https://a.example/card.json'],
    ['https://u:p@a.example:8443/card.json?k=v#f', 'https://a.example:8443/card.json'],
    ['http://[::1]:80/', 'http://[::1]/'],
    ['nonsense', ''],
    ['', ''],
  ];
  for (const [url, shown] of cases) test(url, () => assert.equal(safeUrl(url), shown));
});
