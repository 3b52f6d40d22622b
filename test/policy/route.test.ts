import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type ListenerName, agentName, listenerName } from '../../src/kernel/ids.ts';
import { plainPrincipal } from '../../src/kernel/principal.ts';
import { type Asked, type Route, buildRoutes, routeFor } from '../../src/policy/route.ts';
import type { OriginRule } from '../../src/policy/rules.ts';
import { exampleAgent, exampleRules } from '../support/rules.ts';

const AGENTS = listenerName('agents');
const routes = buildRoutes(exampleRules());

const asked = (listener: ListenerName, target: string, more: Partial<Asked> = {}): Asked => ({
  listener,
  target,
  host: 'localhost',
  proxied: null,
  ...more,
});

const named = (route: Route): string => {
  switch (route.to) {
    case 'card':
    case 'origin-card':
    case 'operation':
      return `${route.to} ${route.agent.name}`;
    case 'origin':
      return `origin ${route.rule.name} ${route.url}`;
    case 'agents':
    case 'catalog':
    case 'keys':
    case 'logout':
      return route.to;
    case 'problem':
      return `problem ${route.code}`;
    case 'stranger':
      return route.why(null).code;
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
    test(`${target} → ${to}`, () => assert.equal(named(routes.route(asked(AGENTS, target))), to));
  }

  test('a base URL that lost its last segment is told so', () => {
    const route = routes.route(asked(AGENTS, '/agents/.well-known/agent-card.json'));
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
    test(`${target} → ${to}`, () => assert.equal(named(routes.route(asked(planner, target))), to));
  }
});

test("an origin's own listener passes every target", () => {
  const listener = listenerName('origin:https://idp.example.com');
  for (const target of ['/', '/agents', '/a/../b?c', '//x']) {
    assert.equal(named(routes.route(asked(listener, target))), `origin origins[0] https://idp.example.com${target}`);
  }
});

test('a listener that is gone serves nothing', () => {
  assert.equal(named(routes.route(asked(listenerName('gone'), '/agents'))), 'not-found');
  assert.equal(
    buildRoutes(exampleRules({ agents: [] })).route(asked(AGENTS, `/agents/${agentName('weather')}/`)).to,
    'nowhere',
  );
});

const rule = (index: number, match: OriginRule['match'], over: Partial<OriginRule>): OriginRule => {
  const name = `origins[${index}]`;
  const { egress, cache, policy } = exampleAgent('x');
  return {
    name,
    match,
    content: 'any',
    card: null,
    pins: new Map(),
    policy,
    egress: { ...egress, name },
    cache,
    ...over,
  };
};
const cards = exampleAgent('x');
const at = (host: string, over: Partial<OriginRule['match']> = {}): OriginRule['match'] => ({
  scheme: 'https',
  host,
  wildcard: false,
  port: 443,
  ...over,
});
const RULES = [
  rule(0, at('cards.example'), { content: 'card', card: cards }),
  rule(1, at('cards.example', { port: 8443 }), { content: 'card', card: cards }),
  rule(2, at('idp.example'), {}),
  rule(3, at('keys.example'), { content: 'none' }),
  rule(4, at('plain.example', { scheme: 'http', port: 80 }), { content: 'card', card: cards }),
  rule(5, at('many.example', { wildcard: true }), { content: 'card', card: cards }),
  rule(6, at('held.example', { wildcard: true }), { content: 'card', card: cards }),
  rule(7, at('127.0.0.1', { scheme: 'http', port: 9000 }), { content: 'card', card: cards }),
  rule(8, at('fd00::1'), { content: 'card', card: cards }),
  rule(9, at('one.many.example'), { content: 'none' }),
];
const doors = buildRoutes({
  ...exampleRules(),
  origins: RULES,
  aliases: new Map([['planner.internal', agentName('planner')]]),
});

describe('URLs below /origins/', () => {
  const cases: readonly (readonly [target: string, to: string])[] = [
    ['/origins/cards.example/a/card.json', 'card https://cards.example/a/card.json'],
    ['/origins/cards.example/', 'card https://cards.example/'],
    ['/origins/cards.example/a?b=c', 'card https://cards.example/a?b=c'],
    ['/origins/cards.example:8443/a', 'card https://cards.example:8443/a'],
    ['/origins/cards.example:9443/a', 'origin-not-allowed'],
    ['/origins/http/cards.example/a', 'origin-not-allowed'],
    ['/origins/http/plain.example/a', 'card http://plain.example/a'],
    ['/origins/plain.example/a', 'origin-not-allowed'],
    ['/origins/http/127.0.0.1:9000/a', 'card http://127.0.0.1:9000/a'],
    ['/origins/[fd00::1]/a', 'card https://[fd00::1]/a'],
    ['/origins/idp.example/token?x', 'origin origins[2] https://idp.example/token?x'],
    ['/origins/keys.example/jwks', 'origin-not-allowed'],
    ['/origins/a.many.example/c', 'card https://a.many.example/c'],
    ['/origins/many.example/c', 'origin-not-allowed'],
    ['/origins/a.b.many.example/c', 'origin-not-allowed'],
    // the rule for a host goes before the one for its neighbours
    ['/origins/one.many.example/c', 'origin-not-allowed'],
    ['/origins/a.held.example/c', 'card https://a.held.example/c'],
    // a card that has a name is its agent's, whichever way it is asked for
    ['/origins/weather.example.com/.well-known/agent-card.json', 'card weather'],
    ['/origins/weather.example.com/.well-known/agent.json', 'card weather'],
    ['/origins/weather.example.com/other', 'origin-not-allowed'],
    // one spelling per card
    ['/origins/cards.example', 'not-found'],
    ['/origins/cards.example?x', 'not-found'],
    ['/origins/Cards.example/a', 'not-found'],
    ['/origins/cards.example:443/a', 'not-found'],
    ['/origins/cards.example:/a', 'not-found'],
    ['/origins/cards.example/a/../b', 'not-found'],
    ['/origins/cards.example/a/%2e%2e/b', 'not-found'],
    ['/origins/cards.example/a"b', 'not-found'],
    ['/origins/[FD00::1]/a', 'not-found'],
    ['/origins/[fd00:0::1]/a', 'not-found'],
    // what is no host
    ['/origins/', 'origin-not-allowed'],
    ['/origins//cards.example/a', 'origin-not-allowed'],
    ['/origins/http/', 'origin-not-allowed'],
    ['/origins/http', 'origin-not-allowed'],
    ['/origins/https/cards.example/a', 'origin-not-allowed'],
    ['/origins/https://cards.example/a', 'origin-not-allowed'],
    ['/origins/u:p@cards.example/a', 'origin-not-allowed'],
    ['/origins/cards.example@evil.test/a', 'origin-not-allowed'],
    ['/origins/cards.example./a', 'origin-not-allowed'],
    ['/origins/cards%2eexample/a', 'origin-not-allowed'],
    ['/origins/cards.example\\a', 'origin-not-allowed'],
    ['/origins/127.1:9000/a', 'origin-not-allowed'],
    ['/origins/http/2130706433:9000/a', 'origin-not-allowed'],
    ['/origins/cards.example:99999/a', 'origin-not-allowed'],
    ['/origins/xn--a/a', 'origin-not-allowed'],
    ['/Origins/cards.example/a', 'not-found'],
    ['/origins', 'not-found'],
    // hosts that only look like one that is allowed
    ['/origins/cards.example.evil.test/a', 'lookalike-origin'],
    ['/origins/card5.example/a', 'lookalike-origin'],
    ['/origins/weather.examp1e.com/a', 'lookalike-origin'],
    [
      `/origins/cards.example/${'a'.repeat(2_048 - 'https://cards.example/'.length)}`,
      `card https://cards.example/${'a'.repeat(2_026)}`,
    ],
    [`/origins/cards.example/${'a'.repeat(2_049 - 'https://cards.example/'.length)}`, 'request-too-large'],
  ];
  for (const [target, to] of cases) {
    test(`${target.slice(0, 70)} → ${to.slice(0, 60)}`, () =>
      assert.equal(named(doors.route(asked(AGENTS, target))), to));
  }

  test('a host that nobody may know of is named to nobody', () => {
    const hidden = {
      ...exampleAgent('weather'),
      visibleTo: [{ tenant: 'acme', principal: null, scope: null, role: null }],
    };
    const table = buildRoutes(exampleRules({ agents: [hidden] }));
    const route = table.route(asked(AGENTS, '/origins/weather.examp1e.com/a'));
    assert.ok(route.to === 'stranger');
    assert.equal(route.why(plainPrincipal('anonymous', '')).code, 'origin-not-allowed');
    assert.equal(route.why({ ...plainPrincipal('anonymous', ''), tenant: 'acme' }).code, 'lookalike-origin');
  });
});

describe('a URL of something that the caller may not see', () => {
  const forAcme = [{ tenant: 'acme', principal: null, scope: null, role: null }];
  const hidden = (card: OriginRule['card']) => card && { ...card, visibleTo: forAcme };
  const rules = exampleRules({ agents: [{ ...exampleAgent('weather'), visibleTo: forAcme }] });
  const table = buildRoutes({ ...rules, origins: RULES.map((each) => ({ ...each, card: hidden(each.card) })) });
  const [acme, other] = [{ ...plainPrincipal('anonymous', ''), tenant: 'acme' }, plainPrincipal('anonymous', '')];
  for (const [target, to] of [
    ['/origins/weather.example.com/.well-known/agent-card.json', 'card weather'],
    ['/origins/weather.example.com/./.well-known/agent-card.json', 'not-found'],
    ['/origins/cards.example/a', 'card https://cards.example/a'],
    ['/origins/cards.example/a/../b', 'not-found'],
    ['/origins/a.held.example/card', 'card https://a.held.example/card'],
  ] as const)
    test(`${target} is ${to} to whoever may, and a stranger's to others`, () => {
      const route = table.route(asked(AGENTS, target));
      assert.equal(named(routeFor(route, acme)), to);
      const told = routeFor(route, other);
      assert.ok(told.to === 'nowhere');
      assert.equal(told.refusal.code, 'origin-not-allowed');
      assert.doesNotMatch(told.refusal.detail, /origins\[|write https/);
    });
});

describe('absolute-form targets', () => {
  const cases: readonly (readonly [authority: string, path: string, to: string])[] = [
    ['cards.example', '/a', 'card https://cards.example/a'],
    ['Cards.Example', '/a', 'card https://cards.example/a'],
    ['cards.example:443', '/a', 'card https://cards.example/a'],
    ['cards.example:8443', '/a', 'card https://cards.example:8443/a'],
    ['cards.example:80', '/a', 'origin-not-allowed'],
    ['plain.example', '/a', 'card http://plain.example/a'],
    ['plain.example:80', '/a', 'card http://plain.example/a'],
    ['127.0.0.1:9000', '/a', 'card http://127.0.0.1:9000/a'],
    ['[FD00::1]', '/a', 'card https://[fd00::1]/a'],
    ['idp.example', '/a/../b', 'origin origins[2] https://idp.example/b'],
    ['weather.example.com', '/.well-known/agent-card.json', 'card weather'],
    ['keys.example', '/a', 'origin-not-allowed'],
    ['evil.test', '/a', 'origin-not-allowed'],
    ['cards.example.evil.test', '/a', 'lookalike-origin'],
    ['cards.example.', '/a', 'origin-not-allowed'],
    ['cards.example', '/a/../b', 'not-found'],
    ['cards.example', '/origins/idp.example/a', 'card https://cards.example/origins/idp.example/a'],
    ['cards.example', '/agents', 'card https://cards.example/agents'],
  ];
  for (const [proxied, path, to] of cases) {
    test(`http://${proxied}${path} → ${to}`, () =>
      assert.equal(named(doors.route(asked(AGENTS, path, { proxied }))), to));
  }
});

describe("an agent's own host name", () => {
  const host = 'planner.internal';
  for (const [target, to] of [
    ['/.well-known/agent-card.json', 'card planner'],
    ['/', 'operation planner'],
    ['/agents/weather/.well-known/agent-card.json', 'operation planner'],
    ['/origins/cards.example/a', 'operation planner'],
    ['/agents', 'operation planner'],
    ['/problems/killed', 'problem killed'],
  ] as const) {
    test(`${target} → ${to}`, () => assert.equal(named(doors.route(asked(AGENTS, target, { host }))), to));
  }
});

test('rules for cards without a name are the same while they are remembered, and bounded', () => {
  const find = (path: string) => {
    const route = doors.route(asked(AGENTS, `/origins/cards.example/${path}`));
    return route.to === 'card' ? route.agent : assert.fail();
  };
  const first = find('first');
  assert.equal(find('first'), first);
  assert.deepEqual(first.egress.allowed, [at('cards.example')]);
  assert.equal(first.card.agent, 'https://cards.example/first');
  for (let each = 0; each < 1_023; each += 1) find(String(each));
  assert.equal(find('first'), first);
  for (let each = 0; each < 1_024; each += 1) find(String(each));
  assert.notEqual(find('first'), first);
});

test('an origin of cards has them at the root of its own listener', () => {
  const origin = RULES[0] ?? assert.fail();
  const name = listenerName('origin:https://cards.example');
  const table = buildRoutes({
    ...exampleRules(),
    origins: RULES,
    listeners: new Map([[name, { serves: 'origin', origin }]]),
  });
  assert.equal(named(table.route(asked(name, '/a/card.json'))), 'card https://cards.example/a/card.json');
  assert.equal(named(table.route(asked(name, '/a/../card.json'))), 'not-found');
});
