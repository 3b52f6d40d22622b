import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type http from 'node:http';
import { after, before, describe, test } from 'node:test';
import { SignJWT, base64url, exportSPKI, importJWK } from 'jose';
import { RawSocket } from '../support/raw-socket.ts';
import type { Got } from '../support/world.ts';
import { Attacked, EXTENDED, ISSUER, isHit, markOf, ownerOf } from './attacked-world.ts';

/**
 * Every case of the table of tokens, against a whole daemon: listener, issuer's keys over the network, an agent with an extended card for
 * each caller, receipts. What the contract says otherwise than the table is said where it is.
 */

interface Case {
  readonly id: string;
  readonly title: string;
}
const CASES = JSON.parse(
  readFileSync(new URL('../fixtures/attacks/jwt.json', import.meta.url), 'utf8'),
) as readonly Case[];

/** Cases that cannot be run, each with the reason. */
const NOT_APPLICABLE: Readonly<Record<string, string>> = {
  'JWT-5': 'an issuer without issuer or audience cannot be written: test/config/principals.test.ts holds both',
  'JWT-51': 'there is no list of single tokens: jti is not read',
};

type Run = () => Promise<void>;

let attacked: Attacked;
let own = '';
before(async () => {
  attacked = await Attacked.start({
    extended: 'opaque: allow',
    claims: '{ tenant: tenant, tenantHeader: Cardea-Tenant }',
    agent: 'visibleTo: [{ tenant: acme }, { tenant: globex }]',
  });
  own = await attacked.caller();
  assert.equal(ownerOf(await attacked.extended(own)), markOf(own));
});
after(() => attacked.stop());

const now = (): number => Math.floor(attacked.world.clock.now() / 1_000);
const signed = async (
  claims: Readonly<Record<string, unknown>>,
  header: Readonly<Record<string, unknown>> = {},
): Promise<string> => `Bearer ${await attacked.idp.token({ aud: ['weather'], ...claims }, header)}`;
const written = async (header: string, payload: string): Promise<string> =>
  `Bearer ${await attacked.idp.sign(header, payload)}`;
const HEADER = '{"alg":"ES256","kid":"k1"}';
const claimsText = (more: string, sub = '"sub":"alice"'): string =>
  `{"iss":"${ISSUER}","aud":["weather"],"tenant":"acme","exp":${now() + 60},${sub}${more}}`;

/** Refused, and by nothing but the token: the agent is not asked, and the answer has no word of it. */
async function assertRefused(authorization: string, code: string, what = authorization): Promise<void> {
  const asked = attacked.asked;
  for (const path of ['/agents/weather/extendedAgentCard', '/agents/weather/.well-known/agent-card.json', '/agents']) {
    const got = await attacked.extended(authorization, {}, path);
    assert.deepEqual([got.status, codeOf(got)], [401, code], `${what} at ${path}`);
    assert.equal(got.headers['www-authenticate'], 'Bearer error="invalid_token"', what);
    assert.ok(!/alice|acme|ey[A-Z]/.test(got.body), got.body);
  }
  assert.equal(attacked.asked, asked, what);
}

const codeOf = ({ body, code }: Got): string | undefined => code ?? /"code":"([a-z-]+)"/.exec(body)?.[1];

/** Let in as somebody: with a card of its own, which is not alice's. */
async function assertApart(authorization: string, more: http.OutgoingHttpHeaders = {}): Promise<void> {
  const got = await attacked.extended(authorization, more);
  assert.ok(!isHit(got), authorization);
  assert.notEqual(ownerOf(got), markOf(own), authorization);
}

async function assertTaken(authorization: string, more: http.OutgoingHttpHeaders = {}): Promise<void> {
  const got = await attacked.extended(authorization, more);
  assert.equal(got.status, 200, `${authorization.slice(0, 60)} ${got.body}`);
}

const refuses =
  (code: string, ...made: readonly (() => Promise<string>)[]): Run =>
  async () => {
    for (const make of made) await assertRefused(await make(), code);
  };

const RUNS: Readonly<Record<string, Run>> = {
  'JWT-1': async () => {
    assert.ok(isHit(await attacked.extended(own)));
    await assertTaken(await attacked.caller({ aud: ['cardea', 'weather'] }));
  },
  // Near misses are names of other issuers, of whom none is configured: callers of their own, that no issuer vouches for.
  'JWT-3': async () => {
    const near = [
      `${ISSUER}/`,
      'https://IDP.test',
      'http://idp.test',
      `${ISSUER}:443`,
      'https://ıdp.test',
      ` ${ISSUER}`,
    ];
    for (const iss of near) {
      const authorization = await signed({ iss });
      assert.equal(
        (await attacked.extended(authorization)).code ?? codeOf(await attacked.extended(authorization)),
        'unknown-agent',
      );
    }
  },
  'JWT-7': refuses('token-audience', () => signed({ aud: 'other' })),
  'JWT-9': async () => {
    for (const aud of [undefined, [], {}, 7, [7], null]) await assertRefused(await signed({ aud }), 'token-invalid');
    for (const aud of ['', 'weather2', 'weath', 'Weather', 'weather ', ['']])
      await assertRefused(await signed({ aud }), 'token-audience', JSON.stringify(aud));
  },
  'JWT-11': async () => {
    for (const past of [30, 31]) await assertRefused(await signed({ exp: now() - past }), 'token-expired');
    await assertTaken(await signed({ exp: now() - 29 }));
  },
  'JWT-13': async () => {
    for (const exp of ['1700000000', null, true, [], now() + 1.5, -1, 1e300, 2 ** 53, undefined])
      await assertRefused(await signed({ exp }), 'token-invalid', String(exp));
    for (const exp of ['NaN', '1e999', '01', '1.']) {
      const payload = `{"iss":"${ISSUER}","aud":"weather","sub":"alice","tenant":"acme","exp":${exp}}`;
      await assertRefused(await written(HEADER, payload), 'token-invalid', exp);
    }
  },
  'JWT-15': async () => {
    await assertRefused(await signed({ nbf: now() + 31 }), 'token-expired');
    await assertTaken(await signed({ nbf: now() + 30 }));
    for (const nbf of ['soon', now() + 0.5, null, [now()]])
      await assertRefused(await signed({ nbf }), 'token-invalid', String(nbf));
  },
  // RFC 7519 leaves iat out; RFC 9068, for what says that it is an access token, does not.
  'JWT-17': async () => {
    await assertRefused(await signed({ iat: undefined }), 'token-invalid');
    await assertTaken(await signed({ iat: undefined }, { typ: 'JWT' }));
    await assertRefused(await signed({ iat: now() + 31 }), 'token-expired');
    await assertTaken(await signed({ iat: now() + 30 }));
  },
  'JWT-19': async () => {
    const day = 86_400_000;
    const token = await signed({});
    await assertTaken(token);
    await attacked.world.clock.advance(-day);
    await assertRefused(token, 'token-expired', 'of the future');
    await attacked.world.clock.advance(2 * day);
    await assertRefused(token, 'token-expired', 'of the past');
    await attacked.world.clock.advance(-day);
    await assertTaken(token);
  },
  'JWT-21': async () => {
    const [jwk] = attacked.idp.jwks.keys;
    const key = await importJWK({ ...jwk }, 'ES256', { extractable: true });
    assert.ok(key instanceof CryptoKey);
    const pem = await exportSPKI(key);
    for (const secret of [pem, `\n${pem}`, ` ${pem} `, JSON.stringify(jwk), String(jwk?.x)]) {
      for (const alg of ['HS256', 'HS384', 'HS512']) {
        const forged = await new SignJWT({ iss: ISSUER, aud: 'weather', sub: 'alice', tenant: 'acme', exp: now() + 60 })
          .setProtectedHeader({ alg, kid: 'k1' })
          .sign(new TextEncoder().encode(secret));
        await assertRefused(`Bearer ${forged}`, 'token-invalid');
      }
    }
    for (const alg of ['none', 'None', 'NONE', 'nOnE', '', 'ES384', 'ES256K', 'RS256', 'EdDSA', 'ES256 '])
      await assertRefused(
        `Bearer ${base64url.encode(JSON.stringify({ alg, kid: 'k1' }))}.${own.split('.')[1]}.${own.split('.')[2]}`,
        'token-invalid',
        alg,
      );
    for (const empty of [`${base64url.encode('{"alg":"none"}')}.${own.split('.')[1]}.`])
      await assertRefused(`Bearer ${empty}`, 'token-invalid');
  },
  // Most issuers write JWT or nothing; RFC 9068 has no say in their tokens.
  'JWT-23': async () => {
    for (const typ of ['id+jwt', 'dpop+jwt', 'logout+jwt', 'secevent+jwt', 'JOSE', '', 7, null, ['at+jwt']])
      await assertRefused(await signed({}, { typ }), 'token-invalid', String(typ));
    for (const typ of ['JWT', undefined, 'AT+JWT']) await assertTaken(await signed({}, { typ }));
  },
  'JWT-25': async () => {
    for (const claims of [{ nonce: 'n' }, { at_hash: 'x' }, { c_hash: 'x' }, { s_hash: 'x' }])
      await assertRefused(await signed(claims, { typ: 'JWT' }), 'token-invalid');
    await assertRefused(await signed({ at_hash: 'x' }), 'token-invalid');
  },
  'JWT-27': async () => {
    const asked = attacked.world.origin.asked.length;
    const brought = [
      { jku: `${attacked.url}/evil.json` },
      { x5u: `${attacked.url}/evil.pem` },
      { jwk: attacked.stranger.jwks.keys[0] },
      { x5c: ['MIIB'] },
    ];
    for (const header of brought) {
      const forged = await attacked.stranger.token({ aud: ['weather'] }, header);
      await assertRefused(`Bearer ${forged}`, 'token-invalid');
    }
    assert.ok(attacked.world.origin.asked.slice(asked).every((line) => line === 'GET /jwks.json'));
    for (const crit of [['exp'], ['b64'], [], 'exp'])
      await assertRefused(
        await written(JSON.stringify({ alg: 'ES256', kid: 'k1', crit, b64: false, exp: 1 }), claimsText('')),
        'token-invalid',
      );
  },
  'JWT-29': async () => {
    await assertTaken(await written(HEADER, claimsText('')));
    const twice = [
      claimsText('', '"sub":"admin","sub":"alice"'),
      claimsText('', '"sub":"admin","su\\u0062":"alice"'),
      claimsText(',"aud":"cardea"'),
      claimsText(',"tenant":"globex"'),
      claimsText(',"__proto__":{"tenant":"globex"}'),
      claimsText(',"act":{"sub":"a","sub":"b"}'),
    ];
    for (const payload of twice) await assertRefused(await written(HEADER, payload), 'token-invalid', payload);
    // A header that nobody can read alike is no JWT's; what it says then counts for nothing.
    await assertApart(await written('{"alg":"ES256","kid":"k2","kid":"k1"}', claimsText('')));
  },
  'JWT-31': async () => {
    for (const sub of [
      undefined,
      '',
      7,
      ['alice'],
      null,
      { a: 1 },
      'a\nb',
      ' alice',
      'alice ',
      'alice\u200b',
      'e\u0301',
    ])
      await assertRefused(await signed({ sub }), 'token-invalid', JSON.stringify(sub));
  },
  'JWT-33': async () => {
    for (const tenant of [undefined, null]) await assertRefused(await signed({ tenant }), 'token-invalid');
  },
  'JWT-35': async () => {
    for (const tenant of ['', 't1\n', 't1 ', ' acme', 'acme\u0000', 'e\u0301', 'x'.repeat(257), 7, {}, [[]], [''], []])
      await assertRefused(await signed({ tenant }), 'token-invalid', JSON.stringify(tenant).slice(0, 20));
    // A name like any other: compared whole, and of nobody whom the agent is shown to.
    for (const tenant of ['t1|t2', 'ACME', '../acme', '*', '__proto__', 'acme/..', 'acme,globex', 'аcme'])
      assert.equal(codeOf(await attacked.extended(await signed({ tenant }))), 'unknown-agent', tenant);
    const several = await signed({ tenant: ['acme', 'globex'] });
    await assertRefused(several, 'token-invalid');
    await assertTaken(several, { 'Cardea-Tenant': 'globex' });
    for (const chosen of ['initech', 'GLOBEX', 'acme, globex', 'acme globex', '*'])
      assert.equal(codeOf(await attacked.extended(several, { 'Cardea-Tenant': chosen })), 'token-invalid', chosen);
    for (const path of [EXTENDED, '/agents/weather/.well-known/agent-card.json']) {
      const { headers } = await attacked.extended(several, { 'Cardea-Tenant': 'globex' }, path);
      assert.match(String(headers.vary), /(?:^|, )Authorization, Proxy-Authorization, Cardea-Tenant(?:,|$)/, path);
    }
    assert.equal(codeOf(await attacked.extended(own, { 'Cardea-Tenant': 'globex' })), 'token-invalid');
    const twice = await attacked.raw([`Authorization: ${several}`, 'Cardea-Tenant: acme', 'Cardea-Tenant: globex']);
    assert.ok(twice.status === 400 || twice.status === 401, String(twice.status));
  },
  // Tenants are not configured one by one; a reload that takes its sight away is what comes nearest.
  'JWT-37': async () => {
    const globex = await signed({ tenant: 'globex' });
    await assertTaken(globex);
    const config = attacked.world.written;
    attacked.world.writes(config.replace(', { tenant: globex }', ''));
    await attacked.world.daemon.reload('file');
    assert.equal(codeOf(await attacked.extended(globex)), 'unknown-agent');
    attacked.world.writes(config);
    await attacked.world.daemon.reload('file');
  },
  'JWT-39': async () => {
    const marks = new Set<string | undefined>();
    const scopes = [
      'cards:read cards:read-all',
      'cards:read-all',
      'CARDS:READ',
      'cards:read\tcards:read-all',
      undefined,
      'cards:rea d',
    ];
    for (const scope of scopes) {
      const authorization = await signed({ scope });
      const got = await attacked.extended(authorization);
      assert.ok(!isHit(got), String(scope));
      marks.add(ownerOf(got));
    }
    assert.equal(marks.size, scopes.length);
    assert.ok(isHit(await attacked.extended(await signed({ scope: ['cards:read-all', 'cards:read', 'cards:read'] }))));
    for (const scope of [7, {}, [7], [['a']]]) await assertRefused(await signed({ scope }), 'token-invalid');
  },
  'JWT-41': async () => {
    const token = own.replace('Bearer ', '');
    const carriers: readonly http.OutgoingHttpHeaders[] = [
      { Cookie: `token=${token}; Authorization=${own}` },
      { 'X-Auth-Token': token, 'X-Authorization': own, 'X-Forwarded-Access-Token': token },
      { 'Sec-WebSocket-Protocol': `bearer, ${token}` },
    ];
    const path = '/agents/weather/extendedAgentCard';
    for (const headers of carriers)
      assert.equal(
        (await attacked.world.get(path, { 'A2A-Version': '1.0', ...headers })).code ?? 'unknown-agent',
        'unknown-agent',
      );
    const inUrl = await attacked.world.get(`${path}?access_token=${token}`, { 'A2A-Version': '1.0' });
    const inForm = await attacked.world.post('/agents/weather', `access_token=${token}`, {
      'Content-Type': 'application/x-www-form-urlencoded',
    });
    for (const got of [inUrl, inForm]) assert.ok(got.status >= 400 && ownerOf(got) === undefined, got.body);
  },
  'JWT-43': async () => {
    const big = await signed({ filler: 'a'.repeat(6_200) });
    assert.ok(big.length > 8_192 && big.length < 12_000);
    // What is not read is nobody's word: it is nobody of the tenant that it names.
    assert.equal(codeOf(await attacked.extended(big)), 'unknown-agent');
    for (const length of [100_000, 1_048_576]) {
      const socket = await RawSocket.connect(Number(attacked.world.base.split(':').at(-1)));
      await socket
        .send(`GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${'a'.repeat(length)}\r\n\r\n`)
        .catch(() => undefined);
      const [response] = await socket.responses(1);
      socket.close();
      if (response !== undefined) assert.equal(response.status, 431);
    }
  },
  'JWT-45': async () => {
    const [header = '', payload = '', signature = ''] = own.replace('Bearer ', '').split('.');
    const none = [
      'a.b',
      'a.b.c.d',
      `${header}.${payload}`,
      `${header}.${payload}.${signature}.`,
      `${header}.${payload}.${signature}.x`,
      '.',
      '..',
      `${header}=.${payload}.${signature}`,
      JSON.stringify({ payload, signatures: [{ protected: header, signature }] }),
      `.${header}.${payload}.${signature}`,
      `${header}\t.${payload}.${signature}`,
    ];
    for (const shape of none) assert.equal(codeOf(await attacked.extended(`Bearer ${shape}`)), 'unknown-agent', shape);
    const broken = [
      `${header}. ${payload}.${signature}`,
      `${header}.${payload}=.${signature}`,
      `${header}.${payload}.${signature}=`,
      `${header}.x.${signature}`,
      `${header}..${signature}`,
      `${header}.${payload}.`,
      `${header}.${payload}.${signature}AA`,
      `${header}.${payload.replace(/.$/, '*')}.${signature}`,
    ];
    for (const shape of broken) await assertRefused(`Bearer ${shape}`, 'token-invalid', shape);
    const folded = await attacked.raw([`Authorization: Bearer ${header}.`, ` ${payload}.${signature}`]);
    assert.equal(folded.status, 400);
  },
  'JWT-47': async () => {
    const header = base64url.encode('{"alg":"dir","enc":"A256GCM","zip":"DEF"}');
    assert.equal(codeOf(await attacked.extended(`Bearer ${header}..aaaa.bbbb.cccc`)), 'unknown-agent');
    await assertRefused(await written('{"alg":"ES256","kid":"k1","zip":"DEF"}', claimsText('')), 'token-invalid');
    await assertRefused(`Bearer ${header}.${own.split('.')[1]}.aaaa`, 'token-invalid');
  },
  'JWT-49': async () => {
    const carol = await signed({ sub: 'carol' });
    await assertTaken(carol);
    const done = await attacked.admin('/principals/revoke', { principal: `${ISSUER}#carol`, reason: 'left' });
    assert.equal(done.status, 200, done.body);
    await assertRefused(carol, 'token-revoked');
  },
  'JWT-53': async () => {
    const { idp, world } = attacked;
    const fetches = (): number => world.origin.asked.filter((line) => line === 'GET /jwks.json').length;
    await world.clock.advance(30_000); // since a token last named an unknown key
    const old = await signed({ sub: 'dora' });
    await assertTaken(old);
    const fetched = fetches();
    await idp.rotate();
    await assertTaken(await signed({ sub: 'dora' }));
    await assertTaken(await signed({ sub: 'dora', jti: '2' }));
    assert.equal(fetches(), fetched + 1);
    await assertTaken(old);
    idp.withdraw();
    await world.clock.advance(30_000);
    const unknown = await attacked.stranger.token({ aud: ['weather'] }, { kid: 'unknown' });
    await assertRefused(`Bearer ${unknown}`, 'token-invalid');
    await assertRefused(old, 'token-invalid');
    own = await attacked.caller();
  },
  'JWT-55': async () => {
    const token = own.replace('Bearer ', '');
    await assertTaken(own);
    const last = token.at(-1) ?? '';
    const twin = ALPHABET[(ALPHABET.indexOf(last) & ~3) + ((ALPHABET.indexOf(last) + 1) & 3)];
    await assertRefused(`Bearer ${token.slice(0, -1)}${twin}`, 'token-invalid', 'bits after the end');
    await assertRefused(`Bearer ${token.slice(0, -4)}AAAA`, 'token-invalid', 'another signature');
    await assertRefused(`Bearer ${token.slice(0, -1)}`, 'token-invalid', 'a prefix');
    const [mine, hers] = await Promise.all([signed({ sub: 'alice' }), signed({ sub: 'alicf' })]);
    await assertTaken(hers);
    const [header, payload] = hers.split('.');
    await assertRefused(`${header}.${payload}.${mine.split('.')[2]}`, 'token-invalid', 'the signature of another');
  },
  'JWT-57': async () => {
    const { idp, world } = attacked;
    const good = await signed({ sub: 'emil' });
    await assertTaken(good);
    const asked = attacked.asked;
    await world.clock.advance(30_000);
    const [kept] = idp.jwks.keys.splice(0);
    assert.ok(kept);
    await idp.rotate();
    const early = `Bearer ${await idp.token({ aud: ['weather'], sub: 'emil' })}`;
    const [late] = idp.jwks.keys.splice(0, 1, kept);
    assert.ok(late);
    await assertRefused(early, 'token-invalid', 'before its key is published');
    idp.jwks.keys.push(late);
    await world.clock.advance(30_000);
    await assertTaken(early);
    for (let index = 0; index < 1_100; index += 1)
      await attacked.world.get('/agents', {
        Authorization: `Bearer ${base64url.encode('{"alg":"HS256"}')}.${base64url.encode(`{"iss":"${ISSUER}","n":${index}}`)}.`,
      });
    assert.ok(isHit(await attacked.extended(good)));
    assert.equal(attacked.asked, asked);
    own = await attacked.caller();
  },
  'JWT-59': async () => {
    await attacked.world.clock.advance(7_200_000);
    await attacked.world.quiet();
    own = await attacked.caller();
    await assertTaken(own);
    const paths = attacked.world.origin.asked.map((line) => line.split(' ')[1]);
    assert.deepEqual(
      paths.filter((path) => /openid|oauth|evil/.test(path ?? '')),
      [],
    );
  },
  // Within one answer: time is not what this can measure, but what there is to tell the three apart by is.
  'JWT-61': async () => {
    const wrong = [await signed({ sub: 7 }), `${own.slice(0, -4)}AAAA`, await signed({}, { kid: 'unknown' })];
    const seen = new Set<string>();
    for (const authorization of wrong) {
      const { status, headers, code } = await attacked.extended(authorization, {}, '/agents');
      seen.add(
        JSON.stringify([
          status,
          code,
          headers['www-authenticate'],
          Object.keys(headers).filter((name) => name !== 'date'),
        ]),
      );
    }
    assert.equal(seen.size, 1, [...seen].join('\n'));
  },
  'JWT-65': async () => {
    const got = await attacked.world.get('/agents/weather/extendedAgentCard', { 'A2A-Version': '1.0' });
    assert.equal(codeOf(got), 'unknown-agent');
  },
  'JWT-67': refuses(
    'token-invalid',
    () => signed({ cnf: { jkt: 'x' } }),
    () => signed({ cnf: { 'x5t#S256': 'x' } }),
  ),
  'JWT-69': async () => {
    const token = own.replace('Bearer ', '');
    await assertTaken(own);
    for (const value of [`bearer ${token}`, `BEARER  ${token}`, `Bearer\t${token}`]) {
      const { status, fields } = await attacked.raw([`Authorization: ${value}`]);
      assert.deepEqual([status, /hit/.test(fields.get('cache-status') ?? '')], [200, true], value.slice(0, 12));
    }
    for (const value of [
      'Basic YTpi',
      `Bearer, Basic ${token}`,
      `Basic ${token}`,
      `Token ${token}`,
      token,
      `DPoP ${token}`,
    ])
      assert.equal(codeOf(await attacked.extended(value)), 'unknown-agent', value.slice(0, 12));
  },
};

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

describe('attack table: tokens, against the whole daemon', () => {
  for (const { id, title } of CASES) {
    const run = RUNS[id];
    if (run !== undefined) test(`${id} ${title}`, run);
  }
  test('JWT-63 nothing of a token is in log, metrics or receipts, and the receipts say why each was refused', async () => {
    await attacked.world.clock.advance(61_000); // refusals are written down once a minute
    const receipts = await attacked.admin('/receipts?limit=1000');
    const metrics = await attacked.world.get(`http://${attacked.world.daemon.started.ops[0]}/metrics`);
    const log = attacked.world.log.join('');
    for (const text of [receipts.body, metrics.body, log])
      assert.doesNotMatch(text, /eyJ[A-Za-z0-9_-]{8,}|alice|carol/);
    for (const code of ['token-invalid', 'token-expired', 'token-audience', 'token-revoked'])
      assert.ok(receipts.body.includes(`"code":"${code}"`), code);
  });
  test('every case is run or has a reason, and never both', () => {
    const ids = CASES.map(({ id }) => id);
    const held = [...Object.keys(RUNS), 'JWT-63', ...Object.keys(NOT_APPLICABLE)];
    assert.deepEqual(held.toSorted(), ids.toSorted());
  });
});
