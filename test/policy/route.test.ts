import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { agentName, listenerName } from '../../src/kernel/ids.ts';
import { type Route, buildRoutes } from '../../src/policy/route.ts';
import { exampleRules } from '../support/rules.ts';

const AGENTS = listenerName('agents');
const routes = buildRoutes(exampleRules());

const named = (route: Route): string => {
  switch (route.to) {
    case 'card':
    case 'origin-card':
    case 'operation':
      return `${route.to} ${route.agent.name}`;
    case 'origin':
      return `origin ${route.rule.name}`;
    case 'agents':
    case 'catalog':
    case 'keys':
    case 'logout':
      return route.to;
    case 'problem':
      return `problem ${route.code}`;
    case 'nowhere':
      return route.refusal.code;
  }
};

describe('routes of the agents listener', () => {
  const cases: readonly (readonly [target: string, to: string])[] = [
    ['/agents/weather/.well-known/agent-card.json', 'card weather'],
    ['/logout', 'logout'],
    ['/logout/', 'not-found'],
    ['/agents/weather/.well-known/agent.json', 'card weather'],
    ['/agents/weather/.well-known/agent-card.json?A2A-Version=1.0', 'card weather'],
    ['/agents/weather/.well-known/agent-card.json?', 'card weather'],
    ['/agents', 'agents'],
    ['/agents?x=1', 'agents'],
    ['/.well-known/ai-catalog.json', 'catalog'],
    ['/.well-known/ai-catalog.json?x=1', 'catalog'],
    ['/.well-known/ai-catalog', 'not-found'],
    ['/.well-known/ai-catalog.json/', 'not-found'],
    ['/problems/killed', 'problem killed'],
    ['/problems/', 'problem '],
    ['/agents/weather', 'operation weather'],
    ['/agents/weather/', 'operation weather'],
    ['/agents/weather/message:send', 'operation weather'],
    ['/agents/weather/tenant/tasks/1', 'operation weather'],
    ['/agents/weather/.well-known/jwks.json', 'not-found'],
    ['/agents/stranger/.well-known/agent-card.json', 'unknown-agent'],
    ['/agents/.well-known/agent-card.json', 'unknown-agent'],
    ['/agents/', 'unknown-agent'],
    ['/', 'not-found'],
    ['/.well-known/agent-card.json', 'not-found'],
    // one spelling per card: nothing is decoded, folded or resolved
    ['/agents/Weather/.well-known/agent-card.json', 'unknown-agent'],
    ['/agents/%77eather/.well-known/agent-card.json', 'unknown-agent'],
    ['/agents/weather/%2ewell-known/agent-card.json', 'operation weather'],
    ['/agents/weather/../planner/.well-known/agent-card.json', 'operation weather'],
    ['/agents//weather/.well-known/agent-card.json', 'unknown-agent'],
    ['//agents/weather/.well-known/agent-card.json', 'not-found'],
    ['/agents\\weather/.well-known/agent-card.json', 'not-found'],
    ['/agents/weather/.well-known/agent-card.json/', 'not-found'],
    ['/agents/__proto__/.well-known/agent-card.json', 'unknown-agent'],
  ];
  for (const [target, to] of cases) {
    test(`${target} → ${to}`, () => assert.equal(named(routes.route(AGENTS, target)), to));
  }

  test('a base URL that lost its last segment is told so', () => {
    const route = routes.route(AGENTS, '/agents/.well-known/agent-card.json');
    assert.ok(route.to === 'nowhere' && route.refusal.detail.includes('trailing "/"'));
  });
});

describe("an agent's own listener", () => {
  const planner = listenerName('planner');
  const cases: readonly (readonly [target: string, to: string])[] = [
    ['/.well-known/agent-card.json', 'card planner'],
    ['/.well-known/agent.json?x', 'card planner'],
    ['/', 'operation planner'],
    ['/message:stream', 'operation planner'],
    ['/problems/not-routed', 'problem not-routed'],
    ['/agents/weather/.well-known/agent-card.json', 'operation planner'],
  ];
  for (const [target, to] of cases) {
    test(`${target} → ${to}`, () => assert.equal(named(routes.route(planner, target)), to));
  }
});

test("an origin's own listener passes every target", () => {
  const listener = listenerName('origin:https://idp.example.com');
  for (const target of ['/', '/agents', '/a/../b?c', '//x']) {
    assert.equal(named(routes.route(listener, target)), 'origin origins[0]');
  }
});

test('a listener that is gone serves nothing', () => {
  assert.equal(named(routes.route(listenerName('gone'), '/agents')), 'not-found');
  assert.equal(
    buildRoutes(exampleRules({ agents: [] })).route(AGENTS, `/agents/${agentName('weather')}/`).to,
    'nowhere',
  );
});
