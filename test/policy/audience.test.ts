import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { UnsecuredJWT } from 'jose';
import { refuseAudience } from '../../src/policy/audience.ts';
import { exampleAgent } from '../support/rules.ts';

const jwt = (aud: string | string[]): string => new UnsecuredJWT({ sub: 'a' }).setAudience(aud).encode();
const here = jwt('https://pay.example/');
const elsewhere = jwt(['https://mail.example', 'https://pay.example.evil.test']);

function isRefused(authorization: string | undefined, opaque: 'allow' | 'refuse' = 'allow'): boolean {
  const { extended, ...agent } = exampleAgent('pay');
  const rule = { ...agent, extended: { ...extended, audience: ['https://pay.example'], opaque } };
  const refusal = refuseAudience(authorization, rule);
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
