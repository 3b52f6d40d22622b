import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LintFinding, Publication } from '../../src/card/lint.ts';
import { lintCard } from '../../src/card/lint.ts';
import { isPrivateHost } from '../../src/card/private-host.ts';
import { findSecrets } from '../../src/card/secrets.ts';
import { card10, scannedObject } from './support.ts';

const GOOD = card10({
  skills: [
    {
      id: 'now',
      name: 'Now',
      description: 'Tells the weather of one place at this hour',
      tags: ['weather'],
      examples: ['Is it raining in Oslo?'],
    },
  ],
  signatures: [{ protected: 'eyJhbGciOiJFUzI1NiJ9', signature: 'AAAA' }],
});
const PUBLISHED: Publication = {
  url: 'https://agent.example.com/.well-known/agent-card.json',
  contentType: 'application/json',
  cacheControl: 'public, max-age=300',
  etag: '"x"',
};

const lint = (
  card: Record<string, unknown>,
  more: { publication?: Publication; previous?: Record<string, unknown> } = {},
): readonly LintFinding[] =>
  lintCard({
    card: scannedObject(card),
    version: '1.0',
    ...(more.publication === undefined ? {} : { publication: more.publication }),
    ...(more.previous === undefined ? {} : { previous: scannedObject(more.previous) }),
  });

const words = (findings: readonly LintFinding[]): readonly string[] =>
  findings.map(({ level, rule, pointer }) => `${level} ${rule} ${pointer}`.trim());
const interfaceAt = (url: string) => ({
  ...GOOD,
  supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
});
const skill = (over: Record<string, unknown>) => ({
  ...GOOD,
  skills: [
    { id: 'now', name: 'Now', description: 'Tells the weather of one place', tags: ['w'], examples: ['e'], ...over },
  ],
});

describe('the publication checklist', () => {
  const cases: readonly (readonly [string, Record<string, unknown>, readonly string[]])[] = [
    ['a good card', GOOD, []],
    ['unsigned', { ...GOOD, signatures: [] }, ['warning unsigned /signatures']],
    ["the card's own address", interfaceAt(PUBLISHED.url), ['error interface-is-card /supportedInterfaces/0/url']],
    ['localhost', interfaceAt('https://localhost:3000/'), ['error private-host /supportedInterfaces/0/url']],
    ['a private address', interfaceAt('https://10.1.2.3/'), ['error private-host /supportedInterfaces/0/url']],
    ['http', interfaceAt('http://agent.example.com/'), ['error interface-https /supportedInterfaces/0/url']],
    ['a relative URL', interfaceAt('/rpc'), ['error interface-https /supportedInterfaces/0/url']],
    ['no skills', { ...GOOD, skills: [] }, ['warning skills /skills']],
    ['a skill without tags', skill({ tags: [] }), ['warning skills /skills/0/tags']],
    ['a skill without examples', skill({ examples: undefined }), ['warning skills /skills/0/examples']],
    ['a skill that says nothing', skill({ description: 'weather' }), ['warning skills /skills/0/description']],
    [
      'two skills of one id',
      { ...GOOD, skills: [skill({}).skills[0], skill({}).skills[0]] },
      ['error skills /skills/1/id'],
    ],
    [
      'a capability that is no boolean',
      { ...GOOD, capabilities: { streaming: 'yes' } },
      ['error schema /capabilities/streaming'],
    ],
    [
      'a scheme that is not declared',
      { ...GOOD, securityRequirements: [{ schemes: { key: { list: [] } } }] },
      ['error security /securityRequirements/0'],
    ],
    ['a secret', { ...GOOD, description: 'Use password=hunter2hunter2' }, ['error secret /description']],
  ];
  for (const [name, card, findings] of cases) {
    test(name, () => assert.deepEqual(words(lint(card, { publication: PUBLISHED })), findings));
  }

  test('how it is published', () => {
    const publication = {
      url: 'http://agent.example.com/card',
      contentType: 'text/plain',
      cacheControl: 'no-store',
      etag: undefined,
    };
    assert.deepEqual(words(lint(GOOD, { publication })), [
      'warning content-type',
      'error https',
      'warning cache',
      'warning cache',
    ]);
    assert.deepEqual(words(lint(GOOD)), [], 'a file has no such fields');
  });

  test('a change wants a new version; a new signature is no change', () => {
    assert.deepEqual(words(lint(GOOD, { previous: { ...GOOD, description: 'Before' } })), ['warning version /version']);
    assert.deepEqual(words(lint(GOOD, { previous: { ...GOOD, description: 'Before', version: '0.9.0' } })), []);
    assert.deepEqual(words(lint(GOOD, { previous: { ...GOOD, signatures: [] } })), []);
  });
});

describe('secrets', () => {
  // Put together here, so that no scanner of repositories takes this file for a leak.
  const secrets: readonly (readonly [start: string, end: string, kind: string])[] = [
    ['AKIA', 'IOSFODNN7EXAMPLE', 'an AWS access key'],
    ['ghp_', 'a1B2'.repeat(9), 'a GitHub token'],
    ['xoxb-', '123456789012-abcdef', 'a Slack token'],
    ['sk-', 'proj-abcdefghij1234567890', 'an API key'],
    ['AIza', `${'Sy'.repeat(17)}x`, 'a Google API key'],
    ['-----BEGIN ', 'PRIVATE KEY-----', 'a private key'],
    ['eyJhbGciOiJIUzI1NiJ9.', 'eyJzdWIiOiIxMjM0NSJ9.c2lnbmF0dXJl', 'a JSON Web Token'],
    ['Authorization: Bearer ', 'abc123def456ghi789jkl0', 'an authorization value'],
    ['https://user:', 'pass@example.com/', 'a URL with a password'],
    ['https://example.com/?api_key=', 'abcdef123456', 'a URL with a credential'],
    ['q7Zt9Kx2Lm4Vb8Nc1Rf6Hj3Wp5Ys0DgA', 'uE', 'a random-looking value'],
  ];
  for (const [start, end, kind] of secrets) {
    test(kind, () => {
      const secret = start + end;
      const card = scannedObject({ name: 'x', nested: [{ here: secret }] });
      assert.deepEqual(findSecrets(card), [{ pointer: '/nested/0/here', kind }]);
      assert.ok(!JSON.stringify(lintCard({ card, version: '1.0' })).includes(secret), 'never repeated');
    });
  }
  for (const plain of [
    'Send a bearer token obtained from the identity provider',
    'API key from https://toolroute.ai/dashboard/keys (format: tr_live_xxx)',
    'https://accounts.google.com/.well-known/openid-configuration',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    'Plan a route from 1600 Amphitheatre Parkway, Mountain View, CA to San Francisco',
    'The password is never asked for. token: see the docs',
    'e7f1c2f0-5b0c-4b7a-9a51-0f3f4b2a7c11',
  ]) {
    test(`not ${plain}`, () => assert.deepEqual(findSecrets(scannedObject({ description: plain })), []));
  }
  test('signatures look like that', () => {
    assert.deepEqual(
      findSecrets(scannedObject({ signatures: [{ signature: 'q7Zt9Kx2Lm4Vb8Nc1Rf6Hj3Wp5Ys0DgAuE' }] })),
      [],
    );
  });
});

test('private hosts', () => {
  for (const host of [
    'localhost',
    'a.localhost',
    'printer.local',
    'weather',
    'weather.ns.svc',
    'x.cluster.local',
    '10.0.0.1',
    '172.16.0.1',
    '172.31.9.9',
    '192.168.1.1',
    '127.0.0.1',
    '169.254.1.1',
    '100.64.0.1',
    '[::1]',
    '[fd00::1]',
    '[fe80::1]',
  ]) {
    assert.ok(isPrivateHost(host), host);
  }
  for (const host of [
    'example.com',
    'localhost.example.com',
    '172.15.0.1',
    '172.32.0.1',
    '100.63.0.1',
    '100.128.0.1',
    '11.0.0.1',
    '[2001:db8::1]',
    '10.example.com',
  ]) {
    assert.ok(!isPrivateHost(host), host);
  }
});
