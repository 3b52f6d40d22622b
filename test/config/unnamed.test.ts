import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { problemsOf, validConfig } from '../support/config.ts';

describe('a rule with content: card', () => {
  test('takes an agent’s keys, its trust and its limits', async () => {
    const { rules } = await validConfig(
      `
origins:
  - { match: "https://a.example", content: card, signature: require, keys: [k], jku: ["https://k.example/jwks"], maxStale: 1m, schema: strict,
      visibleTo: [{ tenant: acme }], unsafeAddresses: [10.0.0.0/8], tls: { ca: ./ca.pem } }
  - { match: "https://*.b.example", content: card }
  - { match: "https://c.example", content: any }
keys: { k: { inline: '${JSON.stringify({ kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' })}' } }
`,
      { files: { '/etc/app/ca.pem': '' } },
    );
    const [own, wild, any] = rules.origins;
    assert.equal(own?.card?.card.signature, 'require');
    assert.equal(own?.card?.card.schema, 'strict');
    assert.equal(own?.card?.cache.content, 'card');
    assert.equal(own?.card?.cache.maxStale, 60_000);
    assert.deepEqual(own?.card?.visibleTo, [{ tenant: 'acme', principal: null, scope: null, role: null }]);
    assert.deepEqual(own?.card?.egress.unsafeAddresses, ['10.0.0.0/8']);
    assert.equal(own?.card?.egress.name, 'origins[0]');
    assert.deepEqual(
      own?.card?.keySets.map(({ name }) => name),
      ['k', 'https://k.example/jwks'],
    );
    for (const set of own?.card?.keySets ?? []) assert.ok(rules.keySets.includes(set));
    assert.deepEqual([own?.card?.review.firstUse, wild?.card?.review.firstUse], ['allow', 'hold']);
    assert.deepEqual([wild?.card?.card.signature, any?.card], ['if-present', null]);
    assert.equal(rules.allowlist.length, 3);
  });
  test('is another policy where another key is written', async () => {
    const policy = async (more: string) =>
      (await validConfig(`origins: [{ match: "https://a.example", content: card${more} }]`)).rules.origins[0]?.card
        ?.policy;
    assert.equal(await policy(''), await policy(', schema: compatible'));
    assert.notEqual(await policy(''), await policy(', schema: strict'));
  });
});

describe('is refused', () => {
  const cases: readonly (readonly [text: string, said: readonly string[]])[] = [
    [
      'origins: [{ match: https://a.example, content: any, signature: require, visibleTo: [{ tenant: a }] }]',
      [
        'c.yaml:1:64 origins[0].signature: is for cards, and content: any has none; write content: card',
        'c.yaml:1:64 origins[0].signature: needs keys to verify with; list key sets as keys: [NAME], or URLs as jku: [URL]',
        'c.yaml:1:73 origins[0].visibleTo: is for cards, and content: any has none; write content: card',
      ],
    ],
    [
      'origins: [{ match: https://a.example, content: none, schema: "off" }]',
      ['c.yaml:1:62 origins[0].schema: is for cards, and content: none has none; write content: card'],
    ],
    [
      'origins: [{ match: https://a.example, content: card, keys: [nobody] }]',
      [
        'c.yaml:1:61 origins[0].keys[0]: "nobody" is no key set of this file; define it: keys: { nobody: { jwks: https://… } }',
      ],
    ],
    [
      'origins: [{ match: "https://*.a.example", content: card, listen: 127.0.0.1:1 }]',
      ['c.yaml:1:66 origins[0].listen: serves one origin, and the wildcard in match stands for many; name the host'],
    ],
    [
      'agents: { a: { origin: https://a.example, hosts: [x.internal, localhost, 10.0.0.1] }, b: { origin: https://b.example, hosts: [x.internal] } }',
      [
        'c.yaml:1:63 agents.a.hosts[1]: localhost belongs to the listener itself; write a name of its own',
        'c.yaml:1:74 agents.a.hosts[2]: 10.0.0.1 belongs to every agent; an address is no name of one; write a name of its own',
        'c.yaml:1:127 agents.b.hosts[0]: x.internal belongs to agents.a.hosts[0]; write a name of its own',
      ],
    ],
    [
      'listen: { names: [x.internal] }\nagents: { a: { origin: https://a.example, hosts: [x.internal] } }',
      ['c.yaml:2:51 agents.a.hosts[0]: x.internal belongs to listen.names; write a name of its own'],
    ],
  ];
  for (const [text, said] of cases) test(text, async () => assert.deepEqual(await problemsOf(text), said));
});
