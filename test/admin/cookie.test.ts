import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cookiesOf, setCookie } from '../../src/admin/cookie.ts';
import { askOf } from './admin-world.ts';

const at = (base: string, cookie = '') => ({ ...askOf('/', { headers: { cookie } }), base });

describe("the console's cookie", () => {
  const names: readonly (readonly [base: string, name: string, attributes: string])[] = [
    ['http://127.0.0.1:8643', 'cardea-session-8643', ''],
    ['http://[::1]:8643', 'cardea-session-8643', ''],
    ['http://localhost', 'cardea-session', ''],
    ['https://cardea.example:8643', '__Host-cardea-session-8643', '; Secure'],
    ['https://cardea.example', '__Host-cardea-session', '; Secure'],
  ];
  for (const [base, name, attributes] of names) {
    test(`is ${name} at ${base}`, () => {
      const given = setCookie(at(base), 'x');
      assert.equal(given, `${name}=x; HttpOnly; SameSite=Strict; Path=/; Max-Age=28800${attributes}`);
      assert.equal(setCookie(at(base), null), `${name}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0${attributes}`);
      assert.deepEqual(cookiesOf(at(base, `a=1; ${name}=x`)), ['x']);
    });
  }
  const fields: readonly (readonly [field: string, found: readonly string[]])[] = [
    ['', []],
    ['cardea-session-8643=a', ['a']],
    ['cardea-session-8643=a, cardea-session-8643=b', ['a', 'b']],
    ['x=cardea-session-8643=a', []],
    ['xcardea-session-8643=a', []],
    ['cardea-session-86430=a', []],
    ['Cardea-Session-8643=a', []],
    ['cardea-session-8643=a=b', ['a=b']],
    [';;; ,cardea-session-8643=', ['']],
    [Array.from({ length: 9 }, (_, n) => `cardea-session-8643=${n}`).join('; '), ['0', '1', '2', '3']],
  ];
  for (const [field, found] of fields) {
    test(`reads ${JSON.stringify(field.slice(0, 60))}`, () =>
      assert.deepEqual(cookiesOf(at('http://127.0.0.1:8643', field)), found));
  }
});
