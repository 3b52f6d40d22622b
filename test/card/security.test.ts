import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { declaresChallenge, readSecurity } from '../../src/card/security.ts';

const card = readSecurity({
  securitySchemes: {
    bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } },
    oidc: { openIdConnectSecurityScheme: { openIdConnectUrl: 'https://idp.example/.well-known/openid-configuration' } },
  },
});

describe('challenges that a card declares', () => {
  const cases: readonly (readonly [challenges: string, isDeclared: boolean])[] = [
    ['Bearer', true],
    ['bearer realm="a"', true],
    ['Bearer realm="a", error="invalid_token", error_description="no, not \\"this\\""', true],
    ['Bearer realm="a", scope="x y", Bearer realm="b"', true],
    ['Bearer realm = "a" , scope= "x"', true],
    [', Bearer realm="a",', true],
    ['Bearer abc==', true],
    ['Bearer realm="Basic realm=, Basic"', true],
    ['Basic realm="a"', false],
    // Another one behind one that is declared.
    ['Bearer realm="a", Basic realm="corporate login"', false],
    ['Bearer, Basic', false],
    ['Bearer realm="a",Basic realm="b"', false],
    ['Bearer realm="a", Negotiate', false],
    ['Bearer realm="a", Negotiate YII=', false],
    ['Bearer realm="a" , \t NTLM', false],
    ['Bearer realm="a\\", Basic realm="b"', true],
    ['Bearer realm="a\\\\", Basic realm="b"', false],
    ['Bearer realm="never closed, Basic realm=b', true],
    ['Bearer, B@sic realm="a"', false],
    ['', false],
    [',', false],
    ['=', false],
  ];
  for (const [challenges, isDeclared] of cases)
    test(JSON.stringify(challenges), () => assert.equal(declaresChallenge(card, challenges), isDeclared));

  test('what is long and never ends is read once', () => {
    assert.ok(declaresChallenge(card, `Bearer realm="${'\\"'.repeat(500_000)}`));
    assert.ok(declaresChallenge(card, `Bearer ${'"'.repeat(1_000_001)}\\`));
  });
});
