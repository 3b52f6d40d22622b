import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { isSameSite } from '../../src/card/interface-hosts.ts';
import { suffixed } from '../../src/kernel/public-suffix.ts';

const isLoaded = (): boolean =>
  Object.keys(createRequire(import.meta.url).cache).some((file) => file.includes('tldts'));

test('the list is loaded when two hosts differ, and not before', () => {
  assert.equal(isSameSite('agent.example.com.', 'agent.example.com'), true);
  assert.equal(isLoaded(), false);
  assert.equal(isSameSite('agent.example.com', 'cards.example.com'), true);
  assert.equal(isLoaded(), true);
});

const cases: readonly (readonly [host: string, suffix: string | null, site: string | null])[] = [
  ['a.example.co.uk', 'co.uk', 'example.co.uk'],
  ['co.uk', 'co.uk', null],
  ['a.b.github.io', 'github.io', 'b.github.io'],
  ['weather.ns1.svc.cluster.local', 'local', null],
  ['localhost', 'localhost', null],
  ['192.0.2.1', null, null],
];
for (const [host, suffix, site] of cases) {
  test(`${host} is below ${suffix ?? 'nothing'}`, () => assert.deepEqual(suffixed(host), { suffix, site }));
}
