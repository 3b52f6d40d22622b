import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { callerVersion } from '../../src/bindings/version.ts';

describe("the caller's A2A version", () => {
  const known: readonly (readonly [field: string | undefined, target: string, expected: string])[] = [
    [undefined, '/card', 'absent'],
    [undefined, '/card?', 'absent'],
    [undefined, '/card?A2A-Version', 'absent'],
    [undefined, '/card?A2A-Version=', 'absent'],
    ['', '/card', 'absent'],
    ['  ', '/card', 'absent'],
    ['1.0', '/card', '1.0'],
    [' 1.0\t', '/card', '1.0'],
    ['0.3', '/card', '0.3'],
    [undefined, '/card?A2A-Version=1.0', '1.0'],
    [undefined, '/card?a=b&A2A-Version=0.3&c', '0.3'],
    [undefined, '/card?a2a-version=0.3', '0.3'],
    ['', '/card?A2A-Version=0.3', '0.3'],
    ['1.0', '/card?A2A-Version=0.3', '1.0'],
    ['0.3', '/card?A2A-Version=9.9', '0.3'],
    [undefined, '/card?xA2A-Version=9.9', 'absent'],
    [undefined, '/A2A-Version=9.9', 'absent'],
    [undefined, '/x&A2A-Version=9.9', 'absent'],
  ];
  for (const [field, target, expected] of known) {
    test(`${JSON.stringify(field)} with ${target} is ${expected}`, () => {
      assert.deepEqual(callerVersion(field, target), { ok: true, value: expected });
    });
  }

  const unknown = [
    '1.0.0',
    '1',
    '1.',
    '.0',
    '01.0',
    '1.00',
    '0.2',
    '0.3.0',
    '2.0',
    'v1.0',
    '1.0, 0.3',
    '"1.0"',
    'latest',
  ];
  for (const version of [...unknown, 'x'.repeat(5_000)]) {
    test(`${version.slice(0, 20)} is not supported; the answer says what is`, () => {
      const outcome = callerVersion(version, '/');
      assert.ok(!outcome.ok);
      assert.equal(outcome.refusal.code, 'version-not-supported');
      assert.match(outcome.refusal.detail, /0\.3, 1\.0/);
      assert.ok(outcome.refusal.detail.length < 200);
    });
  }

  test('never throws, and knows nothing but the three', () => {
    fc.assert(
      fc.property(fc.option(fc.string(), { nil: undefined }), fc.string(), (field, target) => {
        const outcome = callerVersion(field, target);
        if (outcome.ok) assert.ok(['absent', '0.3', '1.0'].includes(outcome.value));
      }),
    );
  });
});
