import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { effectiveYaml } from '../../src/config/effective-yaml.ts';
import { formatAddress } from '../../src/kernel/listen-address.ts';
import { type ConfigCase, problemsOf, validConfig } from '../support/config.ts';

const FILES = { '/etc/app/s.pem': '', '/run/s.key': '', '/etc/app/ca.pem': '', '/etc/app/crl.pem': '' };
const TLS = 'tls: { cert: ./s.pem, key: file:/run/s.key }';
const MUTUAL = 'tls: { cert: ./s.pem, key: file:/run/s.key, clientCa: ./ca.pem, crl: ./crl.pem }';

async function opened(text: string, more: ConfigCase = {}) {
  const { listen } = await validConfig(text, { files: FILES, ...more });
  return listen.listeners.map(({ name, address, principal, tls }) => [name, formatAddress(address), principal, tls]);
}

describe('a listener', () => {
  const identity = { cert: '/etc/app/s.pem', key: '/run/s.key', clientCa: null, crl: null };
  test('is an address, or a section with one', async () => {
    const text = `listen:
  agents: { address: "unix:./a.sock", principal: planner }
  ops: { address: "[::1]:1", ${TLS} }
  admin: 127.0.0.1:2
agents: { weather: { origin: "https://a.example", listen: { address: 127.0.0.1:3, principal: a/b, ${MUTUAL} } } }`;
    assert.deepEqual(await opened(text), [
      ['agents', 'unix:/etc/app/a.sock', 'planner', null],
      ['ops', '[::1]:1', null, identity],
      ['admin', '127.0.0.1:2', null, null],
      ['weather', '127.0.0.1:3', 'a/b', { ...identity, clientCa: '/etc/app/ca.pem', crl: '/etc/app/crl.pem' }],
    ]);
  });
  test('is moved by a flag that changes its address alone', async () => {
    const text = `listen: { agents: { address: 127.0.0.1:1, principal: planner, ${TLS} } }`;
    const flags = ['--listen-agents=unix:x.sock', '--listen-ops-tls-cert=/etc/app/s.pem'];
    const env = { CARDEA_LISTEN_OPS_TLS_KEY: 'file:/run/s.key', CARDEA_LISTEN_AGENTS_PRINCIPAL: 'other' };
    const [agents, ops] = await opened(text, { flags, env });
    assert.deepEqual(agents, ['agents', 'unix:/srv/x.sock', 'other', identity]);
    assert.deepEqual(ops, ['ops', '127.0.0.1:9464', null, identity]);
  });
  test('is shown as shortly as it can be written', async () => {
    const text = `listen: { agents: { address: 127.0.0.1:1 }, ops: { address: 127.0.0.1:2, ${TLS} } }`;
    const { settings, sources } = await validConfig(text, { files: FILES });
    const shown = parse(effectiveYaml(settings, sources)) as { listen: Record<string, unknown> };
    assert.equal(shown.listen['agents'], '127.0.0.1:1');
    const secured = { address: '127.0.0.1:2', tls: { cert: '/etc/app/s.pem', key: 'file:/run/s.key' } };
    assert.deepEqual(shown.listen['ops'], secured);
  });
});

describe('a listener is refused', () => {
  const cases: readonly (readonly [text: string, said: string])[] = [
    ['listen: { agents: 8642 }', 'c.yaml:1:19 listen.agents: "8642" is no address with a port; write 127.0.0.1:8642'],
    [
      'listen: { agents: { address: 8642 } }',
      'c.yaml:1:30 listen.agents: "8642" is no address with a port; write 127.0.0.1:8642',
    ],
    ['listen: { agents: { principal: a } }', 'c.yaml:1:11 listen.agents: is missing. Where it is opened.'],
    ['listen: { agents: [127.0.0.1:1] }', 'c.yaml:1:19 listen.agents: is one value (address), not several'],
    [
      'listen: { agents: { address: 127.0.0.1:1, prinzipal: a } }',
      'c.yaml:1:43 listen.agents.prinzipal: unknown key; did you mean principal?',
    ],
    [
      'listen: { agents: { address: 127.0.0.1:1, principal: "a b" } }',
      'c.yaml:1:54 listen.agents.principal: "a b" is no name of a principal, which has no spaces, only ASCII and up to 128 characters',
    ],
    [
      'listen: { agents: { address: 127.0.0.1:1, tls: { cert: ./s.pem } } }',
      'c.yaml:1:43 listen.agents.tls.key: is missing. Private key (PEM) of the certificate.',
    ],
    [
      `listen: { ops: { address: 127.0.0.1:1, tls: { cert: ./s.pem, key: file:/run/s.key, crl: ./crl.pem } } }`,
      'c.yaml:1:89 listen.ops.tls.crl: needs clientCa: clients are asked for no certificate without it',
    ],
    [
      `listen: { admin: { address: 127.0.0.1:1, tls: { cert: ./none.pem, key: file:/run/s.key } } }`,
      'c.yaml:1:55 listen.admin.tls.cert: /etc/app/none.pem cannot be read: it is not there',
    ],
    [
      'listen: { agents: "unix:/run/a", ops: "unix:/run/a" }',
      'c.yaml:1:39 listen.ops: unix:/run/a is taken by listen.agents; write another path',
    ],
  ];
  for (const [text, said] of cases) {
    test(text, async () => assert.deepEqual(await problemsOf(text, { files: FILES }), [said]));
  }
});
