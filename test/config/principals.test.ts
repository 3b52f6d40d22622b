import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { problemsOf, validConfig } from '../support/config.ts';

const ISSUER = '{ issuer: "https://idp.test", audience: [cardea], jwks: "https://idp.test/jwks" }';
const issuers = (text: string): string => `principals:\n  issuers:\n    - ${text}\n`;

describe('issuers', () => {
  const wrong: readonly (readonly [written: string, message: RegExp])[] = [
    ['{ audience: [cardea], jwks: "https://idp.test/jwks" }', /issuer: is missing/],
    ['{ issuer: "https://idp.test", jwks: "https://idp.test/jwks" }', /audience.*is empty; write what aud/],
    ['{ issuer: "https://idp.test", audience: [cardea] }', /jwks: is missing/],
    ['{ issuer: idp, audience: [cardea], jwks: "https://idp.test/jwks" }', /is no issuer/],
    ['{ issuer: "https://idp.test?x", audience: [cardea], jwks: "https://idp.test/jwks" }', /is no issuer/],
    ['{ issuer: "https://idp.test", audience: [" cardea"], jwks: "https://idp.test/jwks" }', /is no name/],
    ['{ issuer: "https://idp.test", audience: [cardea], jwks: "http://idp.test/jwks" }', /is http:\/\//],
    [`${ISSUER.slice(0, -1)}, claims: { tenantHeader: Authorization } }`, /is no name of a request field/],
    [`${ISSUER.slice(0, -1)}, claims: { principal: "" } }`, /is no name of a claim/],
    [`${ISSUER}\n    - ${ISSUER}`, /issuers\[1\].issuer.*configured twice/],
  ];
  for (const [written, message] of wrong) {
    test(written.slice(0, 90), async () => assert.match((await problemsOf(issuers(written))).join('\n'), message));
  }
  test('what is left out has its usual name', async () => {
    const { rules } = await validConfig(issuers(ISSUER));
    const [issuer] = rules.issuers;
    assert.deepEqual(issuer?.claims, {
      principal: 'sub',
      tenant: null,
      scopes: 'scope',
      roles: 'roles',
      tenantHeader: null,
    });
    assert.deepEqual(issuer?.keys.source.egress.allowed, [
      { scheme: 'https', host: 'idp.test', wildcard: false, port: 443 },
    ]);
  });
  test('keys in cleartext need a rule that means it', async () => {
    const text = issuers('{ issuer: "http://idp.test", audience: [cardea], jwks: "http://idp.test/jwks" }');
    const rule = 'origins: [{ match: "http://idp.test", content: none, unsafeCleartext: true }]\n';
    assert.equal((await problemsOf(text)).length, 1);
    const [issuer] = (await validConfig(text + rule)).rules.issuers;
    assert.equal(issuer?.keys.source.egress.cleartext, true);
  });
});

describe('who may see an agent', () => {
  const agent = (visibleTo: string): string => `agents: { a: { origin: "https://a.test", visibleTo: ${visibleTo} } }\n`;
  test('a line that names nobody is a mistake', async () =>
    assert.match((await problemsOf(agent('[{}]'))).join(''), /visibleTo\[0\].*names nobody/));
  test('an unknown member is named', async () =>
    assert.match((await problemsOf(agent('[{ tenants: acme }]'))).join(''), /did you mean tenant/));
  test('nothing written is everybody', async () => {
    const visibleTo = async (text: string) => (await validConfig(text)).rules.agents.get('a' as never)?.visibleTo;
    assert.equal(await visibleTo('agents: { a: { origin: "https://a.test" } }'), null);
    assert.deepEqual(await visibleTo(agent('[{ tenant: acme }]')), [
      { tenant: 'acme', principal: null, scope: null, role: null },
    ]);
  });
});
