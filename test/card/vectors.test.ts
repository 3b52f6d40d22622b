import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { FormName } from '../../src/card/canonical.ts';
import { canonicalCard } from '../../src/card/canonical.ts';
import type { Json } from '../../src/card/json.ts';
import { isArray, isObject } from '../../src/card/json.ts';
import { sharedPath } from '../support/shared.ts';
import { judge, keySet, scannedObject } from './support.ts';

interface Vector {
  readonly id: string;
  readonly served_card: Readonly<Record<string, unknown>>;
  readonly canonical_payload?: string;
}

interface VectorFile {
  readonly vectors: readonly Vector[];
  readonly public_jwks?: unknown;
  readonly test_key?: { readonly jwk: unknown };
}

const ours = (name: string): VectorFile =>
  JSON.parse(readFileSync(new URL(`../fixtures/vectors/${name}`, import.meta.url), 'utf8'));

const theirs = (name: string): VectorFile | undefined => {
  const path = sharedPath(`vectors/${name}`);
  return path === undefined ? undefined : JSON.parse(readFileSync(path, 'utf8'));
};

const JS = ours('js130-signed-cards.json');
const PARAMS = '/capabilities/extensions/0/params';

/** A verdict: the form that a signature holds over and what is dropped; or why the card is less than verified, or refused. */
type Verdict =
  | { readonly form: FormName; readonly dropped?: readonly string[] }
  | { readonly uncovered: FormName; readonly missing: string }
  | { readonly refused: 'signature-invalid'; readonly names: string };

const holds = (form: FormName, ...dropped: readonly string[]): Verdict => ({
  form,
  ...(dropped.length > 0 ? { dropped } : {}),
});
const emptied = [
  'emptyString',
  'emptyList',
  'emptyObject',
  'nil',
  'nested/a',
  'nested/b/0',
  'nested/b/1',
  'nested/b/2',
  'nested/c',
].map((name) => `${PARAMS}/${name}`);

const TABLE: Readonly<Record<string, Verdict>> = {
  'js130-wire-minimal-ES256': holds('a2a-1.0'),
  'js130-wire-required-empty-description-ES256': holds('sdk-js'),
  'js130-wire-required-empty-arrays-ES256': holds('sdk-js'),
  'js130-wire-required-empty-tags-ES256': holds('sdk-js'),
  'js130-wire-capabilities-empty-object-ES256': holds('sdk-js'),
  'js130-wire-optional-false-explicit-ES256': holds('a2a-1.0'),
  'js130-wire-optional-empty-string-ES256': holds('sdk-js'),
  'js130-wire-default-nonrequired-ES256': holds('a2a-1.0'),
  'js130-wire-extension-params-empties-ES256': holds('sdk-js', ...emptied),
  'js130-wire-extension-params-numbers-ES256': holds('a2a-1.0'),
  'js130-wire-unicode-values-ES256': holds('a2a-1.0'),
  'js130-wire-security-full-ES256': holds('a2a-1.0'),
  // An empty scheme vanishes from the payload; what requires it can neither be served as signed nor be dropped.
  'js130-wire-security-empty-scopes-ES256': { uncovered: 'sdk-js', missing: '/securitySchemes/mtls' },
  'js130-wire-unknown-fields-ES256': holds('a2a-1.0-known', '/skills/0/x-cost', '/x-vendor'),
  // `security` requires a scheme that the 1.0 members know nothing of.
  'js130-wire-hybrid-v03-v10-ES256': { uncovered: 'a2a-1.0-known', missing: '/security' },
  // Without `url` nobody could call the agent.
  'js130-wire-pure-v03-ES256': { uncovered: 'a2a-1.0-known', missing: '/url' },
  'js130-wire-snake-case-ES256': holds('sdk-js'),
  'js130-wire-null-members-ES256': holds('a2a-1.0'),
  'js130-header-no-typ': holds('a2a-1.0'),
  'js130-header-no-kid': holds('a2a-1.0'),
  'js130-header-jku': holds('a2a-1.0'),
  'js130-header-jku-null': holds('a2a-1.0'),
  'js130-header-unprotected-x': holds('a2a-1.0'),
  'js130-header-header-empty': holds('a2a-1.0'),
  'js130-header-crit-unknown': { refused: 'signature-invalid', names: '"crit"' },
  'js130-header-der-signature': { refused: 'signature-invalid', names: 'this one has 71' },
  'js130-header-multi-first-invalid': holds('a2a-1.0'),
  'js130-header-alg-none': { refused: 'signature-invalid', names: '"none"' },
  'js130-header-tampered-url': { refused: 'signature-invalid', names: 'does not hold' },
  'js130-header-tampered-unknown-added': holds('a2a-1.0-known', '/x-injected'),
  'py110-minimal-ES256': holds('a2a-1.0'),
  'py110-minimal-RS256': holds('a2a-1.0'),
  'py110-required-empty-arrays-ES256': holds('a2a-1.0'),
  'py110-capabilities-empty-object-ES256': holds('sdk-js'),
  'py110-optional-empty-string-ES256': holds('sdk-js'),
  'py110-extension-params-empties-ES256': holds('sdk-python-1.0', ...emptied),
  'py110-unicode-values-ES256': holds('sdk-python-1.0'),
  'py110-security-full-ES256': holds('a2a-1.0'),
  // The alternative that requires nothing is outside the payload: anyone could have added it.
  'py110-security-optional-anonymous-ES256': holds('sdk-js', '/securityRequirements/0'),
  'py110-unknown-fields-ES256': holds('a2a-1.0'),
  'py110-pure-v03-ES256': holds('a2a-1.0'),
  'py110-null-members-ES256': holds('a2a-1.0'),
  'py110-header-jku-null': holds('a2a-1.0'),
  'py110-header-typ-null': holds('a2a-1.0'),
  'py0326-typical-030': holds('sdk-python-0.3'),
  'py0326-spec-v0.3.0-card': holds('sdk-python-0.3'),
  'raw-minimal-ES256': holds('a2a-1.0'),
  'raw-required-empty-arrays-ES256': holds('a2a-1.0'),
  'raw-capabilities-empty-object-ES256': holds('a2a-1.0'),
  'raw-optional-empty-string-ES256': holds('a2a-1.0'),
  'served-default-nonrequired-ES256': holds('a2a-1.0'),
  'raw-extension-params-numbers-ES256': holds('a2a-1.0'),
  'raw-key-order-utf16-ES256': holds('a2a-1.0'),
  'raw-security-empty-scopes-ES256': holds('jcs'),
  'raw-security-optional-anonymous-ES256': holds('jcs'),
  'raw-oauth-scopes-empty-ES256': holds('a2a-1.0'),
  'raw-hybrid-v03-v10-ES256': holds('a2a-1.0'),
  // The payload holds members that the card does not: no SDK signs so, and nothing served could show it.
  'materialized-pure-v03-ES256': { refused: 'signature-invalid', names: 'does not hold' },
  'materialized-snake-case-ES256': { refused: 'signature-invalid', names: 'does not hold' },
  'served-null-members-ES256': holds('a2a-1.0'),
  'S0-001': holds('a2a-1.0'),
  'S0-002': holds('a2a-1.0'),
  'S0-003': holds('a2a-1.0'),
  'S0-004': holds('a2a-1.0'),
  'S0-REJECT-005': { refused: 'signature-invalid', names: 'does not hold' },
};

const keysOf = (file: VectorFile): unknown =>
  file.public_jwks ?? (file.test_key === undefined ? JS.public_jwks : { keys: [file.test_key.jwk] });

const FILES: readonly (readonly [string, VectorFile | undefined])[] = [
  ['js130-signed-cards.json', JS],
  ['py110-signed-cards.json', ours('py110-signed-cards.json')],
  ['raw-jcs-signed-cards.json', ours('raw-jcs-signed-cards.json')],
  ['py0326-emulated-signed-cards.json', theirs('py0326-emulated-signed-cards.json')],
  ['official-python-signing_interop_vectors.json', theirs('official-python-signing_interop_vectors.json')],
];

for (const [name, file] of FILES) {
  describe(name, { skip: file === undefined ? 'the vectors are not on this machine' : false }, () => {
    for (const vector of file?.vectors ?? []) {
      const verdict = TABLE[vector.id];
      test(`${vector.id}: ${JSON.stringify(verdict)}`, async () => {
        assert.ok(verdict !== undefined, 'the vector has a verdict');
        if (file !== undefined) await expectVerdict(vector, verdict, file);
      });
    }
  });
}

async function expectVerdict(vector: Vector, verdict: Verdict, file: VectorFile): Promise<void> {
  const keys = [await keySet('test', keysOf(file))];
  const text = JSON.stringify(vector.served_card);
  const lenient = await judge(text, { keys, rule: { keys: ['test'] } });
  const strict = await judge(text, { keys, rule: { keys: ['test'], signature: 'require' } });
  if ('refused' in verdict) {
    for (const outcome of [lenient, strict]) {
      assert.equal(outcome.ok ? 'accepted' : outcome.refusal.code, verdict.refused);
      assert.ok(
        !outcome.ok && outcome.refusal.detail.includes(verdict.names),
        outcome.ok ? '' : outcome.refusal.detail,
      );
    }
    return;
  }
  assert.ok(lenient.ok);
  const { signature, why, form, dropped } = lenient.value.verdict;
  if ('uncovered' in verdict) {
    assert.deepEqual([signature, why, form], ['unverified', 'uncovered', verdict.uncovered]);
    assert.equal(new TextDecoder().decode(lenient.value.body), text, 'served as it came');
    assert.ok(
      !strict.ok && strict.refusal.code === 'signature-invalid' && strict.refusal.detail.includes(verdict.missing),
    );
    return;
  }
  assert.deepEqual([signature, form], ['verified', verdict.form]);
  assert.deepEqual(new Set(dropped), new Set(verdict.dropped));
  assert.ok(strict.ok, 'verified under require too');
  if (dropped === undefined) assert.equal(new TextDecoder().decode(lenient.value.body), text, 'served as it came');
  else expectWithout(lenient.value.body, vector, dropped);
  if (vector.canonical_payload !== undefined) {
    assert.equal(canonicalCard(scannedObject(vector.served_card), verdict.form).text, vector.canonical_payload);
  }
}

/** What is served is judged again as a card of its own: nothing is left to drop, and the signature still holds. */
function expectWithout(body: Uint8Array, vector: Vector, dropped: readonly string[]): void {
  const served = new TextDecoder().decode(body);
  assert.notEqual(served, JSON.stringify(vector.served_card));
  for (const pointer of dropped) {
    const name = pointer.split('/').at(-1) ?? '';
    if (!/^\d+$/.test(name))
      assert.ok(!served.includes(`"${name}":`) || name === 'a' || name === 'c', `${name} is gone`);
  }
}

describe('tampering', () => {
  const vectors = FILES.flatMap(([, file]) => (file?.vectors ?? []).map((vector) => ({ vector, file })))
    .filter(({ vector }) => 'form' in (TABLE[vector.id] ?? {}))
    // One of each kind is enough of the many that differ in the header alone.
    .filter(({ vector }) => !vector.id.includes('-header-') && !vector.id.startsWith('S0-00'));

  for (const { vector, file } of vectors) {
    test(`${vector.id}: no text changed by one character is served as verified`, async () => {
      const keys = [await keySet('test', keysOf(file ?? JS))];
      const given = { keys, rule: { keys: ['test'], signature: 'require' } } as const;
      for (const { pointer, card } of mutations(vector.served_card)) {
        const outcome = await judge(card, given);
        if (!outcome.ok) continue;
        const served = new TextDecoder().decode(outcome.value.body);
        assert.ok(!served.includes(MARK), `${pointer} is served as verified though it was changed`);
      }
    });
  }
});

const MARK = '\u2622';

/** Every string of a card with one character more, `signatures` apart. */
function mutations(card: unknown): readonly { readonly pointer: string; readonly card: unknown }[] {
  const found: { pointer: string; card: unknown }[] = [];
  const visit = (value: Json, pointer: string, put: (replacement: Json) => Json): void => {
    if (typeof value === 'string') found.push({ pointer, card: put(`${value}${MARK}`) });
    else if (isArray(value)) {
      for (const [index, item] of value.entries()) {
        visit(item, `${pointer}/${index}`, (one) => put(value.map((other, at) => (at === index ? one : other))));
      }
    } else if (isObject(value)) {
      for (const [name, item] of Object.entries(value)) {
        if (pointer === '' && name === 'signatures') continue;
        visit(item, `${pointer}/${name}`, (one) => put({ ...value, [name]: one }));
      }
    }
  };
  visit(scannedObject(card), '', (one) => one);
  return found;
}
