import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { canonicalizeAgentCard } from '@a2a-js/sdk';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { canonicalCard, FORM_NAMES } from '../../src/card/canonical.ts';
import { byCodePoint, pythonJson } from '../../src/card/python-json.ts';
import { scanJson } from '../../src/card/scan.ts';
import { card10, scannedObject } from './support.ts';

const jcs = (text: string): string => canonicalCard(scannedObject(text), 'jcs').text;
const inForm = (card: unknown, form: (typeof FORM_NAMES)[number]): string =>
  canonicalCard(scannedObject(card), form).text;

describe('RFC 8785', () => {
  // The number samples of appendix B that JSON text can hold, as IEEE 754 bits.
  const numbers: readonly (readonly [string, string])[] = [
    ['0000000000000000', '0'],
    ['8000000000000000', '0'],
    ['0000000000000001', '5e-324'],
    ['8000000000000001', '-5e-324'],
    ['7fefffffffffffff', '1.7976931348623157e+308'],
    ['ffefffffffffffff', '-1.7976931348623157e+308'],
    ['4340000000000000', '9007199254740992'],
    ['c340000000000000', '-9007199254740992'],
    ['4430000000000000', '295147905179352830000'],
    ['44b52d02c7e14af5', '9.999999999999997e+22'],
    ['44b52d02c7e14af6', '1e+23'],
    ['44b52d02c7e14af7', '1.0000000000000001e+23'],
    ['444b1ae4d6e2ef4e', '999999999999999700000'],
    ['444b1ae4d6e2ef4f', '999999999999999900000'],
    ['444b1ae4d6e2ef50', '1e+21'],
    ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
    ['3eb0c6f7a0b5ed8d', '0.000001'],
    ['41b3de4355555553', '333333333.3333332'],
    ['41b3de4355555554', '333333333.33333325'],
    ['41b3de4355555555', '333333333.3333333'],
    ['41b3de4355555556', '333333333.3333334'],
    ['41b3de4355555557', '333333333.33333343'],
    ['becbf647612f3696', '-0.0000033333333333333333'],
    ['43143ff3c1cb0959', '1424953923781206.2'],
  ];
  for (const [bits, written] of numbers) {
    test(`${bits} is ${written}`, () => {
      const value = Buffer.from(bits, 'hex').readDoubleBE();
      assert.equal(jcs(`{"n":${value === 0 ? '-0' : String(value)}}`), `{"n":${written}}`);
    });
  }

  test('writes the same number alike however it is spelled', () => {
    assert.equal(
      jcs('{"n":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001]}'),
      '{"n":[333333333.3333333,1e+30,4.5,0.002,1e-27]}',
    );
  });

  test('orders names by UTF-16 code unit', () => {
    const names = ['\u20ac', '\r', '\ufb33', '1', '\u{1f600}', '\u0080', '\u00f6'];
    const text = JSON.stringify(Object.fromEntries(names.map((name, index) => [name, index])));
    const order = ['\r', '1', '\u0080', '\u00f6', '\u20ac', '\u{1f600}', '\ufb33'];
    assert.deepEqual(Object.keys(JSON.parse(jcs(text.replace('{', '{"z":0,')))), [
      '1',
      ...order.filter((one) => one !== '1').toSpliced(1, 0, 'z'),
    ]);
    assert.match(jcs(text), /^\{"\\r":1,"1":3,"\u0080":5,"ö":6,"€":0,"😀":4,"\ufb33":2\}$/);
  });

  test('escapes what must be and nothing else, without normalising', () => {
    assert.equal(
      jcs('{"s":"\\u20ac$\\u000f\\nA\'\\u0042\\u0022\\u005c\\\\\\"\\/"}'),
      '{"s":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
    assert.notEqual(jcs('{"s":"\u00e9"}'), jcs('{"s":"e\u0301"}'));
  });
});

describe("the specification's form (A2A 1.0 §8.4.1)", () => {
  const cases: readonly (readonly [string, Record<string, unknown>, string, string])[] = [
    ['REQUIRED members stay at their default', { description: '', skills: [] }, 'description,skills', ''],
    [
      'members with presence stay at their default',
      { documentationUrl: '', iconUrl: '' },
      'documentationUrl,iconUrl',
      '',
    ],
    [
      'other members at their default are left out',
      { securitySchemes: {}, securityRequirements: [] },
      '',
      'securitySchemes,securityRequirements',
    ],
    ['null is left out', { provider: null, iconUrl: null }, '', 'provider,iconUrl'],
    ['an empty message is set', { provider: {} }, 'provider', ''],
    ['unknown members stay as they are', { 'x-a': null, 'x-b': [] }, 'x-a,x-b', ''],
  ];
  for (const [name, over, kept, left] of cases) {
    test(name, () => {
      const form = JSON.parse(inForm(card10(over), 'a2a-1.0'));
      for (const one of kept.split(',').filter(Boolean)) assert.ok(one in form, one);
      for (const one of left.split(',').filter(Boolean)) assert.ok(!(one in form), one);
    });
  }

  test("the specification's own example", () => {
    const card = {
      name: 'Example Agent',
      description: '',
      capabilities: { streaming: false, pushNotifications: false, extensions: [] },
      skills: [],
    };
    assert.equal(
      inForm(card, 'a2a-1.0'),
      '{"capabilities":{"pushNotifications":false,"streaming":false},"description":"","name":"Example Agent","skills":[]}',
    );
  });

  test('only the top-level signatures are outside', () => {
    const form = inForm(card10({ signatures: [{}], skills: [{ id: 'a', signatures: ['kept'] }] }), 'a2a-1.0');
    assert.ok(form.includes('"signatures":["kept"]') && !form.includes('[{}]'));
  });
});

describe("Python's JSON", () => {
  const doubles: readonly (readonly [number, string])[] = [
    [0, '0.0'],
    [-0, '-0.0'],
    [1, '1.0'],
    [-1.5, '-1.5'],
    [0.1, '0.1'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [123456.789, '123456.789'],
    [1e15, '1000000000000000.0'],
    [9999999999999998, '9999999999999998.0'],
    [1e16, '1e+16'],
    [1.5e16, '1.5e+16'],
    [1e21, '1e+21'],
    [1e100, '1e+100'],
    [5e-324, '5e-324'],
    [1.7976931348623157e308, '1.7976931348623157e+308'],
  ];
  for (const [value, written] of doubles) {
    test(`the double ${written}`, () => assert.equal(pythonJson(value, 'doubles'), written));
  }
  test('integers of its own', () => {
    assert.equal(pythonJson([1, 1e20, 1.5], 'integers'), '[1,100000000000000000000,1.5]');
  });
  test('ASCII alone', () => {
    assert.equal(pythonJson('é\u007f\u2028😂"\\/', 'doubles'), '"\\u00e9\\u007f\\u2028\\ud83d\\ude02\\"\\\\/"');
  });
  test('names by code point', () => {
    assert.deepEqual(['\u{1f600}', '\ufb33', 'b', 'a', 'ab'].toSorted(byCodePoint), [
      'a',
      'ab',
      'b',
      '\ufb33',
      '\u{1f600}',
    ]);
    assert.equal(pythonJson({ '\u{1f600}': 1, '\ufb33': 2 }, 'integers'), '{"\\ufb33":2,"\\ud83d\\ude00":1}');
  });
  test('doubles read back as what they were', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        assert.equal(Number(pythonJson(value, 'doubles')), value);
      }),
    );
  });
});

/** Texts, some of them empty; values for extension parameters; whole cards of known and unknown members. */
const text = fc.oneof({ weight: 4, arbitrary: fc.string({ maxLength: 6 }) }, fc.constant(''));
const texts = fc.array(text, { maxLength: 3 });
const struct = fc.dictionary(
  fc.string({ minLength: 1, maxLength: 3 }).filter((name) => name !== '__proto__'),
  fc.jsonValue({ maxDepth: 3 }),
  { maxKeys: 3 },
);
const scopes = fc.dictionary(fc.constantFrom('api', 'oauth'), fc.record({ list: texts }));
const card = fc.record(
  {
    name: text,
    description: text,
    version: text,
    iconUrl: text,
    supportedInterfaces: fc.array(
      fc.record({ url: text, protocolBinding: text, tenant: text, protocolVersion: text }, { requiredKeys: [] }),
      { maxLength: 2 },
    ),
    provider: fc.record({ url: text, organization: text }, { requiredKeys: [] }),
    capabilities: fc.record(
      {
        streaming: fc.boolean(),
        extendedAgentCard: fc.boolean(),
        extensions: fc.array(fc.record({ uri: text, required: fc.boolean(), params: struct }, { requiredKeys: [] }), {
          maxLength: 2,
        }),
      },
      { requiredKeys: [] },
    ),
    securitySchemes: fc.dictionary(
      fc.constantFrom('api', 'oauth'),
      fc.oneof(
        fc.record({ apiKeySecurityScheme: fc.record({ name: text, location: text, description: text }) }),
        fc.record({ mtlsSecurityScheme: fc.record({ description: text }) }),
        fc.record({
          oauth2SecurityScheme: fc.record({
            flows: fc.record({
              clientCredentials: fc.record({ tokenUrl: text, scopes: fc.dictionary(text, text, { maxKeys: 2 }) }),
            }),
          }),
        }),
      ),
    ),
    securityRequirements: fc.array(fc.record({ schemes: scopes }), { maxLength: 2 }),
    defaultInputModes: texts,
    skills: fc.array(
      fc.record({ id: text, name: text, tags: texts, examples: texts, 'x-unknown': text }, { requiredKeys: [] }),
      { maxLength: 2 },
    ),
    'x-unknown': fc.jsonValue({ maxDepth: 2 }),
  },
  { requiredKeys: [] },
);

const isScannable = (value: unknown): boolean => scanJson(JSON.stringify(value), 64).ok;

describe('every form', () => {
  test('sdk-js is what the JavaScript SDK signs', () => {
    fc.assert(
      fc.property(card.filter(isScannable), (one) => {
        assert.equal(inForm(one, 'sdk-js'), canonicalizeAgentCard(JSON.parse(JSON.stringify(one))));
      }),
      { numRuns: 500 },
    );
  });

  test('is stable under the order of names and white space', () => {
    fc.assert(
      fc.property(card.filter(isScannable), (one) => {
        for (const form of FORM_NAMES) {
          assert.equal(
            inForm(one, form),
            canonicalCard(scannedObject(JSON.stringify(reversed(one), null, '\t')), form).text,
          );
        }
      }),
    );
  });

  test('never throws on any JSON object', () => {
    const names = fc.constantFrom(
      'name',
      'skills',
      'capabilities',
      'securitySchemes',
      'securityRequirements',
      'security',
      'schemes',
      'flows',
      'scheme',
      '$case',
      'type',
      'x',
    );
    const { any } = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 5 },
        fc.string(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.constantFrom(null, true, 'oauth2', 'apiKeySecurityScheme'),
        fc.array(tie('any'), { maxLength: 3 }),
        fc.dictionary(names, tie('any'), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(names, any).filter(isScannable), (one) => {
        for (const form of FORM_NAMES) canonicalCard(scannedObject(one), form);
      }),
      { numRuns: 1000 },
    );
  });

  test('reading what a form writes and writing it again changes nothing', () => {
    fc.assert(
      fc.property(card.filter(isScannable), (one) => {
        for (const form of FORM_NAMES) {
          const text1 = inForm(one, form);
          assert.equal(inForm(text1, form), text1, form);
        }
      }),
    );
  });

  test('is called plain where it writes RFC 8785 of all but the signatures, and nowhere else', () => {
    fc.assert(
      fc.property(card.filter(isScannable), (one) => {
        const [bare, signed] = [scannedObject(one), scannedObject({ ...one, signatures: [{}] })];
        const jcsOfBare = canonicalize(bare);
        for (const each of [bare, signed]) {
          assert.ok(canonicalCard(each, 'jcs').isPlain);
          const written = canonicalCard(each, 'a2a-1.0');
          assert.equal(written.isPlain, written.text === jcsOfBare);
        }
      }),
    );
  });

  test('what a form leaves out is empty or listed: with all of it dropped, RFC 8785 of the rest says the same', async () => {
    const { withoutPointers } = await import('../../src/card/coverage.ts');
    fc.assert(
      fc.property(card.filter(isScannable), (one) => {
        for (const form of FORM_NAMES) {
          const whole = canonicalCard(scannedObject(one), form);
          const rest = withoutPointers(scannedObject(one), new Set(whole.left.map(({ pointer }) => pointer)));
          assert.equal(canonicalCard(rest, form).text, whole.text, form);
        }
      }),
    );
  });
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, item]) => [name, reversed(item)]),
  );
}
