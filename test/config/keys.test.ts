import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KNOWN_VERSIONS } from '../../src/card/version.ts';
import { SCHEMA } from '../../src/config/schema.ts';
import { agentName } from '../../src/kernel/ids.ts';
import type { AgentRule, Rules } from '../../src/policy/rules.ts';
import { problemsOf, validConfig } from '../support/config.ts';

const KEY = JSON.stringify({
  kty: 'EC',
  crv: 'P-256',
  x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
  y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
});
const LOCAL = 'unsafeCleartext: true, unsafeAddresses: [127.0.0.1]';

describe('refuses', () => {
  const A = 'agents: { a: { origin: https://a.example';
  const cases: readonly (readonly [name: string, text: string, problem: string])[] = [
    [
      'a set that is not defined',
      `${A}, keys: [exmple] } }\nkeys: { example: { jwks: https://k.example/j } }`,
      'c.yaml:1:50 agents.a.keys[0]: "exmple" is no key set of this file; did you mean example?',
    ],
    [
      'a set where none is defined',
      `${A}, keys: [own] } }`,
      'c.yaml:1:50 agents.a.keys[0]: "own" is no key set of this file; define it: keys: { own: { jwks: https://… } }',
    ],
    [
      'a demand that nothing can meet',
      `${A}, signature: require } }`,
      'c.yaml:1:54 agents.a.signature: needs keys to verify with; list key sets as keys: [NAME], or URLs as jku: [URL]',
    ],
    [
      'two signatures without keys',
      `${A}, signatures: 2 } }`,
      'c.yaml:1:55 agents.a.signatures: needs keys to verify with; list key sets as keys: [NAME], or URLs as jku: [URL]',
    ],
    [
      'a version that is not known',
      `${A}, versions: [1.1] } }`,
      'c.yaml:1:54 agents.a.versions[0]: "1.1" is not one of: 0.2, 0.3, 1.0; did you mean 1.0?',
    ],
    [
      'a jku over cleartext',
      `${A}, jku: ["http://k.example/j"] } }`,
      'c.yaml:1:49 agents.a.jku[0]: is http://, where anyone on the way can put in a key; write https://, or unsafeCleartext: true for the agent or rule',
    ],
    [
      'keys over cleartext',
      'keys: { k: { jwks: http://k.example/j } }',
      'c.yaml:1:20 keys.k.jwks: is http://, where anyone on the way can put in a key; write https://, or unsafeCleartext: true for the agent or rule',
    ],
    [
      'a set without keys',
      'keys: { k: { revoked: [a] } }',
      'c.yaml:1:9 keys.k: has no keys; write jwks: with a URL, file: with a path, or inline: with JSON text',
    ],
    [
      'a set with two sources',
      `keys: { k: { jwks: https://k.example/j, inline: '${KEY}' } }`,
      'c.yaml:1:49 keys.k.inline: stands beside jwks; write one of them',
    ],
    [
      'a file that is not there',
      'keys: { k: { file: k.json } }',
      'c.yaml:1:20 keys.k.file: /etc/app/k.json cannot be read: it is not there',
    ],
    [
      'a private key, without repeating it',
      `keys: { k: { inline: '{"kty":"EC","d":"secret"}' } }`,
      'c.yaml:1:22 keys.k.inline: holds members of a private key; write public keys alone',
    ],
    [
      'text that is no key set',
      `keys: { k: { inline: '[]' } }`,
      'c.yaml:1:22 keys.k.inline: holds no keys: it is an array, not a JWK Set',
    ],
    [
      'a listener on a rule for many origins',
      'origins: [{ match: https://*.k.example, content: any, listen: 127.0.0.1:9 }]',
      'c.yaml:1:63 origins[0].listen: serves one origin, and the wildcard in match stands for many; name the host',
    ],
    [
      'a listener on a rule that serves nothing',
      'origins: [{ match: https://k.example, content: none, listen: 127.0.0.1:9 }]',
      'c.yaml:1:62 origins[0].listen: serves nothing with content: none; leave it out, or write content: card or any',
    ],
  ];
  for (const [name, text, problem] of cases) {
    test(name, async () => assert.deepEqual(await problemsOf(text), [problem]));
  }

  test('a file that holds no sound key, with the reason', async () => {
    const files = { '/etc/app/k.json': '{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}' };
    const [problem = ''] = await problemsOf('keys: { k: { file: k.json } }', { files });
    assert.match(problem, /^c\.yaml:1:20 keys\.k\.file: holds no keys: none is sound; key 0 is passed over: /);
  });
});

test('the card versions of the table are those that are read', () => {
  const { agents } = SCHEMA.rows;
  assert.deepEqual(agents.node.value.rows.versions.node.item.schema['enum'], [...KNOWN_VERSIONS]);
});

async function rulesOf(text: string): Promise<Rules> {
  return (await validConfig(text)).rules;
}

const agentOf = (rules: Rules, name = 'a'): AgentRule => {
  const agent = rules.agents.get(agentName(name));
  assert.ok(agent);
  return agent;
};

describe('the permission to fetch keys', () => {
  const egressOf = async (text: string) => {
    const [set] = (await rulesOf(text)).keySets;
    assert.ok(set?.source.from === 'url');
    const { name, allowed, cleartext, unsafeAddresses } = set.source.egress;
    return [name, allowed.map(({ host, port }) => `${host}:${port}`), cleartext, unsafeAddresses];
  };

  test('is that of the agent that lives on their origin and lists them', async () => {
    const text = `agents: { a: { origin: "http://127.0.0.1:9", keys: [k], ${LOCAL} } }\nkeys: { k: { jwks: "http://127.0.0.1:9/j" } }`;
    assert.deepEqual(await egressOf(text), ['agents.a', ['127.0.0.1:9'], true, ['127.0.0.1/32']]);
  });

  test('is not lent by an agent that does not list them', async () => {
    const text = `agents: { a: { origin: "https://k.example", ${LOCAL} } }\nkeys: { k: { jwks: "https://k.example/j" } }`;
    assert.deepEqual(await egressOf(text), ['origins["https://k.example"]', ['k.example:443'], false, []]);
  });

  test('is that of a wildcard that covers them, unless a rule names their host', async () => {
    const keys = 'keys: { k: { jwks: "https://k.idp.example.com/j" } }';
    const wide = '{ match: "https://*.idp.example.com", content: none, unsafeAddresses: [10.0.0.0/8] }';
    const exact = '{ match: "https://k.idp.example.com", content: none }';
    const host = ['k.idp.example.com:443'];
    assert.deepEqual(await egressOf(`origins: [${wide}]\n${keys}`), ['origins[0]', host, false, ['10.0.0.0/8']]);
    assert.deepEqual(await egressOf(`origins: [${wide}, ${exact}]\n${keys}`), ['origins[1]', host, false, []]);
    const further = keys.replace('k.idp', 'a.k.idp');
    const [name] = await egressOf(`origins: [${wide}]\n${further}`);
    assert.equal(name, 'origins["https://a.k.idp.example.com"]');
  });
  test('is that of the rule that covers them', async () => {
    const text = `origins: [{ match: "https://k.example", content: none, unsafeAddresses: [10.0.0.0/8] }]\nkeys: { k: { jwks: "https://k.example/j" } }`;
    assert.deepEqual(await egressOf(text), ['origins[0]', ['k.example:443'], false, ['10.0.0.0/8']]);
  });

  test('of a jku is its agent’s, for that origin alone', async () => {
    const text = `agents: { a: { origin: "https://a.example", jku: ["http://127.0.0.1:9/j"], ${LOCAL} } }`;
    assert.deepEqual(await egressOf(text), ['agents.a', ['127.0.0.1:9'], true, ['127.0.0.1/32']]);
  });
});

test('an agent is vouched for by the sets that it lists and by its own jku, and by nobody else’s', async () => {
  const rules = await rulesOf(
    `agents: { a: { origin: https://a.example, keys: [one], jku: [https://a.example/j] }, b: { origin: https://b.example, keys: [two] } }
keys: { one: { inline: '${KEY}' }, two: { inline: '${KEY}' } }`,
  );
  assert.deepEqual(
    agentOf(rules).keySets.map(({ name }) => name),
    ['one', 'https://a.example/j'],
  );
  assert.deepEqual(
    agentOf(rules, 'b').keySets.map(({ name }) => name),
    ['two'],
  );
  assert.equal(rules.keySets.length, 3);
});

test('the digest of the configuration covers keys that stand in files', async () => {
  const digest = async (file: string): Promise<string> =>
    (await validConfig('keys: { k: { file: /k.json } }', { files: { '/k.json': file } })).rules.digest;
  assert.notEqual(await digest(KEY), await digest(`{"keys":[${KEY}]}`));
});

test('what a rule with content: none covers may not be pointed at by cards', async () => {
  const { allowlist } = await rulesOf(
    'origins: [{ match: https://idp.example, content: none }, { match: https://x.example, content: any, listen: 127.0.0.1:9 }]',
  );
  assert.deepEqual(
    allowlist.map(({ host }) => host),
    ['x.example'],
  );
});
