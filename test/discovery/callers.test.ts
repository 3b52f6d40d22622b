import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { SignJWT, base64url, exportSPKI, importJWK } from 'jose';
import fc from 'fast-check';
import type { Caller } from '../../src/discovery/callers.ts';
import { tag } from '../../src/kernel/ids.ts';
import type { Outcome } from '../../src/kernel/refusal.ts';
import type { ClaimNames } from '../../src/policy/rules.ts';
import { type TestIssuer, createIssuer } from '../support/issuer.ts';
import { ISSUER, askWith, callersWith, clock } from './callers-world.ts';

let idp: TestIssuer;
let stranger: TestIssuer;
before(async () => {
  idp = await createIssuer(ISSUER, () => clock.now());
  stranger = await createIssuer(ISSUER, () => clock.now());
});

const world = (claims: Partial<ClaimNames> = {}) => callersWith(() => idp, claims);

type Found = Outcome<Caller>;
const bearer = (token: string, more: Readonly<Record<string, string>> = {}, claims: Partial<ClaimNames> = {}) =>
  Promise.resolve(world(claims).callers.identify(askWith({ authorization: `Bearer ${token}`, ...more })));
const outcome = (found: Found): string => (found.ok ? found.value.principal.kind : found.refusal.code);
const codeOf = async (token: string): Promise<string> => outcome(await bearer(token));
const now = (): number => Math.floor(clock.now() / 1000);

test('two tokens without a scheme are two callers, also where they differ in the case of letters alone', async () => {
  const { callers } = world();
  const idOf = async (authorization: string): Promise<string> => {
    const found = await callers.identify(askWith({ authorization }));
    assert.ok(found.ok);
    return found.value.principal.id;
  };
  assert.notEqual(await idOf('c2VjcmV0'), await idOf('C2VJCMV0'));
  assert.equal(await idOf('Basic c2VjcmV0'), await idOf('basic  c2VjcmV0'), 'of a scheme it says nothing');
});

describe('attack table: tokens of callers', () => {
  test('JWT-1 a valid token names its bearer', async () => {
    const found = await bearer(await idp.token({ scope: 'b a b', roles: ['r'] }));
    assert.ok(found.ok);
    const { principal, tags, credential } = found.value;
    assert.deepEqual(
      [principal.id, principal.tenant, principal.scopes, principal.roles],
      [`${ISSUER}#alice`, 'acme', ['a', 'b'], ['r']],
    );
    assert.ok(tags.includes(`principal:${ISSUER}#alice` as never) && tags.includes('tenant:acme' as never));
    assert.match(credential ?? '', /^h_[0-9a-f]{32}$/);
  });
  test('JWT-3 issuer near-misses are nobody that the issuer vouches for', async () => {
    const near = [
      `${ISSUER}/`,
      'https://IDP.test',
      'http://idp.test',
      `${ISSUER}:443`,
      'https://ıdp.test',
      ` ${ISSUER}`,
    ];
    for (const iss of near) assert.equal(await codeOf(await idp.token({ iss })), 'opaque', iss);
  });
  test('JWT-7 wrong audience', async () =>
    assert.equal(await codeOf(await idp.token({ aud: 'other' })), 'token-audience'));
  test('JWT-9 odd audiences', async () => {
    for (const aud of [undefined, [], {}, 7, [7]])
      assert.equal(await codeOf(await idp.token({ aud })), 'token-invalid', JSON.stringify(aud));
    for (const aud of ['', 'cardea2', 'card', 'Cardea'])
      assert.equal(await codeOf(await idp.token({ aud })), 'token-audience', aud);
    assert.equal(await codeOf(await idp.token({ aud: ['x', 'cardea'] })), 'verified');
    assert.equal(await codeOf(await idp.token({ aud: 'https://weather.example.com' })), 'verified', "an agent's own");
  });
  test('JWT-11 expired, by the skew', async () => {
    assert.equal(await codeOf(await idp.token({ exp: now() - 30 })), 'token-expired');
    assert.equal(await codeOf(await idp.token({ exp: now() - 29 })), 'verified');
  });
  test('JWT-13 exp of another type', async () => {
    for (const exp of ['1700000000', null, true, [], now() + 1.5, -1, 1e300, 2 ** 53, undefined])
      assert.equal(await codeOf(await idp.token({ exp })), 'token-invalid', String(exp));
  });
  test('JWT-15 nbf in the future', async () => {
    assert.equal(await codeOf(await idp.token({ nbf: now() + 31 })), 'token-expired');
    assert.equal(await codeOf(await idp.token({ nbf: now() + 30 })), 'verified');
    assert.equal(await codeOf(await idp.token({ nbf: 'soon' })), 'token-invalid');
  });
  test('JWT-17 iat missing in what says that it is an access token', async () => {
    assert.equal(await codeOf(await idp.token({ iat: undefined })), 'token-invalid');
    assert.equal(
      await codeOf(await idp.token({ iat: undefined }, { typ: 'JWT' })),
      'verified',
      'RFC 7519 leaves it out',
    );
  });
  test('JWT-19 clock jumps', async () => {
    const { callers } = world();
    const token = await idp.token();
    const ask = askWith({ authorization: `Bearer ${token}` });
    assert.equal(outcome(await callers.identify(ask)), 'verified');
    const day = 86_400_000;
    await clock.advance(day);
    assert.equal(outcome(await callers.identify(ask)), 'token-expired');
    const future = await idp.token({ iat: now() + 86_400, exp: now() + 90_000 });
    assert.equal(await codeOf(future), 'token-expired');
  });
  test('JWT-21 HMAC confusion', async () => {
    const [jwk] = idp.jwks.keys;
    const key = await importJWK({ ...jwk }, 'ES256', { extractable: true });
    assert.ok(key instanceof CryptoKey);
    const pem = await exportSPKI(key);
    for (const secret of [pem, `\n${pem}`, ` ${pem} `]) {
      const forged = await new SignJWT({ iss: ISSUER, aud: 'cardea', sub: 'alice', tenant: 'acme' })
        .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
        .setIssuedAt(now())
        .setExpirationTime(now() + 60)
        .sign(new TextEncoder().encode(secret));
      assert.equal(await codeOf(forged), 'token-invalid');
    }
    const none = `${base64url.encode('{"alg":"none"}')}.${base64url.encode(`{"iss":"${ISSUER}"}`)}.`;
    assert.equal(await codeOf(none), 'token-invalid');
  });
  test('JWT-23 typ of another kind of token', async () => {
    for (const typ of ['id+jwt', 'dpop+jwt', 'logout+jwt', 'secevent+jwt', 'JOSE', ''])
      assert.equal(await codeOf(await idp.token({}, { typ })), 'token-invalid', typ);
    // Most issuers write JWT or nothing; RFC 9068 has no say in their tokens.
    for (const typ of ['JWT', 'jwt', undefined, 'AT+JWT', 'application/at+jwt'])
      assert.equal(await codeOf(await idp.token({}, { typ })), 'verified', typ);
  });
  test('JWT-25 an ID token is no access token', async () => {
    for (const claims of [{ nonce: 'n' }, { at_hash: 'x' }, { c_hash: 'x' }])
      assert.equal(await codeOf(await idp.token(claims, { typ: 'JWT' })), 'token-invalid', JSON.stringify(claims));
  });
  test('JWT-27 keys that a token brings itself are not looked at', async () => {
    for (const header of [{ jku: 'https://evil.test' }, { x5u: 'https://evil.test' }, { jwk: stranger.jwks.keys[0] }]) {
      assert.equal(await codeOf(await stranger.token({}, header)), 'token-invalid');
      assert.equal(await codeOf(await idp.token({}, header)), 'verified', 'signed by a published key all the same');
    }
    const critical = '{"alg":"ES256","kid":"k1","crit":["exp"],"exp":1}';
    assert.equal(await codeOf(await idp.sign(critical, `{"iss":"${ISSUER}"}`)), 'token-invalid');
  });
  test('JWT-29 duplicate claims', async () => {
    const header = '{"alg":"ES256","kid":"k1"}';
    const claims = (sub: string): string =>
      `{"iss":"${ISSUER}","aud":"cardea","tenant":"acme","exp":${now() + 60},${sub}}`;
    assert.equal(await codeOf(await idp.sign(header, claims('"sub":"a"'))), 'verified');
    assert.equal(await codeOf(await idp.sign(header, claims('"sub":"admin","sub":"a"'))), 'token-invalid');
    assert.equal(await codeOf(await idp.sign(header, claims('"sub":"admin","su\\u0062":"a"'))), 'token-invalid');
  });
  test('JWT-31 sub missing or no string', async () => {
    for (const sub of [undefined, '', 7, ['alice'], null, 'a\nb', ' a'])
      assert.equal(await codeOf(await idp.token({ sub })), 'token-invalid', JSON.stringify(sub));
  });
  test('JWT-33 tenant missing or null is nobody’s tenant', async () => {
    for (const tenant of [undefined, null]) {
      const token = await idp.token({ tenant });
      assert.equal(await codeOf(token), 'token-invalid');
      const unnamed = await bearer(token, {}, { tenant: null });
      assert.ok(unnamed.ok);
      assert.equal(unnamed.value.principal.tenant, null);
    }
  });
  test('JWT-35 odd tenants: one spelling each, compared byte for byte', async () => {
    for (const tenant of ['', 't1\n', 't1 ', 'e\u0301', 'x'.repeat(10_240), 7, {}, [[]], ['']])
      assert.notEqual(await codeOf(await idp.token({ tenant })), 'verified', JSON.stringify(tenant).slice(0, 20));
    for (const tenant of ['t1|t2', 'T1', '../t2', '*', '__proto__']) {
      const found = await bearer(await idp.token({ tenant }));
      assert.ok(found.ok);
      assert.equal(found.value.principal.tenant, tenant);
    }
  });
  test('several tenants: refused, unless the configured field chooses one of them', async () => {
    const token = await idp.token({ tenant: ['acme', 'globex'] });
    const tenantHeader = 'Cardea-Tenant';
    assert.equal(await codeOf(token), 'token-invalid');
    assert.equal(outcome(await bearer(token, { 'cardea-tenant': 'acme' })), 'token-invalid', 'no field is configured');
    assert.equal(outcome(await bearer(token, {}, { tenantHeader })), 'token-invalid');
    assert.equal(outcome(await bearer(token, { 'cardea-tenant': 'initech' }, { tenantHeader })), 'token-invalid');
    const chosen = await bearer(token, { 'cardea-tenant': 'globex' }, { tenantHeader });
    assert.ok(chosen.ok);
    assert.equal(chosen.value.principal.tenant, 'globex');
    const own = await idp.token({ tenant: 'acme' });
    assert.equal(outcome(await bearer(own, { 'cardea-tenant': 'globex' }, { tenantHeader })), 'token-invalid');
  });
  test('a tenant is chosen by its one spelling, so that no other fills the memory', async () => {
    const { callers } = world({ tenantHeader: 'Cardea-Tenant' });
    const several = await idp.token({ tenant: ['acme', 'globex'] });
    const one = await idp.token();
    const chosen = async (token: string, tenant: string): Promise<string> =>
      outcome(await callers.identify(askWith({ authorization: `Bearer ${token}`, 'cardea-tenant': tenant })));
    for (const token of [several, one]) {
      assert.equal(await chosen(token, 'acme'), 'verified');
      for (const spelling of ['acme\u00a0', '\u00a0acme', 'acme\u00a0\u00a0', 'acme\f'])
        assert.equal(await chosen(token, spelling), 'token-invalid', JSON.stringify(spelling));
      assert.equal(await chosen(token, '\tacme '), 'verified');
    }
    assert.equal(await chosen(several, ''), 'token-invalid', 'an empty field chooses nothing');
    assert.equal(await chosen(one, ''), 'verified');
  });
  test('nobody may have a name that stands for the hash of another', async () => {
    const victim = await bearer(await idp.token());
    assert.ok(victim.ok);
    const hash = victim.value.tenantHash;
    for (const tenant of [hash, [hash], ['acme', hash]])
      assert.equal(await codeOf(await idp.token({ tenant })), 'token-invalid');
    assert.equal(await codeOf(await idp.token({ tenant: `${hash}0` })), 'verified');
  });
  test('the choice of a tenant is made for each request', async () => {
    const { callers } = world({ tenantHeader: 'Cardea-Tenant' });
    const token = await idp.token({ tenant: ['acme', 'globex'] });
    for (const tenant of ['acme', 'globex', 'acme']) {
      const ask = askWith({ authorization: `Bearer ${token}`, 'cardea-tenant': tenant });
      const found = await callers.identify(ask);
      assert.ok(found.ok);
      assert.equal(found.value.principal.tenant, tenant);
    }
  });
  test('JWT-39 scopes are whole words', async () => {
    const cases: readonly (readonly [scope: unknown, read: readonly string[]])[] = [
      ['cards:read cards:read-all', ['cards:read', 'cards:read-all']],
      [['cards:read'], ['cards:read']],
      ['CARDS:READ', ['CARDS:READ']],
      ['a\tb', ['a\tb']],
      [undefined, []],
    ];
    for (const [scope, read] of cases) {
      const found = await bearer(await idp.token({ scope }));
      assert.ok(found.ok);
      assert.deepEqual(found.value.principal.scopes, read);
    }
    assert.equal(await codeOf(await idp.token({ scope: 7 })), 'token-invalid');
  });
  test('JWT-41 tokens elsewhere are not looked at', async () => {
    const token = await idp.token();
    const found = await world().callers.identify(askWith({ cookie: `t=${token}`, 'x-auth-token': token }));
    assert.equal(outcome(found), 'anonymous');
  });
  test('JWT-43 a huge token is not decoded', async () => {
    const token = await idp.token({ filler: 'a'.repeat(6_200) });
    assert.ok(token.length > 8_192);
    assert.equal(await codeOf(token), 'opaque');
    assert.equal(await codeOf('a'.repeat(1_048_576)), 'opaque');
  });
  test('JWT-45 shape errors', async () => {
    const token = await idp.token();
    const [header = '', payload = '', signature = ''] = token.split('.');
    const shapes = [
      'a.b',
      'a.b.c.d',
      `${token}.`,
      '.',
      '..',
      `${header}=.${payload}.${signature}`,
      JSON.stringify({ payload }),
    ];
    for (const shape of shapes) assert.equal(await codeOf(shape), 'opaque', shape);
    for (const shape of [`${header}.${payload}=.${signature}`, `${header}.${payload}.${signature}=`, `${header}.x.y`])
      assert.equal(await codeOf(shape), 'token-invalid', shape);
  });
  test('JWT-47 an encrypted token is not decrypted', async () => {
    const header = base64url.encode('{"alg":"dir","enc":"A256GCM","zip":"DEF"}');
    assert.equal(await codeOf(`${header}..aaaa.bbbb.cccc`), 'opaque');
  });
  test('JWT-53 a new key is asked for once; a key that is gone vouches for nothing', async () => {
    const { callers, renewed } = world();
    const identify = async (token: string) =>
      outcome(await callers.identify(askWith({ authorization: `Bearer ${token}` })));
    const old = await idp.token();
    assert.equal(await identify(old), 'verified');
    await idp.rotate();
    const asked = renewed();
    assert.equal(await identify(await idp.token()), 'verified');
    assert.equal(renewed(), asked + 1);
    assert.equal(await identify(old), 'verified', 'both are published');
    idp.withdraw();
    assert.equal(await identify(await stranger.token({}, { kid: 'unknown' })), 'token-invalid');
    assert.equal(await identify(old), 'token-invalid');
  });
  test('JWT-55 what is remembered of a token is remembered of all of it', async () => {
    const { callers } = world();
    const identify = async (token: string) =>
      outcome(await callers.identify(askWith({ authorization: `Bearer ${token}` })));
    const token = await idp.token();
    assert.equal(await identify(token), 'verified');
    assert.equal(await identify(token), 'verified');
    const forged = `${token.slice(0, -4)}AAAA`;
    assert.equal(await identify(forged), 'token-invalid');
    const last = token.at(-1) ?? '';
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const twin = alphabet[(alphabet.indexOf(last) & ~3) + ((alphabet.indexOf(last) + 1) & 3)];
    assert.equal(await identify(token.slice(0, -1) + twin), 'token-invalid', 'bits after the end');
  });
  test('JWT-57 bad tokens are remembered for a moment, apart from good ones', async () => {
    const { callers } = world();
    const good = askWith({ authorization: `Bearer ${await idp.token()}` });
    assert.equal(outcome(await callers.identify(good)), 'verified');
    for (let index = 0; index < 1_500; index += 1) {
      await callers.identify(
        askWith({
          authorization: `Bearer ${await stranger.sign('{"alg":"HS256"}', `{"iss":"${ISSUER}","n":${index}}`)}`,
        }),
      );
    }
    assert.ok(!(callers.identify(good) instanceof Promise), 'still known');
    await idp.rotate();
    const early = await idp.token();
    idp.jwks.keys.reverse();
    assert.equal(await codeOf(early), 'verified');
  });
  test('JWT-61 refusals say what kind of thing is wrong, and no word of the token', async () => {
    const found = await bearer(await idp.token({ sub: 7, tenant: 'secret-tenant' }));
    assert.ok(!found.ok);
    assert.doesNotMatch(JSON.stringify(found.refusal), /secret-tenant|ey[A-Z]/);
  });
  test('JWT-65 loopback is no credential', async () => {
    const found = await world().callers.identify(askWith({}));
    assert.ok(found.ok);
    assert.deepEqual(
      [found.value.principal.kind, found.value.principal.tenant, found.value.principalHash],
      ['anonymous', null, null],
    );
  });
  test('a connection names its caller where no credential does', async () => {
    const { callers } = world();
    const certificate = { subject: 'CN=c', names: ['URI:spiffe://example.org/planner'], fingerprint: 'ab' };
    for (const [peer, kind, id] of [
      [{ principal: null, certificate }, 'certificate', 'certificate#URI:spiffe://example.org/planner'],
      [{ principal: 'planner', certificate: null }, 'listener', 'planner'],
      [{ principal: 'planner', certificate }, 'listener', 'planner'],
    ] as const) {
      const found = await callers.identify(askWith({}, peer));
      assert.ok(found.ok);
      const { principal, principalHash, tags } = found.value;
      assert.deepEqual([principal.kind, principal.id], [kind, id]);
      assert.match(principalHash ?? '', /^h_/);
      assert.ok(tags.includes(tag(`principal:${id}`)));
      assert.equal(outcome(await callers.identify(askWith({ authorization: 'Basic YTpi' }, peer))), 'opaque');
    }
  });
  test('JWT-67 a token that is bound to a key', async () =>
    assert.equal(await codeOf(await idp.token({ cnf: { jkt: 'x' } })), 'token-invalid'));
  test('JWT-69 the scheme in any case; other schemes are callers of their own', async () => {
    const token = await idp.token();
    const { callers } = world();
    for (const [value, kind] of [
      [`bearer ${token}`, 'verified'],
      [`BEARER  ${token} `, 'verified'],
      ['Basic YTpi', 'opaque'],
      [`Bearer, Basic ${token}`, 'opaque'],
      ['', 'anonymous'],
    ] as const)
      assert.equal(outcome(await callers.identify(askWith({ authorization: value }))), kind, value.slice(0, 12));
  });
  for (const alg of ['RS256', 'PS256', 'ES384', 'EdDSA']) {
    test(`${alg} is verified`, async () => {
      const other = await createIssuer(ISSUER, () => clock.now(), alg);
      const kept = idp.jwks.keys.splice(0, idp.jwks.keys.length, ...other.jwks.keys);
      assert.equal(await codeOf(await other.token()), 'verified');
      idp.jwks.keys.splice(0, idp.jwks.keys.length, ...kept);
    });
  }
});

describe('which credential says who is calling', () => {
  test('Proxy-Authorization goes first, and its refusal is 407', async () => {
    const token = await idp.token();
    const both = await world().callers.identify(
      askWith({ 'proxy-authorization': `Bearer ${token}`, authorization: 'Bearer opaque' }),
    );
    assert.equal(outcome(both), 'verified');
    const bad = await world().callers.identify(
      askWith({ 'proxy-authorization': `Bearer ${await idp.token({ exp: 1 })}`, authorization: `Bearer ${token}` }),
    );
    assert.ok(!bad.ok);
    assert.deepEqual([bad.refusal.code, bad.refusal.status], ['token-expired', 407]);
  });
  test('two credentials never have one name, and one credential has one', () => {
    const { callers } = world();
    const credential = fc.record({ scheme: fc.constantFrom('bearer', 'basic', 'h_'), value: fc.string() });
    fc.assert(
      fc.property(credential, credential, (one, other) => {
        const isSame = one.scheme === other.scheme && one.value === other.value;
        assert.equal(callers.hashCredential(one) === callers.hashCredential(other), isSame);
      }),
    );
  });
  test('a hash that was read in a receipt is no way to be the one that it names', async () => {
    const { callers } = world();
    const victim = await callers.identify(askWith({ authorization: 'Bearer secret' }));
    assert.ok(victim.ok);
    for (const scheme of ['Bearer ', 'principal ', '']) {
      const thief = await callers.identify(askWith({ authorization: `${scheme}${victim.value.principal.id}` }));
      assert.ok(thief.ok);
      assert.notEqual(thief.value.principal.id, victim.value.principal.id);
    }
  });
  test('white space that is none of HTTP is a part of the credential', async () => {
    const { callers } = world();
    const idOf = async (authorization: string): Promise<string> => {
      const found = await callers.identify(askWith({ authorization }));
      assert.ok(found.ok);
      return found.value.principal.id;
    };
    const plain = await idOf('Bearer secret');
    for (const same of ['bearer secret', 'Bearer \t secret\t ', ' Bearer secret'])
      assert.equal(await idOf(same), plain);
    for (const other of [
      'Bearer secret\u00a0',
      'Bearer \u00a0secret',
      'Bearer\u00a0secret',
      'Bearer sec ret',
      'Bearer Secret',
    ])
      assert.notEqual(await idOf(other), plain, JSON.stringify(other));
  });
  test('no bytes make reading a token throw', async () => {
    const { callers } = world();
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.string(), fc.string(), async (one, two, three) => {
        await callers.identify(askWith({ authorization: `Bearer ${one}.${two}.${three}` }));
        await callers.identify(
          askWith({
            authorization: `Bearer ${base64url.encode(`{"alg":"ES256","x":${JSON.stringify(one)}}`)}.${base64url.encode(two)}.${three}`,
          }),
        );
      }),
    );
  });
});
