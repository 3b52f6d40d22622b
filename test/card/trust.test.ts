import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { canonicalForms, FORM_NAMES } from '../../src/card/canonical.ts';
import { digestCard } from '../../src/card/digest.ts';
import { MAX_VERIFICATIONS, verifySignatures } from '../../src/card/signatures.ts';
import type { CardRule } from '../../src/kernel/card-rule.ts';
import { pair, signature, signed } from './signer.ts';
import { card03, card10, judge, keySet, NOW, scannedObject, words } from './support.ts';

const [k1, k2, stranger] = [await pair('k1'), await pair('k2', 'EdDSA'), await pair('s')];
const keys = [await keySet('own', { keys: [k1.publicJwk, k2.publicJwk] })];
const thumbprints = keys[0]?.keys.map(({ thumbprint }) => thumbprint) ?? [];
const rule = (over: Partial<CardRule> = {}): Partial<CardRule> => ({ keys: ['own'], ...over });
const VERIFIED = 'accepted 1.0 verified';

describe('what the rule demands', () => {
  const unsigned = card10();
  const cases: readonly (readonly [string, () => Promise<unknown>, Partial<CardRule>, string])[] = [
    ['off, unsigned', async () => unsigned, { signature: 'off' }, 'accepted 1.0 off'],
    ['off, by a stranger', () => signed(unsigned, stranger), { signature: 'off' }, 'accepted 1.0 off'],
    ['if-present, unsigned', async () => unsigned, { signature: 'if-present' }, 'accepted 1.0 unsigned'],
    [
      'if-present, an empty list',
      async () => ({ ...unsigned, signatures: [] }),
      { signature: 'if-present' },
      'accepted 1.0 unsigned',
    ],
    ['if-present, good', () => signed(unsigned, k1), { signature: 'if-present' }, VERIFIED],
    ['if-present, by a stranger', () => signed(unsigned, stranger), { signature: 'if-present' }, 'signature-untrusted'],
    [
      'if-present, no keys',
      () => signed(unsigned, k1),
      { signature: 'if-present', keys: [] },
      'accepted 1.0 unverified no-keys',
    ],
    ['require, no keys', () => signed(unsigned, k1), { signature: 'require', keys: [] }, 'signature-untrusted'],
    ['require, unsigned', async () => unsigned, { signature: 'require' }, 'signature-required'],
    ['require, good', () => signed(unsigned, k1), { signature: 'require' }, VERIFIED],
    [
      'require, changed',
      async () => ({ ...(await signed(unsigned, k1)), name: 'Evil' }),
      { signature: 'require' },
      'signature-invalid',
    ],
    [
      'require, of a set that was never had',
      () => signed(unsigned, k1),
      { signature: 'require', keys: ['other'] },
      'keys-unavailable',
    ],
  ];
  for (const [name, make, over, verdict] of cases) {
    test(`${name}: ${verdict}`, async () => {
      assert.equal(words(await judge(await make(), { rule: rule(over), keys })), verdict);
    });
  }

  for (const form of FORM_NAMES)
    test(`the digest names what is served, whatever form was signed: ${form}`, async () => {
      const requirements = { securityRequirements: [{ schemes: { key: { list: [] } } }] };
      for (const over of [{}, { documentationUrl: null }, { 'x-outside': 1 }, requirements]) {
        const outcome = await judge(await signed(card10(over), k1, { form }), { rule: rule(), keys });
        assert.ok(outcome.ok, outcome.ok ? '' : outcome.refusal.detail);
        const served = JSON.parse(new TextDecoder().decode(outcome.value.body));
        assert.equal(outcome.value.digest, digestCard(served));
      }
    });

  test('the verdict names key, algorithm, set and form', async () => {
    const outcome = await judge(await signed(card10(), k2), { rule: rule(), keys });
    assert.deepEqual(outcome.ok && outcome.value.verdict, {
      signature: 'verified',
      kid: 'k2',
      alg: 'EdDSA',
      keys: 'own',
      form: 'a2a-1.0',
    });
  });

  for (const alg of [
    'ES256',
    'ES384',
    'ES512',
    'EdDSA',
    'Ed25519',
    'RS256',
    'RS384',
    'RS512',
    'PS256',
    'PS384',
    'PS512',
  ]) {
    test(`${alg} verifies`, async () => {
      const by = await pair('key', alg);
      const set = await keySet('own', { keys: [by.publicJwk] });
      assert.equal(words(await judge(await signed(card10(), by), { rule: rule(), keys: [set] })), VERIFIED);
    });
  }
});

describe('a threshold of distinct keys', () => {
  const two = rule({ signatures: 2, signature: 'require' });
  test('two keys are two voices', async () => {
    const card = card10();
    const both = { ...card, signatures: [await signature(card, k1), await signature(card, k2)] };
    assert.equal(words(await judge(both, { rule: two, keys })), VERIFIED);
  });
  test('one key that signs twice is one voice, also under another name', async () => {
    const card = card10();
    const set = await keySet('own', { keys: [k1.publicJwk, { ...k1.publicJwk, kid: 'alias' }] });
    const twice = {
      ...card,
      signatures: [await signature(card, k1), await signature(card, k1, { header: { kid: 'alias' } })],
    };
    assert.equal(words(await judge(twice, { rule: two, keys: [set] })), 'signature-required');
  });
  test('what one of the two leaves out is dropped', async () => {
    const card = card10({ 'x-note': 'hello' });
    const both = {
      ...card,
      signatures: [await signature(card, k1), await signature(card, k2, { form: 'a2a-1.0-known' })],
    };
    const outcome = await judge(both, { rule: two, keys });
    assert.deepEqual(outcome.ok && outcome.value.verdict.dropped, ['/x-note']);
    const one = await judge(both, { rule: rule(), keys });
    assert.equal(outcome.ok && one.ok && one.value.verdict.dropped, undefined, 'for one voice the better one counts');
  });
});

describe('rotation and revocation', () => {
  test('a card by the old and the new key verifies through every step', async () => {
    const card = card10();
    const both = { ...card, signatures: [await signature(card, k1), await signature(card, k2)] };
    const steps = [
      await keySet('own', { keys: [k1.publicJwk] }),
      await keySet('own', { keys: [k1.publicJwk, k2.publicJwk] }),
      await keySet('own', { keys: [k1.publicJwk, k2.publicJwk] }, { revoked: ['k1'] }),
      await keySet('own', { keys: [k2.publicJwk] }),
    ];
    const kids: unknown[] = [];
    for (const step of steps) {
      const outcome = await judge(both, { rule: rule({ signature: 'require' }), keys: [step] });
      assert.equal(words(outcome), VERIFIED);
      kids.push(outcome.ok && outcome.value.verdict.kid);
    }
    assert.deepEqual(kids, ['k1', 'k1', 'k2', 'k2'], 'never by the revoked key');
  });
  for (const revoked of ['k1', thumbprints[0] ?? '']) {
    test(`a key revoked as ${revoked.length > 2 ? 'its thumbprint' : revoked} vouches for nothing`, async () => {
      const set = await keySet('own', { keys: [k1.publicJwk] }, { revoked: [revoked] });
      assert.equal(words(await judge(await signed(card10(), k1), { rule: rule(), keys: [set] })), 'key-revoked');
    });
  }
  test('a revoked name that is gone from the set is still called revoked', async () => {
    const set = await keySet('own', { keys: [k2.publicJwk] }, { revoked: ['k1'] });
    assert.equal(words(await judge(await signed(card10(), k1), { rule: rule(), keys: [set] })), 'key-revoked');
  });
  test('another set does not bring a key back that one revoked by thumbprint', async () => {
    const sets = [
      await keySet('own', { keys: [k1.publicJwk] }),
      await keySet('more', { keys: [] }, { revoked: [thumbprints[0] ?? ''] }),
    ];
    const outcome = await judge(await signed(card10(), k1), { rule: rule({ keys: ['own', 'more'] }), keys: sets });
    assert.equal(words(outcome), 'key-revoked');
  });
});

describe('what is served is what was signed', () => {
  const cases: readonly (readonly [
    string,
    Record<string, unknown>,
    Record<string, unknown>,
    string,
    readonly string[] | undefined,
  ])[] = [
    ['an empty value of a known member', {}, { documentationUrl: '', iconUrl: null }, VERIFIED, undefined],
    ['an unknown member', {}, { 'x-evil': 1 }, VERIFIED, ['/x-evil']],
    ['an unknown member that is null', {}, { 'x-evil': null }, VERIFIED, ['/x-evil']],
    ['an unknown member inside', {}, { provider: { url: '', organization: '', x: 1 } }, VERIFIED, ['/provider/x']],
    [
      'a url that repeats the interface',
      {},
      { url: 'https://agent.example.com/a2a/v1', preferredTransport: 'JSONRPC', protocolVersion: '0.3.0' },
      VERIFIED,
      undefined,
    ],
    [
      'an additional interface that repeats one',
      {},
      {
        url: 'https://agent.example.com/a2a/v1',
        additionalInterfaces: [{ url: 'https://agent.example.com/a2a/v1', transport: 'JSONRPC' }],
      },
      VERIFIED,
      undefined,
    ],
    [
      'a third member in an additional interface',
      {},
      {
        url: 'https://agent.example.com/a2a/v1',
        additionalInterfaces: [{ url: 'https://agent.example.com/a2a/v1', transport: 'JSONRPC', x: 1 }],
      },
      VERIFIED,
      ['/url', '/additionalInterfaces'],
    ],
    ['another url', {}, { url: 'https://evil.example/a2a' }, 'card-ambiguous', undefined],
    [
      'a protocol version with a tail',
      {},
      { url: 'https://agent.example.com/a2a/v1', protocolVersion: '0.3.0-obey' },
      VERIFIED,
      ['/protocolVersion'],
    ],
    [
      'an extended flag that repeats the capability',
      { capabilities: { extendedAgentCard: true } },
      { supportsAuthenticatedExtendedCard: true },
      VERIFIED,
      undefined,
    ],
    [
      'an extended flag of its own',
      {},
      { supportsAuthenticatedExtendedCard: true },
      VERIFIED,
      ['/supportsAuthenticatedExtendedCard'],
    ],
    ['a requirement of its own', {}, { security: [{ api: [] }] }, 'accepted 1.0 unverified uncovered', undefined],
    ['an empty requirement list', {}, { security: [] }, VERIFIED, ['/security']],
    [
      '0.2 authentication',
      {},
      { authentication: { schemes: ['bearer'] } },
      'accepted 1.0 unverified uncovered',
      undefined,
    ],
  ];
  for (const [name, signedWith, added, verdict, dropped] of cases) {
    test(`${name}: ${dropped === undefined ? verdict : `dropped ${dropped.join(' ')}`}`, async () => {
      const card = card10(signedWith);
      const served = { ...card, ...added, signatures: [await signature(card, k1, { form: 'sdk-js' })] };
      const outcome = await judge(served, { rule: rule(), keys });
      assert.equal(words(outcome), verdict);
      if (outcome.ok) assert.deepEqual(outcome.value.verdict.dropped, dropped);
      if (outcome.ok && dropped === undefined)
        assert.equal(new TextDecoder().decode(outcome.value.body), JSON.stringify(served));
    });
  }

  const api = { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } };
  const schemes: readonly (readonly [string, Record<string, unknown>, string, readonly string[] | undefined])[] = [
    [
      'a scheme without scopes, itself covered',
      { securitySchemes: { api }, securityRequirements: [{ schemes: { api: { list: [] } } }] },
      VERIFIED,
      undefined,
    ],
    [
      'an empty scheme that is required',
      { securitySchemes: { m: { mtlsSecurityScheme: {} } }, securityRequirements: [{ schemes: { m: { list: [] } } }] },
      'accepted 1.0 unverified uncovered',
      undefined,
    ],
    [
      'an empty scheme that nothing requires',
      { securitySchemes: { api, m: { mtlsSecurityScheme: {} } } },
      VERIFIED,
      ['/securitySchemes/m'],
    ],
    [
      'an alternative that requires nothing',
      { securitySchemes: { api }, securityRequirements: [{ schemes: {} }] },
      VERIFIED,
      ['/securityRequirements/0'],
    ],
    [
      "Go's array scopes, which the SDK does not read",
      { securitySchemes: { api }, securityRequirements: [{ schemes: { api: ['a'] } }] },
      'accepted 1.0 unverified uncovered',
      undefined,
    ],
    [
      'a member beside the scheme',
      { securitySchemes: { api: { ...api, x: 1 } } },
      VERIFIED,
      ['/securitySchemes/api/x'],
    ],
    [
      'a member beside $case',
      {
        securitySchemes: {
          api: { scheme: { $case: 'apiKeySecurityScheme', value: { name: 'n', location: 'header' }, x: 1 } },
        },
      },
      VERIFIED,
      ['/securitySchemes/api/scheme/x'],
    ],
    [
      'an empty tag',
      { skills: [{ id: 'a', name: 'a', description: 'd', tags: ['t', ''] }] },
      VERIFIED,
      ['/skills/0/tags/1'],
    ],
  ];
  for (const [name, over, verdict, dropped] of schemes) {
    test(`${name}: ${dropped === undefined ? verdict : `dropped ${dropped.join(' ')}`}`, async () => {
      const outcome = await judge(await signed(card10(over), k1, { form: 'sdk-js' }), { rule: rule(), keys });
      assert.equal(words(outcome), verdict);
      assert.deepEqual(outcome.ok && outcome.value.verdict.dropped, dropped);
    });
  }

  test('a member beside a list of scopes is no requirement that anyone reads', async () => {
    const over = { securitySchemes: { api }, securityRequirements: [{ schemes: { api: { list: ['a'], x: 1 } } }] };
    assert.equal(words(await judge(card10(over))), 'card-invalid');
  });

  test('the digest is of what is served, and signing again is no change', async () => {
    const card = card10();
    const plain = await judge(await signed(card, k1), { rule: rule(), keys });
    const noisy = await judge({ ...(await signed(card, k1)), 'x-evil': 1 }, { rule: rule(), keys });
    const unsigned = await judge(card, { rule: rule(), keys });
    assert.ok(plain.ok && noisy.ok && unsigned.ok);
    assert.equal(noisy.value.digest, plain.value.digest);
    assert.equal(unsigned.value.digest, plain.value.digest);
    assert.match(plain.value.digest, /^sha256:[0-9a-f]{64}$/);
  });

  test('uncovered: refuse makes any dropping a refusal', async () => {
    const served = { ...(await signed(card10(), k1)), 'x-evil': 1 };
    const outcome = await judge(served, { rule: rule({ uncovered: 'refuse' }), keys });
    assert.ok(
      !outcome.ok && outcome.refusal.code === 'signature-invalid' && outcome.refusal.detail.includes('/x-evil'),
    );
  });

  test('the type of a 0.3 scheme cannot be changed where little else proves it', async () => {
    const card = card03({ securitySchemes: { s: { type: 'mutualTLS', description: 'x' } } });
    const one = await signed(card, k1, { form: 'sdk-python-0.3' });
    assert.equal(words(await judge(one, { rule: rule(), keys })), 'accepted 0.3 verified');
    const changed = { ...one, securitySchemes: { s: { type: 'http', description: 'x' } } };
    for (const schema of ['compatible', 'off'] as const) {
      assert.equal(words(await judge(changed, { rule: rule({ schema }), keys })), 'signature-invalid');
    }
  });

  test('the 0.3 form covers no 1.0 members: without them the card is one of 0.3', async () => {
    const old = card03();
    const dual = {
      ...old,
      supportedInterfaces: [{ url: old['url'], protocolBinding: 'JSONRPC', protocolVersion: '0.3' }],
    };
    const outcome = await judge(
      { ...dual, signatures: [await signature(old, k1, { form: 'sdk-python-0.3' })] },
      { rule: rule(), keys },
    );
    assert.equal(words(outcome), 'accepted 0.3 verified');
    assert.ok(outcome.ok && !new TextDecoder().decode(outcome.value.body).includes('supportedInterfaces'));
  });
});

describe('bounds', () => {
  test('sixteen bad signatures cost at most the budget', async () => {
    const card = scannedObject(
      card10({ description: '', 'x-a': 'é', capabilities: { extensions: [{ uri: 'u', params: { n: 1 } }] } }),
    );
    const bad = await signature(card10({ name: 'Other' }), k1);
    const context = { rule: { keys: ['own'], jku: [] }, keys, now: NOW };
    const forms = [...canonicalForms(card, '1.0')];
    const report = await verifySignatures(
      Array.from({ length: 16 }, () => bad),
      forms,
      context,
    );
    assert.equal(report.matches.length, 0);
    assert.equal(report.verifications, 16 * forms.length);
    assert.ok(report.verifications <= MAX_VERIFICATIONS);
    const none = await verifySignatures(
      Array.from({ length: 17 }, () => bad),
      forms,
      context,
    );
    assert.equal(none.verifications, 0, 'one more, and nothing is tried');
  });

  test('malformed signatures cost no verification', async () => {
    const context = { rule: { keys: ['own'], jku: [] }, keys, now: NOW };
    const report = await verifySignatures(
      [{ protected: 'e30', signature: '' }],
      canonicalForms(scannedObject(card10()), '1.0'),
      context,
    );
    assert.equal(report.verifications, 0);
  });

  test('four keys of one name are tried, not a fifth', async () => {
    const others = await Promise.all(Array.from({ length: 4 }, () => pair('k1')));
    const set = (list: readonly { readonly publicJwk: unknown }[]) =>
      keySet('own', { keys: list.map(({ publicJwk }) => publicJwk) });
    const card = await signed(card10(), k1);
    const fourth = await set([...others.slice(0, 3), k1]);
    const fifth = await set([...others, k1]);
    assert.equal(words(await judge(card, { rule: rule(), keys: [fourth] })), VERIFIED);
    assert.equal(words(await judge(card, { rule: rule(), keys: [fifth] })), 'signature-invalid');
  });

  for (const [count, verdict] of [
    [64, VERIFIED],
    [65, 'signature-invalid'],
  ] as const) {
    test(`${count} members outside the signature: ${verdict}`, async () => {
      const added = Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-${index}`, 1]));
      assert.equal(words(await judge({ ...(await signed(card10(), k1)), ...added }, { rule: rule(), keys })), verdict);
    });
  }

  test('a name of a stranger is shown cut and in ASCII', async () => {
    const card = { ...(await signed(card10(), k1)), [`x\r\nSet-Cookie: é${'y'.repeat(5000)}`]: 1 };
    const outcome = await judge(card, { rule: rule(), keys });
    const [dropped] = (outcome.ok && outcome.value.verdict.dropped) || [];
    assert.match(dropped ?? '', /^\/x\\u000d\\u000aSet-Cookie: \\u00e9y+\.\.\.$/);
    assert.ok((dropped ?? '').length < 200);
  });

  for (const [bytes, isLong] of [
    [60_000, false],
    [70_000, true],
  ] as const) {
    test(`a card of ${bytes} bytes ${isLong ? 'lets others have their turn' : 'is admitted in one go'}, to the same end`, async () => {
      const card = await signed(card10({ 'x-more': 'd'.repeat(bytes) }), k1);
      let turns = 0;
      const turn = async (): Promise<void> => void (turns += 1);
      const inOne = await judge(card, { rule: rule(), keys });
      assert.deepEqual(await judge(card, { rule: rule(), keys, turn }), inOne);
      assert.equal(words(inOne), VERIFIED);
      assert.equal(turns > 3, isLong);
    });
  }

  test('a card of 1 MiB verifies', async () => {
    const skills = Array.from({ length: 4000 }, (_, index) => ({
      id: `s${index}`,
      name: 'n',
      description: 'd'.repeat(200),
      tags: ['t'],
    }));
    const card = await signed(card10({ skills }), k1);
    assert.ok(JSON.stringify(card).length < 1_048_576);
    assert.equal(words(await judge(card, { rule: rule(), keys })), VERIFIED);
  });
});
