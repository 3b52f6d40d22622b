import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { scanJson } from '../../src/card/scan.ts';
import { judge, words } from './support.ts';

const DEPTH = 8;
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

describe('strict JSON', () => {
  const faults: readonly (readonly [string, string, string])[] = [
    ['nothing', '', 'the document ends too early'],
    ['half a card', '{"name":"a"', '"," or "}" was expected'],
    ['a trailing comma in an object', '{"a":1,}', 'a member name in double quotes was expected'],
    ['a trailing comma in an array', '[1,]', 'no JSON value starts here'],
    ['a second document', '{} {}', 'there is more after the end of the document'],
    ['a comment', '{/*x*/}', 'a member name in double quotes was expected'],
    ['single quotes', "{'a':1}", 'a member name in double quotes was expected'],
    ['a duplicate', '{"a":1,"a":1}', 'the member "a" stands twice in one object'],
    ['a duplicate by escape', '{"name":1,"n\\u0061me":2}', 'the member "name" stands twice in one object'],
    ['__proto__', '{"__proto__":{}}', 'a member may not be named "__proto__"'],
    ['__proto__ by escape', '{"\\u005f_proto__":{}}', 'a member may not be named "__proto__"'],
    ['a lone high surrogate', '["\\ud800"]', 'a string holds half of a surrogate pair'],
    ['a lone low surrogate', '["a\\udc00b"]', 'a string holds half of a surrogate pair'],
    ['a lone surrogate in a name', '{"\\ud800":1}', 'a string holds half of a surrogate pair'],
    ['a raw control character', '["a\nb"]', 'a control character stands in a string'],
    ['an unknown escape', '["\\x41"]', 'a string holds an escape that JSON does not know'],
    ['a short escape', '["\\u00e"]', 'a string holds an escape that JSON does not know'],
    ['a string without end', '["abc', 'a string does not end'],
    ['overflow', '[1e309]', 'a number is one that a double cannot hold'],
    ['1e400', '{"x":1e400}', 'a number is one that a double cannot hold'],
    ['underflow to zero', '[2e-324]', 'a number is one that a double cannot hold'],
    ['2^53 + 1', '[9007199254740993]', 'a number is one that a double cannot hold'],
    ['a number of 401 digits', `[0.${'1'.repeat(399)}]`, 'a number is one that a double cannot hold'],
    ['a leading zero', '[01]', '"," or "]" was expected'],
    ['a plus sign', '[+1]', 'no JSON value starts here'],
    ['NaN', '[NaN]', 'no JSON value starts here'],
    ['a wrong word', '[nul]', 'no JSON value starts here'],
    ['50,001 values', `[${'0,'.repeat(49_999)}0]`, 'the document has more than 50000 values'],
    ['nine levels', nested(9), 'nesting is deeper than 8'],
    ['ten thousand levels', nested(10_000), 'nesting is deeper than 8'],
  ];
  for (const [name, text, what] of faults) {
    test(`refuses ${name}`, () => {
      const scan = scanJson(text, DEPTH);
      assert.equal(scan.ok, false);
      assert.equal(scan.ok ? '' : scan.fault.what, what);
    });
  }

  const sound: readonly (readonly [string, string, unknown])[] = [
    ['50,000 values', `[${'0,'.repeat(49_998)}0]`, JSON.parse(`[${'0,'.repeat(49_998)}0]`)],
    ['eight levels', nested(8), JSON.parse(nested(8))],
    ['a pair of surrogates', '["\\ud83d\\ude02"]', ['😂']],
    ['every escape', '["\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9"]', ['"\\/\b\f\n\r\té']],
    ['U+007F and U+2028 as they are', '["\u007f\u2028"]', ['\u007f\u2028']],
    ['the smallest double', '[5e-324]', [5e-324]],
    ['the largest double', '[1.7976931348623157e308]', [1.7976931348623157e308]],
    ['2^53', '[9007199254740992]', [9007199254740992]],
    ['a large integer in shortest digits', '[999999999999999900000]', [999999999999999900000]],
    ['a large integer in full', '[100000000000000000000]', [1e20]],
    ['a zero with an exponent', '[0e999,0.000]', [0, 0]],
    ['minus zero', '[-0]', [-0]],
    ['names of Object.prototype', '{"constructor":1,"toString":2}', { constructor: 1, toString: 2 }],
    ['white space of all four kinds', ' \t\r\n{ "a" : [ ] } ', { a: [] }],
  ];
  for (const [name, text, value] of sound) {
    test(`reads ${name}`, () => {
      const scan = scanJson(text, DEPTH);
      assert.ok(scan.ok);
      assert.equal(JSON.stringify(scan.value), JSON.stringify(value));
    });
  }

  test('says where it stopped', () => {
    const scan = scanJson('{\n  "a": 1,\n  "a": 2\n}', DEPTH);
    assert.deepEqual(scan.ok ? null : scan.fault, {
      line: 3,
      column: 3,
      what: 'the member "a" stands twice in one object',
    });
  });

  test("objects have no prototype, so a stranger's name reaches nothing", () => {
    const scan = scanJson('{"a":{}}', DEPTH);
    assert.ok(scan.ok);
    assert.equal(Object.getPrototypeOf(scan.value), null);
  });

  test('reads whatever JSON.stringify writes, as JSON.parse does', () => {
    const value = fc.jsonValue({ maxDepth: 6 }).filter((json) => !JSON.stringify(json).includes('__proto__'));
    fc.assert(
      fc.property(value, (json) => {
        const text = JSON.stringify(json);
        const scan = scanJson(text, 64);
        assert.ok(scan.ok || scan.fault.what.includes('surrogate'));
        if (scan.ok) assert.equal(JSON.stringify(scan.value), JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  test('never throws, and takes nothing that JSON.parse refuses', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom(...'{}[]",:\\u0e1-. \ntrue') }),
    );
    fc.assert(
      fc.property(text, (json) => {
        if (scanJson(json, DEPTH).ok) JSON.parse(json);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('bytes that are no card', () => {
  const cases: readonly (readonly [string, string | Uint8Array, string])[] = [
    ['a number', '1', 'card-invalid'],
    ['an array', '[]', 'card-invalid'],
    ['{}', '{}', 'card-invalid'],
    ['a page', '<!DOCTYPE html><html>', 'card-not-json'],
    ['a byte order mark', '\uFEFF{}', 'card-not-json'],
    ['half of UTF-8', Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x7d), 'card-not-json'],
    ['an overlong encoding', Uint8Array.of(0x22, 0xc0, 0x80, 0x22), 'card-not-json'],
    ['1 MiB and one byte', ' '.repeat(1_048_577), 'card-too-large'],
    ['1 MiB of white space', ' '.repeat(1_048_576), 'card-not-json'],
    ['ten thousand levels', nested(10_000), 'card-not-json'],
  ];
  for (const [name, body, code] of cases) {
    test(`${name}: ${code}`, async () => {
      const { admitCard } = await import('../../src/card/admit.ts');
      if (typeof body === 'string') return assert.equal(words(await judge(body)), code);
      const { RULE, NOW } = await import('./support.ts');
      const { urlId } = await import('../../src/kernel/ids.ts');
      const context = {
        url: urlId('https://a.example/c'),
        contentType: 'application/json',
        rule: RULE,
        keys: [],
        now: NOW,
      };
      assert.equal(words(await admitCard(body, context)), code);
    });
  }

  test('a page that calls itself JSON is told of the login', async () => {
    const outcome = await judge('<html>');
    assert.match(outcome.ok ? '' : outcome.refusal.detail, /Line 1, column 1.*login/);
  });
});

describe('the content type', () => {
  const cases: readonly (readonly [string | undefined, boolean])[] = [
    ['application/json', true],
    ['Application/JSON; charset=utf-8', true],
    ['application/a2a+json', true],
    ['application/vnd.example.card+json', true],
    ['application/jsonp', false],
    ['application/json+xml', false],
    ['text/json', false],
    ['text/plain', false],
    ['text/html; charset=utf-8', false],
    ['', false],
    [undefined, false],
  ];
  for (const [contentType, isTaken] of cases) {
    test(`${contentType ?? 'none'} is ${isTaken ? 'taken' : 'refused'}`, async () => {
      const outcome = await judge('{}', { contentType });
      assert.equal(words(outcome), isTaken ? 'card-invalid' : 'card-content-type');
    });
  }
});
