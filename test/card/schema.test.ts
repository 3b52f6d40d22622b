import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { CARD_0_3 } from '../../src/card/schema/a2a-0.3.ts';
import { CARD_1_0 } from '../../src/card/schema/a2a-1.0.ts';
import { readRequirement } from '../../src/card/schema/requirements.ts';
import { readScheme } from '../../src/card/schema/schemes.ts';
import { CHANGE_CLASSES } from '../../src/kernel/change.ts';
import { validateCard } from '../../src/card/schema/validate.ts';
import { card03, card10, judge, scanned, scannedObject, words } from './support.ts';

/** A member changed, and what each level says of it; `details` is in the refusal. */
interface Case {
  readonly name: string;
  readonly card: Record<string, unknown>;
  readonly strict: string;
  readonly compatible: string;
  readonly detail?: string;
}

const OK10 = 'accepted 1.0 unsigned';
const OK03 = 'accepted 0.3 unsigned';
const skill = (over: Record<string, unknown>) =>
  card10({ skills: [{ id: 'a', name: 'a', description: 'd', tags: ['t'], ...over }] });
const { version: _v, ...withoutVersion } = card10();
const { name: _n, ...withoutName } = card10();

const CASES: readonly Case[] = [
  { name: 'a full card', card: card10(), strict: OK10, compatible: OK10 },
  { name: 'a full 0.3 card', card: card03(), strict: OK03, compatible: OK03 },
  {
    name: 'no version',
    card: withoutVersion,
    strict: 'card-invalid',
    compatible: OK10,
    detail: '/version: the member is required; found nothing',
  },
  {
    name: 'no name',
    card: withoutName,
    strict: 'card-invalid',
    compatible: 'card-invalid',
    detail: '/name: the member is required',
  },
  {
    name: 'an empty name',
    card: card10({ name: '' }),
    strict: 'card-invalid',
    compatible: 'card-invalid',
    detail: '/name',
  },
  {
    name: 'a number for a text',
    card: card10({ version: 1 }),
    strict: 'card-invalid',
    compatible: 'card-invalid',
    detail: '/version: a string; found a number',
  },
  {
    name: 'a word for a boolean',
    card: card10({ capabilities: { streaming: 'false' } }),
    strict: 'card-invalid',
    compatible: 'card-invalid',
    detail: '/capabilities/streaming: a boolean; found a string',
  },
  {
    name: 'null for an absent member',
    card: card10({ provider: null }),
    strict: 'card-invalid',
    compatible: OK10,
    detail: '/provider',
  },
  {
    name: 'null for a REQUIRED list',
    card: card10({ skills: null }),
    strict: 'card-invalid',
    compatible: OK10,
    detail: '/skills: the member is required; found null',
  },
  {
    name: 'no interface',
    card: card10({ supportedInterfaces: [] }),
    strict: 'card-invalid',
    compatible: 'card-invalid',
    detail: '/supportedInterfaces: at least one item',
  },
  {
    name: 'an interface without a binding',
    card: card10({ supportedInterfaces: [{ url: 'https://a.example/' }] }),
    strict: 'card-invalid',
    compatible: 'card-invalid',
    detail: '/supportedInterfaces/0/protocolBinding',
  },
  {
    name: 'an interface without a version',
    card: card10({ supportedInterfaces: [{ url: 'https://a.example/', protocolBinding: 'JSONRPC' }] }),
    strict: 'card-invalid',
    compatible: OK10,
    detail: '/supportedInterfaces/0/protocolVersion',
  },
  {
    name: 'snake case',
    card: { ...card10(), default_input_modes: ['a'], defaultInputModes: undefined },
    strict: 'card-invalid',
    compatible: OK10,
    detail: 'default_input_modes',
  },
  {
    name: 'both spellings, the same',
    card: card10({ default_input_modes: ['text/plain'] }),
    strict: 'card-invalid',
    compatible: OK10,
  },
  {
    name: 'both spellings, different',
    card: card10({ default_input_modes: ['text/html'] }),
    strict: 'card-ambiguous',
    compatible: 'card-ambiguous',
    detail: 'a member stands once',
  },
  { name: 'an unknown member', card: card10({ 'x-vendor': { any: [1] } }), strict: OK10, compatible: OK10 },
  {
    name: 'a skill that is a text',
    card: card10({ skills: ['a'] }),
    strict: 'card-invalid',
    compatible: 'card-invalid',
    detail: '/skills/0: an object; found a string',
  },
  {
    name: 'a tag that is a number',
    card: skill({ tags: [1] }),
    strict: 'card-invalid',
    compatible: 'card-invalid',
    detail: '/skills/0/tags/0',
  },
  {
    name: 'a skill without tags',
    card: skill({ tags: undefined }),
    strict: 'card-invalid',
    compatible: OK10,
    detail: '/skills/0/tags',
  },
  {
    name: 'an extension without a URI',
    card: card10({ capabilities: { extensions: [{ required: false }] } }),
    strict: 'card-invalid',
    compatible: 'card-invalid',
    detail: '/capabilities/extensions/0/uri',
  },
  {
    name: 'a key in a place unknown',
    card: card10({ securitySchemes: { k: { apiKeySecurityScheme: { location: 'body', name: 'x' } } } }),
    strict: 'card-invalid',
    compatible: OK10,
    detail: 'one of query, header, cookie; found "body"',
  },
  {
    name: 'a scheme of unknown type',
    card: card03({ securitySchemes: { k: { type: 'magic' } } }),
    strict: 'unknown-security-scheme',
    compatible: 'unknown-security-scheme',
    detail: '/securitySchemes/k',
  },
  {
    name: 'an empty scheme',
    card: card10({ securitySchemes: { k: {} } }),
    strict: 'unknown-security-scheme',
    compatible: 'unknown-security-scheme',
  },
  {
    name: 'a scheme of two kinds',
    card: card10({ securitySchemes: { k: { mtlsSecurityScheme: {}, httpAuthSecurityScheme: { scheme: 'bearer' } } } }),
    strict: 'card-ambiguous',
    compatible: 'card-ambiguous',
  },
  {
    name: '4096 skills',
    card: card10({
      skills: Array.from({ length: 4096 }, (_, id) => ({ id: `${id}`, name: 'n', description: 'd', tags: ['t'] })),
    }),
    strict: OK10,
    compatible: OK10,
  },
  {
    name: '4097 skills',
    card: card10({ skills: Array.from({ length: 4097 }, () => ({})) }),
    strict: 'card-invalid',
    compatible: 'card-invalid',
    detail: 'at most 4096 items; found 4097',
  },
  { name: 'a text of 65536', card: card10({ description: 'd'.repeat(65_536) }), strict: OK10, compatible: OK10 },
  {
    name: 'a text of 65537',
    card: card10({ description: 'd'.repeat(65_537) }),
    strict: 'card-invalid',
    compatible: 'card-invalid',
    detail: 'at most 65536 characters',
  },
  {
    name: 'a wrapped card',
    card: { agentCard: card10() },
    strict: 'card-invalid',
    compatible: 'card-invalid',
    detail: 'The member "agentCard" looks like the card',
  },
];

describe('the levels', () => {
  for (const { name, card, strict, compatible, detail } of CASES) {
    test(`${name}: strict ${strict}, compatible ${compatible}`, async () => {
      const [one, other] = [await judge(card, { rule: { schema: 'strict' } }), await judge(card)];
      assert.equal(words(one), strict);
      assert.equal(words(other), compatible);
      const refused = [one, other].find((outcome) => !outcome.ok);
      if (detail !== undefined)
        assert.ok(refused?.ok === false && refused.refusal.detail.includes(detail), JSON.stringify(refused));
      if (strict !== OK10 && other.ok)
        assert.ok(strict === OK03 || other.value.warnings.length > 0, 'what strict refuses is a warning');
    });
  }

  test("off takes what is not even that, and still no stranger's host", async () => {
    const card = { name: 7, supportedInterfaces: [{ url: 'https://evil.example/' }] };
    assert.equal(words(await judge(card, { rule: { schema: 'off' } })), OK10);
    assert.equal(
      words(await judge(card, { rule: { schema: 'off', interfaces: 'same-site' } })),
      'interface-not-allowed',
    );
  });

  test('findings are the same for the same card, and bounded', () => {
    const card = scannedObject(card10({ skills: Array.from({ length: 200 }, () => ({})) }));
    const findings = validateCard(card, CARD_1_0);
    assert.equal(findings.length, 50);
    assert.deepEqual(validateCard(card, CARD_1_0), findings);
  });

  test("a refusal never repeats the card's text at length", async () => {
    const outcome = await judge(card10({ securitySchemes: { k: { type: 'x'.repeat(500) } } }));
    assert.ok(!outcome.ok && outcome.refusal.detail.length < 300);
  });

  test('never throws on any JSON', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom('name', 'skills', 'capabilities', 'securitySchemes', 'supportedInterfaces', 'security'),
          fc.jsonValue(),
        ),
        (one) => {
          const text = JSON.stringify(one);
          if (text.includes('__proto__')) return;
          validateCard(scannedObject(text), CARD_1_0);
          validateCard(scannedObject(text), CARD_0_3);
        },
      ),
    );
  });

  test('every class of change that a member can have is a known one', () => {
    for (const table of [CARD_1_0, CARD_0_3]) {
      for (const { name, change } of table.members) assert.ok(CHANGE_CLASSES.includes(change), name);
    }
  });
});

describe('security requirements', () => {
  const cases: readonly (readonly [
    string,
    unknown,
    string | undefined,
    readonly (readonly [string, readonly string[]])[],
  ])[] = [
    ['1.0', { schemes: { a: { list: ['r'] } } }, 'wrapped', [['a', ['r']]]],
    ['1.0, no scopes', { schemes: { a: { list: [] } } }, 'wrapped', [['a', []]]],
    ['1.0, emptied', { schemes: { a: {} } }, 'wrapped', [['a', []]]],
    ['1.0, null', { schemes: { a: { list: null } } }, 'wrapped', [['a', []]]],
    ['Go', { schemes: { a: ['r'] } }, 'arrays', [['a', ['r']]]],
    [
      '0.3',
      { a: ['r'], b: [] },
      'plain',
      [
        ['a', ['r']],
        ['b', []],
      ],
    ],
    ["Go's nil in 0.3", { a: null }, 'plain', [['a', []]]],
    ['a 0.3 scheme called schemes', { schemes: ['r'] }, 'plain', [['schemes', ['r']]]],
    ['anonymous', {}, 'plain', []],
    ['anonymous, 1.0', { schemes: {} }, 'wrapped', []],
    ['two shapes at once', { schemes: { a: { list: [] } }, b: [] }, undefined, []],
    ['arrays and lists', { schemes: { a: ['r'], b: { list: [] } } }, undefined, []],
    ['scopes that are no texts', { a: [1] }, undefined, []],
    ['a text', 'a', undefined, []],
  ];
  for (const [name, value, shape, schemes] of cases) {
    test(name, () => {
      const requirement = readRequirement(scanned(JSON.stringify(value)));
      assert.equal(requirement?.shape, shape);
      if (requirement !== undefined) assert.deepEqual([...requirement.schemes], schemes);
    });
  }
});

describe('security schemes', () => {
  const cases: readonly (readonly [string, unknown, string])[] = [
    ['1.0', { apiKeySecurityScheme: { name: 'x' } }, 'wrapped apiKey'],
    ['protobuf names', { http_auth_security_scheme: { scheme: 'bearer' } }, 'snake http'],
    ['JavaScript', { scheme: { $case: 'oauth2SecurityScheme', value: {} } }, 'case oauth2'],
    ['0.3', { type: 'mutualTLS' }, 'typed mutualTLS'],
    ['0.3 http, whose scheme is a text', { type: 'http', scheme: 'bearer' }, 'typed http'],
    [
      'null beside',
      { openIdConnectSecurityScheme: { openIdConnectUrl: 'u' }, mtlsSecurityScheme: null },
      'wrapped openIdConnect',
    ],
    ['an unknown $case', { scheme: { $case: 'x', value: {} } }, 'unknown'],
    ['no type and no wrapper', { openIdConnectUrl: 'u' }, 'unknown'],
    ['two kinds', { type: 'http', apiKeySecurityScheme: {} }, 'several'],
    ['a text', 'bearer', 'unknown'],
  ];
  for (const [name, value, expected] of cases) {
    test(`${name}: ${expected}`, () => {
      const reading = readScheme(scanned(JSON.stringify(value)));
      assert.equal(reading.ok ? `${reading.scheme.shape} ${reading.scheme.type}` : reading.why, expected);
    });
  }
});
