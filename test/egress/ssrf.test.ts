import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { classifyAddress } from '../../src/egress/addresses.ts';
import { permitTarget } from '../../src/egress/permit.ts';
import { orderFor, rig, ruleFor, scripted } from './harness.ts';
import { NOT_APPLICABLE } from './not-applicable.ts';

interface Case {
  readonly id: string;
  readonly title: string;
  readonly input: string;
  readonly layer: string;
  readonly expected: { readonly decision: 'allow' | 'refuse' };
  readonly dnsVariant?: string;
  readonly gen?: unknown;
}

const CASES = JSON.parse(
  readFileSync(new URL('../fixtures/attacks/ssrf.json', import.meta.url), 'utf8'),
) as readonly Case[];
/** The half of the HTTP table that is about what an origin answers. */
const even = (prefix: string, last: number): readonly string[] =>
  Array.from({ length: last / 2 }, (_, at) => `${prefix}-${2 * (at + 1)}`);
const RESPONSES = [...even('HTTP-UP', 26), ...even('HTTP-CT', 22)];

const rule = ruleFor(['https://agents.example.test', 'https://xn--exmple-cua.example.test'], {
  cleartext: false,
  unsafeAddresses: [],
});
const table = CASES.filter((one) => one.layer !== 'integration');

/** The address that an address case is about, bare or in a URL. */
const addressOf = (input: string): string => /^https:\/\/\[?([^\]]*?)\]?\/$/.exec(input)?.[1] ?? input;

describe('attack table: addresses', () => {
  for (const one of table.filter(({ layer }) => layer === 'unit-ip')) {
    test(`${one.id} ${one.title}`, async () => {
      const address = addressOf(one.input);
      assert.equal(classifyAddress(address).allowed, one.expected.decision === 'allow');
      if (one.dnsVariant === undefined) return;
      const { fetcher } = rig({ resolver: scripted({ 'pin.example.test': [[address]] }) });
      const result = await fetcher.fetch(
        orderFor('https://pin.example.test/', { rule: ruleFor(['https://pin.example.test'], { unsafeAddresses: [] }) }),
      );
      assert.ok(!result.ok);
      assert.equal(result.refusal.code, 'address-forbidden');
      assert.deepEqual(result.trail.addresses, []);
    });
  }
});

describe('attack table: URLs and names', () => {
  for (const one of table.filter(({ layer }) => layer !== 'unit-ip')) {
    test(`${one.id} ${one.title}`, async () => {
      const url = one.gen === undefined ? one.input : `https://agents.example.test/${'a'.repeat(8192)}`;
      assert.equal(permitTarget(url, rule).ok, one.expected.decision === 'allow');
      if (one.expected.decision === 'allow') return;
      const resolver = scripted({});
      const result = await rig({ resolver }).fetcher.fetch(orderFor(url, { rule }));
      assert.ok(!result.ok);
      assert.ok(['origin-not-allowed', 'lookalike-origin', 'address-forbidden'].includes(result.refusal.code));
      assert.deepEqual(resolver.asked, [], 'nothing is asked of DNS about a name that is not allowed');
    });
  }
});

test('every attack case is a test here or has a reason', () => {
  const texts = readdirSync(import.meta.dirname)
    .filter((name) => name.endsWith('.test.ts') && name !== 'ssrf.test.ts')
    .map((name) => readFileSync(`${import.meta.dirname}/${name}`, 'utf8'))
    .join('\n');
  const answers = RESPONSES.map((id) => ({ id, layer: 'integration' }));
  const missing = [...CASES, ...answers]
    .filter(({ layer }) => layer === 'integration')
    .map(({ id }) => id)
    .filter((id) => NOT_APPLICABLE[id] === undefined && !new RegExp(`\\b${id}\\b`).test(texts));
  assert.deepEqual(missing, []);
});
