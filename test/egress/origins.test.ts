import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findLookalike } from '../../src/kernel/lookalike.ts';
import { permitTarget } from '../../src/egress/permit.ts';
import { ruleFor } from './harness.ts';

describe('look-alikes', () => {
  const ALLOWED = ['weather.example.com', 'login.paypal.com', 'xn--bcher-kva.example.com'];
  const CASES: readonly (readonly [string, string | null])[] = [
    ['weather.examp1e.com', 'weather.example.com'],
    ['weather.exarnple.com', 'weather.example.com'],
    ['weather-example.com', 'weather.example.com'],
    ['weather.exampel.com', 'weather.example.com'],
    ['weater.example.com', 'weather.example.com'],
    ['weatherr.example.com', 'weather.example.com'],
    ['weather.example.com.evil.test', 'weather.example.com'],
    ['weather.example.com-evil.test', 'weather.example.com'],
    ['xn--wether-4nf.example.com', 'weather.example.com'],
    ['login.paypa1.com', 'login.paypal.com'],
    ['bucher.example.com', 'xn--bcher-kva.example.com'],
    ['weather.example.com', null],
    ['planner.example.com', null],
    ['example.com', null],
    ['a.b', null],
  ];
  for (const [host, expected] of CASES)
    test(`${host} → ${expected}`, () => assert.equal(findLookalike(host, ALLOWED), expected));
  test('short names are one letter apart by nature', () =>
    assert.equal(findLookalike('b.example', ['a.example']), null));

  for (const url of [
    'https://we\u0430ther.example.com/',
    'https://weather\u3002example\u3002com/',
    'https://weather.examp1e.com/',
    'https://wea\u00adther.example.com/',
  ]) {
    test(`${JSON.stringify(url)} is named as a look-alike`, () => {
      const permitted = permitTarget(url, ruleFor(['https://weather.example.com']));
      assert.ok(!permitted.ok);
      assert.equal(permitted.refusal.code, 'lookalike-origin');
      assert.match(permitted.refusal.detail, /resembles weather\.example\.com/);
    });
  }
});

test('a refusal names the line that would allow it', () => {
  const rule = ruleFor(['https://10.0.0.5', 'http://a.example.com'], { cleartext: false, unsafeAddresses: [] });
  const detailOf = (url: string): string => {
    const permitted = permitTarget(url, rule);
    assert.ok(!permitted.ok);
    return permitted.refusal.detail;
  };
  assert.match(detailOf('https://10.0.0.5/'), /add 10\.0\.0\.0\/8 to agents\.weather\.unsafeAddresses/);
  assert.match(detailOf('http://a.example.com/'), /agents\.weather\.unsafeCleartext: true/);
  assert.match(
    detailOf('https://new.example.com/x'),
    /write agents: \{ NAME: \{ card: "https:\/\/new\.example\.com\/x" \} \}\.$/,
  );
});

test('where no rule covers a URL of the configuration, a refusal names the rule that is missing', () => {
  const name = 'origins["https://10.0.0.5"]';
  const rule = ruleFor(['https://10.0.0.5', 'http://a.example.com'], { name, cleartext: false, unsafeAddresses: [] });
  const detailOf = (url: string): string => {
    const permitted = permitTarget(url, rule);
    assert.ok(!permitted.ok);
    return permitted.refusal.detail;
  };
  assert.match(
    detailOf('https://10.0.0.5/keys'),
    /add \{ match: "https:\/\/10\.0\.0\.5", content: none, unsafeAddresses: \["10\.0\.0\.0\/8"\] \} to origins/,
  );
  assert.match(
    detailOf('http://a.example.com/keys'),
    /add \{ match: "http:\/\/a\.example\.com", content: none, unsafeCleartext: true \} to origins/,
  );
});
