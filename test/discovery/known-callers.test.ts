import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Caller, Callers } from '../../src/discovery/callers.ts';
import { later, ms } from '../../src/kernel/units.ts';
import { type TestIssuer, createIssuer } from '../support/issuer.ts';
import { ISSUER, askWith, callersWith, clock } from './callers-world.ts';

let idp: TestIssuer;
before(async () => {
  idp = await createIssuer(ISSUER, () => clock.now());
});
const now = (): number => Math.floor(clock.now() / 1000);

describe('a caller that was identified', () => {
  const TENANT = 'Cardea-Tenant';
  const identified = async (callers: Callers, fields: Readonly<Record<string, string>>): Promise<Caller> => {
    const found = await callers.identify(askWith(fields));
    assert.ok(found.ok);
    return found.value;
  };

  test('is known as long as its token is good, its clock goes on and its key is published', async () => {
    const { callers } = callersWith(() => idp);
    const caller = await identified(callers, { authorization: `Bearer ${await idp.token({ exp: now() + 60 })}` });
    const start = clock.now();
    const knows = (passed: number): boolean => callers.knows(caller, later(start, ms(passed)));
    const end = 60_000 + 30_000 - (start % 1_000);
    assert.deepEqual([0, end - 1, end, -1].map(knows), [true, true, false, false]);
    await idp.rotate();
    idp.withdraw();
    assert.ok(knows(0), 'nobody has asked for the keys');
    await identified(callers, { authorization: `Bearer ${await idp.token()}` });
    assert.ok(!knows(0));
  });

  test('is known by its own credential and tenant, each of them', async () => {
    const { callers } = callersWith(() => idp, { tenantHeader: TENANT });
    const authorization = `Bearer ${await idp.token({ tenant: ['acme', 'globex'] })}`;
    const all: Caller[] = [];
    for (const tenant of ['acme', 'globex'])
      all.push(await identified(callers, { authorization, [TENANT.toLowerCase()]: tenant }));
    all.push(await identified(callers, { authorization: `Bearer ${await idp.token({ tenant: 'acme' })}` }));
    all.push(await identified(callers, { authorization: 'Bearer opaque' }));
    all.push(await identified(callers, {}));
    for (const each of all) assert.ok(callers.knows(each, clock.now()));
    const [acme] = all;
    assert.ok(acme);
    assert.ok(!callers.knows({ ...acme }, clock.now()), 'a caller of before its token was verified anew');
  });

  test('is the very same one for as long as it is remembered', async () => {
    const { callers } = callersWith(() => idp);
    for (const authorization of [`Bearer ${await idp.token()}`, 'Bearer opaque', 'Basic c2VjcmV0'])
      assert.equal(await identified(callers, { authorization }), await identified(callers, { authorization }));
  });
});
