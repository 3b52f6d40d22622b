import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { keepSame } from '../../console/reader.js';
import { STATES, countStates, filterAgents, sortAgents, standsInNoRow, waitingCount } from '../../console/rows.js';
import type { AgentView } from '../../src/admin/ports.ts';
import { CARD_STATES } from '../../src/kernel/outcome.ts';
import { agent } from './agents.ts';

const names = (agents: readonly AgentView[]): readonly string[] => agents.map((each) => each.agent);

const AGENTS = [
  agent('weather', { state: 'fresh', freshUntil: 900, lastSuccess: 100 }),
  agent('planner', { state: 'held', freshUntil: 500, lastSuccess: 300, pending: { security: 2, 'skill-text': 1 } }),
  agent('agent-10', { state: 'missing', freshUntil: 0, lastSuccess: 0, error: 'dns-failed' }),
  agent('agent-2', { state: 'fresh', freshUntil: 700, lastSuccess: 200 }),
];

describe('which agents are shown', () => {
  const cases: readonly (readonly [name: string, state: string, text: string, found: readonly string[]])[] = [
    ['all', '', '', ['weather', 'planner', 'agent-10', 'agent-2']],
    ['of a state', 'fresh', '', ['weather', 'agent-2']],
    ['by a part of the name', '', 'AGENT-', ['agent-10', 'agent-2']],
    ['by a code of an error', '', 'dns', ['agent-10']],
    ['by a host', '', 'planner.example', ['planner']],
    ['every word counts', '', 'agent fresh', ['agent-2']],
    ['spaces are no words', '', '   ', ['weather', 'planner', 'agent-10', 'agent-2']],
    ['state and text', 'fresh', 'weather', ['weather']],
    ['none', '', 'nothing of this name', []],
  ];
  for (const [name, state, text, found] of cases)
    test(name, () => assert.deepEqual(names(filterAgents(AGENTS, { state, text })), found));

  test('states are counted', () => {
    assert.deepEqual(
      [...countStates(AGENTS)],
      [
        ['fresh', 2],
        ['held', 1],
        ['missing', 1],
      ],
    );
    assert.deepEqual([...countStates([])], []);
  });

  test('changes that wait are counted over their classes', () => {
    assert.deepEqual(
      AGENTS.map(({ pending }) => waitingCount(pending)),
      [0, 3, 0, 0],
    );
  });
});

describe('the order of agents', () => {
  const cases = [
    ['urgency', ['agent-10', 'planner', 'agent-2', 'weather']],
    ['agent', ['agent-2', 'agent-10', 'planner', 'weather']],
    ['fresh', ['agent-10', 'planner', 'agent-2', 'weather']],
    ['age', ['planner', 'agent-2', 'weather', 'agent-10']],
    ['review', ['planner', 'agent-2', 'agent-10', 'weather']],
    ['error', ['agent-10', 'agent-2', 'planner', 'weather']],
  ] as const;
  for (const [by, order] of cases)
    test(by, () => assert.deepEqual(names(sortAgents(AGENTS, { by, down: false })), order));

  test('turned around, names stay in their order', () => {
    assert.deepEqual(names(sortAgents(AGENTS, { by: 'urgency', down: true })), [
      'agent-2',
      'weather',
      'planner',
      'agent-10',
    ]);
  });

  test('the states are those of the daemon, the most urgent first', () => assert.deepEqual(STATES, CARD_STATES));
});

describe('what stays the same is kept', () => {
  const reply = (agents: readonly AgentView[]) => ({ ok: true, value: { agents } }) as const;

  test('the same answer is the same object', () => {
    const before = reply(AGENTS);
    assert.equal(keepSame(before, reply(structuredClone(AGENTS))), before);
  });

  test('of a list, only what differs is new', () => {
    const next = structuredClone(AGENTS).map((each) =>
      each.agent === 'planner' ? { ...each, state: 'fresh' as const } : each,
    );
    const kept = keepSame(reply(AGENTS), reply(next));
    assert.ok(kept.ok);
    const { agents } = kept.value as { agents: readonly AgentView[] };
    assert.deepEqual(
      agents.map((each, at) => each === AGENTS[at]),
      [true, false, true, true],
    );
    assert.equal(agents[1]?.state, 'fresh');
  });

  test('a problem takes the place of an answer, and an answer that of a problem', () => {
    const problem = { ok: false, problem: { status: 0, code: 'unreachable', detail: '' } } as const;
    assert.equal(keepSame(reply(AGENTS), problem), problem);
    const after = reply(AGENTS);
    assert.equal(keepSame(problem, after), after);
  });
});

describe('what waits stands beside the rows', () => {
  const cases = [
    ['a change of an agent, which its row counts', 'weather', ['skill-text'], false],
    ['a first card, which has no change', 'weather', [], true],
    ['a card without a name', 'https://a.example/card.json', ['skill-text'], true],
  ] as const;
  for (const [what, name, classes, isBeside] of cases)
    test(what, () => assert.equal(standsInNoRow({ agent: name, classes }), isBeside));
});
