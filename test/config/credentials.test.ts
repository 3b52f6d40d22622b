import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { effectiveValues } from '../../src/config/effective.ts';
import { agentName } from '../../src/kernel/ids.ts';
import { problemsOf, validConfig } from '../support/config.ts';

const FILES = { '/run/token': 'secret', '/run/client': 'secret' };
const CLIENT = 'tokenUrl: "https://idp.test/token", clientId: c, clientSecret: file:/run/client';
const agent = (more: string): string => `agents: { a: { origin: "https://a.test", ${more} } }\n`;

describe('what an agent is shown', () => {
  const wrong: readonly (readonly [written: string, message: RegExp])[] = [
    [
      'credentials: forward',
      /"forward" is for extended.credentials alone: .*; write static: file:\/path or clientCredentials/,
    ],
    ['credentials: forwards', /"forwards" is not one of: none/],
    ['credentials: {}', /shows nothing; write static/],
    ['credentials: { static: token }', /a secret is never written here/],
    ['credentials: { static: env:TOKEN }', /a secret is never written here; write file:/],
    [`credentials: { static: file:/run/token, clientCredentials: { ${CLIENT} } }`, /stands beside static/],
    ['credentials: { static: file:/run/missing }', /\/run\/missing cannot be read: it is not there/],
    ['credentials: { clientCredentials: { tokenUrl: "https://idp.test/t" } }', /clientId: is missing/],
    [
      `credentials: { clientCredentials: { ${CLIENT.replace('https', 'http')} } }`,
      /anyone on the way reads the secret/,
    ],
    ['credentials: { clientCredential: {} }', /did you mean clientCredentials\?/],
    ['credentials: [none]', /holds settings: static, clientCredentials/],
    ['extended: { credentials: forwards }', /did you mean forward\?/],
    ['extended: { credentials: { static: file:/run/missing } }', /extended.credentials.static: .*cannot be read/],
    ['extended: { audience: "a b" }', /is no audience/],
    ['extended: { opaque: maybe }', /is not one of: allow, refuse/],
    ['extended: { session: 0s }', /session: .*1s/],
  ];
  for (const [written, message] of wrong) {
    test(written, async () => assert.match((await problemsOf(agent(written), { files: FILES })).join('\n'), message));
  }
  const rule = async (more: string) =>
    (await validConfig(agent(more), { files: FILES })).rules.agents.get(agentName('a'));
  test('nothing written: nothing for the public card, the caller’s own for the extended one', async () => {
    const found = await rule('maxStale: 1h');
    assert.equal(found?.credentials, 'none');
    assert.deepEqual(found?.extended, {
      credentials: 'forward',
      audience: ['https://a.test'],
      opaque: 'allow',
      session: 28_800_000,
      replacePublic: false,
    });
  });
  test('an audience that is written makes opaque credentials suspect, unless it is written otherwise', async () => {
    assert.equal((await rule('extended: { audience: x }'))?.extended.opaque, 'refuse');
    assert.equal((await rule('extended: { audience: x, opaque: allow }'))?.extended.opaque, 'allow');
  });
  test('a token endpoint is reached as its agent is, where it is on the same origin', async () => {
    const own = `tls: { ca: ./ca.pem }, credentials: { clientCredentials: { ${CLIENT.replace('idp.test', 'a.test')} } }`;
    const found = await validConfig(agent(own), { files: { ...FILES, '/etc/app/ca.pem': '' } });
    const credentials = found.rules.agents.get(agentName('a'))?.credentials;
    assert.ok(typeof credentials === 'object' && credentials.by === 'client');
    assert.deepEqual(credentials.egress.tls, { ca: '/etc/app/ca.pem' });
  });
  test('the effective configuration shows where secrets are, and none of them', async () => {
    const { settings } = await validConfig(agent(`credentials: { clientCredentials: { ${CLIENT} } }`), {
      files: FILES,
    });
    const text = JSON.stringify(effectiveValues(settings));
    assert.match(text, /"clientSecret":"file:\/run\/client"/);
    assert.match(text, /"credentials":"forward"/);
    assert.doesNotMatch(text, /"secret"/);
  });
});
