import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { agentName, listenerName } from '../../src/kernel/ids.ts';
import { formatAddress } from '../../src/kernel/listen-address.ts';
import type { AgentRule, OriginRule } from '../../src/policy/rules.ts';
import { CARD_CACHE, LIMITS } from '../support/rules.ts';
import { type ConfigCase, validConfig } from '../support/config.ts';

const PEM = { '/etc/app/ca.pem': '', '/c.pem': '', '/k.pem': '' };

async function agentOf(settings: string, more: ConfigCase & { readonly rest?: string } = {}): Promise<AgentRule> {
  const { rules } = await validConfig(`agents: { weather: { ${settings} } }\n${more.rest ?? ''}`, {
    files: PEM,
    ...more,
  });
  const rule = rules.agents.get(agentName('weather'));
  assert.ok(rule);
  return rule;
}

async function originOf(settings: string): Promise<OriginRule> {
  const { rules } = await validConfig(`origins: [{ match: "https://idp.example:8443", content: any, ${settings} }]`);
  const [rule] = rules.origins;
  assert.ok(rule);
  return rule;
}

test('without a word, the documented defaults hold', async () => {
  const { rules } = await validConfig('');
  assert.deepEqual(rules.limits, LIMITS);
  assert.deepEqual(rules.prefetch, { enabled: true, timeout: 10_000 });
  assert.deepEqual((await agentOf('origin: https://a.example')).cache, CARD_CACHE);
});

describe('the URLs of an agent’s card', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    [
      'origin: https://a.example',
      ['https://a.example/.well-known/agent-card.json', 'https://a.example/.well-known/agent.json'],
    ],
    [
      'origin: https://a.example/',
      ['https://a.example/.well-known/agent-card.json', 'https://a.example/.well-known/agent.json'],
    ],
    [
      'origin: https://a.example/team/x',
      ['https://a.example/team/x/.well-known/agent-card.json', 'https://a.example/team/x/.well-known/agent.json'],
    ],
    [
      'origin: https://a.example/x/.well-known/agent-card.json',
      ['https://a.example/x/.well-known/agent-card.json', 'https://a.example/x/.well-known/agent.json'],
    ],
    ['card: https://a.example/c.json?v=1', ['https://a.example/c.json?v=1']],
  ];
  for (const [written, urls] of cases)
    test(written, async () => assert.deepEqual((await agentOf(written)).cards, urls));
});

describe('the permission to fetch', () => {
  test('is for the agent’s own origin, over TLS, and nothing else', async () => {
    const { egress } = await agentOf('card: https://a.example:8443/c.json');
    assert.deepEqual(egress, {
      name: 'agents.weather',
      allowed: [{ scheme: 'https', host: 'a.example', wildcard: false, port: 8443 }],
      cleartext: false,
      unsafeAddresses: [],
      tls: null,
      proxy: null,
    });
  });
  test('is as wide as the agent says', async () => {
    const { egress } = await agentOf(
      'origin: http://127.0.0.1:9, unsafeCleartext: true, unsafeAddresses: [127.0.0.1], tls: { ca: ca.pem, cert: /c.pem, key: file:/k.pem }',
    );
    assert.deepEqual(egress.allowed, [{ scheme: 'http', host: '127.0.0.1', wildcard: false, port: 9 }]);
    assert.deepEqual([egress.cleartext, egress.unsafeAddresses], [true, ['127.0.0.1/32']]);
    assert.deepEqual(egress.tls, { ca: '/etc/app/ca.pem', cert: '/c.pem', key: '/k.pem' });
  });
  test('goes by the proxy of all, by another, or by none', async () => {
    const rest = 'egress: { proxy: "http://proxy.example:3128" }';
    const proxyOf = async (more: string) => (await agentOf(`origin: https://a.example${more}`, { rest })).egress.proxy;
    assert.equal(await proxyOf(''), 'http://proxy.example:3128/');
    assert.equal(await proxyOf(', proxy: "http://other.example:3128"'), 'http://other.example:3128/');
    assert.equal(await proxyOf(', proxy: null'), null);
    assert.equal((await agentOf('origin: https://a.example', { rest: 'egress: { proxy: null }' })).egress.proxy, null);
    const { rules } = await validConfig(`origins: [{ match: "https://k.example", content: none, proxy: null }]
keys: { k: { jwks: "https://k.example/j" }, l: { jwks: "https://l.example/j" } }
${rest}`);
    const proxies = rules.keySets.map(({ source }) => (source.from === 'url' ? source.egress.proxy : ''));
    assert.deepEqual(proxies, [null, 'http://proxy.example:3128/']);
  });
  test('of a rule names the rule', async () => {
    const { egress, match } = await originOf('listen: 127.0.0.1:1');
    assert.deepEqual([egress.name, egress.allowed], ['origins[0]', [match]]);
  });
});

describe('caching', () => {
  test('an agent’s own ceiling goes before the global one', async () => {
    const rest = 'cache: { maxStale: 2h }';
    assert.equal((await agentOf('origin: https://a.example', { rest })).cache.maxStale, 7_200_000);
    assert.equal((await agentOf('origin: https://a.example, maxStale: 0s', { rest })).cache.maxStale, 0);
  });
  const OWN =
    '{ defaultTtl: 1s, minTtl: 2s, maxTtl: 3s, staleWhileRevalidate: 4s, staleIfError: 5s, negativeTtl: 6s, clientMaxAge: 7s }';
  const COMPILED = {
    defaultTtl: 1_000,
    minTtl: 2_000,
    maxTtl: 3_000,
    staleWhileRevalidate: 4_000,
    staleIfError: 5_000,
    negativeTtl: 6_000,
    clientMaxAge: 7_000,
  };
  test('an agent and a rule may have their own of each setting', async () => {
    const { cache } = await agentOf(`origin: https://a.example, cache: ${OWN}`);
    assert.deepEqual(cache, { ...CARD_CACHE, ...COMPILED });
    assert.deepEqual((await originOf(`cache: ${OWN}`)).cache, { ...CARD_CACHE, ...COMPILED, content: 'any' });
  });
  test('what is not written is the global one, zero included', async () => {
    const rest = 'cache: { maxTtl: 1h, clientMaxAge: 5s }';
    const { cache } = await agentOf('origin: https://a.example, cache: { maxTtl: 2h, defaultTtl: 0s }', { rest });
    assert.deepEqual([cache.maxTtl, cache.clientMaxAge, cache.defaultTtl], [7_200_000, 5_000, 0]);
  });
  test('what is not for one agent is refused there', async () => {
    for (const key of ['maxBytes: 1MiB', 'prefetch: false', 'maxStale: 1h'])
      await assert.rejects(agentOf(`origin: https://a.example, cache: { ${key} }`));
  });
  test('only cards are served stale while they are refreshed, unless the origin says so', async () => {
    const { cache } = await originOf('maxStale: 1h');
    assert.deepEqual(cache, { ...CARD_CACHE, content: 'any', staleWhileRevalidate: 0, maxStale: 3_600_000 });
  });
});

test('interfaces over cleartext are for agents over cleartext', async () => {
  assert.equal((await agentOf('origin: https://a.example')).card.cleartext, false);
  assert.equal((await agentOf('origin: https://a.example, unsafeCleartext: true')).card.cleartext, true);
});

describe('listeners', () => {
  const text = `listen: { agents: 127.0.0.1:1, ops: 127.0.0.1:2, admin: "[::1]:3", names: [cardea.internal] }
agents:
  weather: { origin: https://a.example, listen: 127.0.0.1:4 }
  planner: { origin: https://b.example }
origins:
  - { match: "https://idp.example", content: any, listen: 127.0.0.1:5 }
  - { match: "https://idp.example:8443", content: any }`;
  test('are opened under the names that the rules know', async () => {
    const { listen, rules } = await validConfig(text);
    assert.deepEqual(
      listen.listeners.map(({ name, address }) => [name, formatAddress(address)]),
      [
        ['agents', '127.0.0.1:1'],
        ['ops', '127.0.0.1:2'],
        ['admin', '[::1]:3'],
        ['weather', '127.0.0.1:4'],
        ['origin:https://idp.example', '127.0.0.1:5'],
      ],
    );
    assert.deepEqual(listen.names, ['cardea.internal']);
    assert.deepEqual([...rules.listeners.keys()], ['agents', 'weather', 'origin:https://idp.example']);
    const own = rules.listeners.get(listenerName('origin:https://idp.example'));
    assert.deepEqual(own, { serves: 'origin', origin: rules.origins[0] });
    assert.deepEqual(rules.listeners.get(listenerName('weather')), { serves: 'agent', agent: 'weather' });
  });
});

describe('digests', () => {
  const digests = async (text: string): Promise<readonly [string, string | undefined]> => {
    const { rules } = await validConfig(text);
    return [rules.digest, rules.agents.get(agentName('a'))?.policy];
  };
  const base = 'agents: { a: { origin: https://a.example }, b: { origin: https://b.example } }';
  test('are the same for the same settings, however they are written', async () => {
    assert.deepEqual(
      await digests(base),
      await digests(
        'agents:\n  b: { origin: "https://b.example/" }\n  a: { origin: https://a.example }\ncache: { maxTtl: 1440m }',
      ),
    );
  });
  test('the policy changes with what a card is judged by', async () => {
    const [[all, policy], [otherAll, otherPolicy]] = [
      await digests(base),
      await digests(`${base}\nlimits: { jsonDepth: 31 }`),
    ];
    assert.notEqual(policy, otherPolicy);
    assert.notEqual(all, otherAll);
  });
  test('the policy stays where only caching changes', async () => {
    const [[all, policy], [otherAll, otherPolicy]] = [
      await digests(base),
      await digests(`${base}\ncache: { maxTtl: 1h }`),
    ];
    assert.equal(policy, otherPolicy);
    assert.notEqual(all, otherAll);
  });
  test('are sha256', async () =>
    assert.match((await digests(base)).join(), /^sha256:[0-9a-f]{64},sha256:[0-9a-f]{64}$/));
});
