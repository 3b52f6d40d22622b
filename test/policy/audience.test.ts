import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { UnsecuredJWT, base64url } from 'jose';
import { agentName } from '../../src/kernel/ids.ts';
import { ms } from '../../src/kernel/units.ts';
import { refuseAudience } from '../../src/policy/audience.ts';
import { exampleAgent } from '../support/rules.ts';

const jwt = (aud: string | string[]): string => new UnsecuredJWT({ sub: 'a' }).setAudience(aud).encode();
const here = jwt('https://pay.example/');
const elsewhere = jwt(['https://mail.example', 'https://pay.example.evil.test']);

function isRefused(authorization: string | undefined, opaque: 'allow' | 'refuse' = 'allow'): boolean {
  const { extended, ...agent } = exampleAgent('pay');
  const rule = { ...agent, extended: { ...extended, audience: ['https://pay.example'], opaque } };
  const refusal = refuseAudience(authorization, rule, []);
  if (refusal !== undefined) assert.equal(refusal.code, 'token-audience');
  return refusal !== undefined;
}

describe('whom a credential is for', () => {
  test('a JWT goes to its audience and nowhere else, whatever scheme it comes under', () => {
    for (const scheme of ['Bearer ', 'bearer  ', 'BEARER\t', 'DPoP ', 'JWT ', 'Token ', 'Bearer, Basic ', '']) {
      assert.ok(!isRefused(scheme + here, 'refuse'), scheme);
      assert.ok(isRefused(scheme + elsewhere), scheme);
      assert.ok(isRefused(`${scheme}${elsewhere} \t`), scheme);
    }
  });
  test('what is no JWT is allowed where the rule says so', () => {
    for (const text of [
      'Bearer opaque',
      'Basic YTpi',
      'Bearer a.b',
      'Bearer a.b.c',
      `Bearer ${here}.d`,
      'Digest nonce="a.b.c"',
    ]) {
      assert.ok(!isRefused(text), text);
      assert.ok(isRefused(text, 'refuse'), text);
    }
    assert.ok(!isRefused(undefined, 'refuse'));
  });
  test('one that names nobody is for nobody', () => {
    for (const claims of [
      '{"sub":"a"}',
      '{"aud":7}',
      '{"aud":[7]}',
      '{"aud":[]}',
      '{"aud":{"x":"https://pay.example"}}',
    ])
      assert.ok(isRefused(`Bearer e30.${Buffer.from(claims).toString('base64url')}.`), claims);
  });
});

const AGENT = 'https://agent.test';
const madeOf = (claims: object, signature = 'c2ln'): string =>
  [JSON.stringify({ alg: 'ES256' }), JSON.stringify(claims)].map((each) => base64url.encode(each)).join('.') +
  `.${signature}`;

const codeOf = (
  authorization: string | undefined,
  opaque: 'allow' | 'refuse' = 'refuse',
  audience: readonly string[] = [AGENT],
): string | undefined => {
  const extended = { credentials: 'forward', audience, opaque, session: ms(1), replacePublic: false } as const;
  const issuers = [{ issuer: 'https://idp.test', audience: ['cardea', 'cardea-2'] }];
  return refuseAudience(authorization, { name: agentName('a'), extended }, issuers)?.code;
};

describe('which refusal a credential gets that is not for the agent', () => {
  const idp = 'https://idp.test';
  const evil = 'https://evil.test';
  const cases: readonly (readonly [what: string, authorization: string | undefined, code: string | undefined])[] = [
    ['nothing', undefined, undefined],
    ['for the agent', `Bearer ${madeOf({ aud: AGENT })}`, undefined],
    ['for the agent, with the slash of its empty path', `Bearer ${madeOf({ aud: `${AGENT}/` })}`, undefined],
    ['for a path of the agent', `Bearer ${madeOf({ aud: `${AGENT}/x` })}`, 'token-audience'],
    ['for the agent among others', `Bearer ${madeOf({ aud: ['x', AGENT] })}`, undefined],
    ['for the agent, of whatever issuer', `Bearer ${madeOf({ aud: AGENT, iss: evil })}`, undefined],
    ['for Cardea, of an issuer that names callers', `Bearer ${madeOf({ aud: 'cardea', iss: idp })}`, 'token-audience'],
    ['for Cardea, of another issuer', `Bearer ${madeOf({ aud: 'cardea', iss: evil })}`, 'token-issuer'],
    [
      'for Cardea among others, of another issuer',
      `Bearer ${madeOf({ aud: ['x', 'cardea-2'], iss: evil })}`,
      'token-issuer',
    ],
    [
      'for Cardea, of an issuer that is spelled otherwise',
      `Bearer ${madeOf({ aud: 'cardea', iss: `${idp}/` })}`,
      'token-issuer',
    ],
    ['for Cardea, of no issuer', `Bearer ${madeOf({ aud: 'cardea' })}`, 'token-issuer'],
    ['for Cardea and the agent', `Bearer ${madeOf({ aud: ['cardea', AGENT], iss: evil })}`, undefined],
    ['for somebody else', `Bearer ${madeOf({ aud: 'x', iss: evil })}`, 'token-audience'],
    ['for nobody', `Bearer ${madeOf({ iss: evil })}`, 'token-audience'],
    ['for what is no text', `Bearer ${madeOf({ aud: [7], iss: evil })}`, 'token-audience'],
    ['of another scheme, as a JWT', `DPoP ${madeOf({ aud: AGENT })}`, undefined],
    ['of another scheme, as a JWT for somebody else', `DPoP ${madeOf({ aud: 'x' })}`, 'token-audience'],
    ['unsigned', `Bearer ${madeOf({ aud: AGENT }, '')}`, undefined],
    ['no JWT', 'Bearer opaque', 'token-audience'],
    ['a password', 'Basic eDp5', 'token-audience'],
    ['three parts that are no JWT', 'Bearer a.b.c', 'token-audience'],
  ];
  for (const [what, authorization, code] of cases)
    test(`${what}: ${code ?? 'may leave'}`, () => assert.equal(codeOf(authorization), code));

  test('what does not say whom it is for may leave where that is allowed, and nothing else changes', () => {
    for (const [what, authorization, code] of cases) {
      const isOpaque = /no JWT|password/.test(what);
      assert.equal(codeOf(authorization, 'allow'), isOpaque ? undefined : code, what);
    }
  });
  test('no refusal has a word of the token', () => {
    const extended = {
      credentials: 'forward',
      audience: [AGENT],
      opaque: 'refuse',
      session: ms(1),
      replacePublic: false,
    } as const;
    const token = madeOf({ aud: 'secret-aud', iss: 'secret-iss' });
    const refusal = refuseAudience(`Bearer ${token}`, { name: agentName('a'), extended }, []);
    assert.doesNotMatch(JSON.stringify(refusal), /secret/);
  });
});
