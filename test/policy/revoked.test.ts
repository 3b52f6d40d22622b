import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Tag, tag } from '../../src/kernel/ids.ts';
import { type Principal, plainPrincipal } from '../../src/kernel/principal.ts';
import { REVOKED_FOR } from '../../src/kernel/revocation.ts';
import { type EpochMs, epochMs } from '../../src/kernel/units.ts';
import { revokedBy } from '../../src/policy/revoked.ts';

const AT = epochMs(1_700_000_000_500);
const ALICE = tag('principal:h_a');
const ACME = tag('tenant:h_t');

const verified = (issuedAt: number | null): Principal => ({
  ...plainPrincipal('opaque', 'https://idp#alice'),
  kind: 'verified',
  issuedAt: issuedAt === null ? null : epochMs(issuedAt),
});
const isRevoked = (
  scope: Tag,
  principal: Principal,
  now: EpochMs = AT,
  tags: readonly Tag[] = [ALICE, ACME],
): boolean => revokedBy(new Map([[scope, { scope, at: AT }]]), { principal, tags }, now)?.code === 'token-revoked';

describe('who is refused by a revocation', () => {
  const all = tag('all');
  const cases: readonly (readonly [name: string, scope: Tag, principal: Principal, revoked: boolean])[] = [
    ['a token of the second before', ALICE, verified(1_699_999_999_000), true],
    ['a token of the same second', ALICE, verified(1_700_000_000_000), true],
    ['a token of the very instant', ALICE, verified(AT), true],
    ['a token of the second after', ALICE, verified(1_700_000_001_000), false],
    ['a token that does not say', ALICE, verified(null), true],
    ['a token of the tenant', ACME, verified(1_700_000_000_000), true],
    ['a newer token of the tenant', ACME, verified(1_700_000_001_000), false],
    ['a token of somebody else', tag('principal:h_b'), verified(1_700_000_000_000), false],
    ['an opaque credential', ALICE, plainPrincipal('opaque', 'h_a'), true],
    ['a certificate', ALICE, plainPrincipal('certificate', 'certificate#x'), true],
    ['a listener of that name', ALICE, plainPrincipal('listener', 'x'), true],
    ['everything: an old token', all, verified(1_700_000_000_000), true],
    ['everything: a newer token', all, verified(1_700_000_001_000), false],
    ['everything: an opaque credential', all, plainPrincipal('opaque', 'h_a'), true],
    ['everything: a certificate', all, plainPrincipal('certificate', 'certificate#x'), true],
    ['everything: nobody', all, plainPrincipal('anonymous', 'listener#agents'), false],
    ['everything: a listener', all, plainPrincipal('listener', 'x'), false],
  ];
  for (const [name, scope, principal, expected] of cases) {
    test(`${name}: ${expected ? 'refused' : 'not refused'}`, () => assert.equal(isRevoked(scope, principal), expected));
  }
  test('until no token from before can be valid, and with a clock that was set back', () => {
    const old = verified(1_700_000_000_000);
    assert.equal(isRevoked(ALICE, old, epochMs(AT + REVOKED_FOR - 1)), true);
    assert.equal(isRevoked(ALICE, old, epochMs(AT + REVOKED_FOR)), false);
    assert.equal(isRevoked(ALICE, old, epochMs(AT - 60_000)), true);
  });
  test('one of several that concern it is enough', () => {
    const revocations = new Map([
      [ALICE, { scope: ALICE, at: epochMs(AT - 10_000) }],
      [ACME, { scope: ACME, at: AT }],
    ]);
    const bearer = { principal: verified(AT - 5_000), tags: [ALICE, ACME] };
    assert.equal(revokedBy(revocations, bearer, AT)?.code, 'token-revoked');
  });
});
