import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { agentName, listenerName, policyDigest, urlId } from '../../src/kernel/ids.ts';
import { bytes, ms } from '../../src/kernel/units.ts';
import { keepUnchanged } from '../../src/policy/keep-unchanged.ts';
import type { AgentRule, KeySetRule, OriginRule, Rules } from '../../src/policy/rules.ts';
import { exampleAgent, exampleRules } from '../support/rules.ts';

const document = (text: string): KeySetRule => ({
  name: 'local',
  jku: null,
  source: { from: 'document', document: new TextEncoder().encode(text) },
  revoked: [],
});

/** Rules of their own, as a configuration that was read anew gives them. */
function rules(over: Partial<AgentRule> = {}, keys = '{"keys":[]}'): Rules {
  const set = document(keys);
  const agents = [exampleAgent('weather', { keySets: [set], ...over }), exampleAgent('planner')];
  return structuredClone({ ...exampleRules({ agents }), keySets: [set] });
}

const weather = ({ agents }: Rules): AgentRule | undefined => agents.get(agentName('weather'));
const planner = ({ agents }: Rules): AgentRule | undefined => agents.get(agentName('planner'));
const idp = ({ listeners }: Rules): OriginRule | undefined => {
  const role = listeners.get(listenerName('origin:https://idp.example.com'));
  return role?.serves === 'origin' ? role.origin : undefined;
};

test('what says the same is the same object, at every place where it stands', () => {
  const before = rules();
  const kept = keepUnchanged(before, rules());
  assert.notEqual(kept.agents, before.agents); // metrics tell a reload by it
  assert.equal(weather(kept), weather(before));
  assert.equal(planner(kept), planner(before));
  assert.equal(kept.origins[0], before.origins[0]);
  assert.equal(idp(kept), before.origins[0]);
  assert.equal(kept.keySets[0], before.keySets[0]);
});

describe('one agent that changed is another object, and the others stay', () => {
  const changes: readonly (readonly [name: string, over: Partial<AgentRule>, keys?: string])[] = [
    ['its URLs', { cards: [urlId('https://weather.example.com/card')] }],
    ['their order', { cards: [...exampleAgent('weather').cards].toReversed() }],
    ['its caching', { cache: { ...exampleAgent('weather').cache, maxStale: ms(0) } }],
    ['its policy', { policy: policyDigest('another') }],
    ['an address', { egress: { ...exampleAgent('weather').egress, unsafeAddresses: ['127.0.0.1/32'] as never } }],
    ['no keys', { keySets: [] }],
    ['a byte of its keys', {}, '{"keys":[ ]}'],
  ];
  for (const [name, over, keys] of changes) {
    test(name, () => {
      const before = rules();
      const next = rules(over, keys);
      const kept = keepUnchanged(before, next);
      assert.notEqual(weather(kept), weather(before));
      assert.deepEqual(weather(kept), weather(next));
      assert.equal(planner(kept), planner(before));
      for (const set of weather(kept)?.keySets ?? []) assert.ok(kept.keySets.includes(set));
    });
  }
});

test('a rule for an origin that changed is what its listener serves', () => {
  const before = rules();
  const next = rules();
  const [origin] = next.origins;
  assert.ok(origin);
  const changed = { ...origin, cache: { ...origin.cache, defaultTtl: ms(1) } };
  const given: Rules = {
    ...next,
    origins: [changed],
    listeners: new Map([[listenerName('origin:https://idp.example.com'), { serves: 'origin', origin: changed }]]),
  };
  const kept = keepUnchanged(before, given);
  assert.equal(kept.origins[0], changed);
  assert.equal(idp(kept), changed);
});

test('everything else is that of the new snapshot', () => {
  const next = { ...rules(), digest: 'other', limits: { ...rules().limits, cardBytes: bytes(9) } };
  const kept = keepUnchanged(rules(), next);
  assert.equal(kept.digest, 'other');
  assert.equal(kept.limits.cardBytes, 9);
});
