import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { findLookalike } from '../../src/egress/lookalike.ts';
import { formatPattern, matchOrigin, parseOriginPattern, parseTarget } from '../../src/egress/origins.ts';
import { permitTarget } from '../../src/egress/permit.ts';
import { pattern, ruleFor } from './harness.ts';

const suffixes = (host: string): boolean => ['com', 'co.uk', 'github.io', 'example'].includes(host);

describe('an origin in the configuration', () => {
  const GOOD: readonly (readonly [string, string])[] = [
    ['https://weather.example.com', 'https://weather.example.com'],
    ['https://weather.example.com/', 'https://weather.example.com'],
    ['HTTPS://Weather.EXAMPLE.com:443', 'https://weather.example.com'],
    ['http://a.example.com:80', 'http://a.example.com'],
    ['http://a.example.com:443', 'http://a.example.com:443'],
    ['https://*.agents.example.com:8443', 'https://*.agents.example.com:8443'],
    ['https://127.0.0.1:9001', 'https://127.0.0.1:9001'],
    ['https://[0:0:0:0:0:0:0:1]:9001', 'https://[::1]:9001'],
    ['https://bücher.example.com', 'https://xn--bcher-kva.example.com'],
    ['https://localhost:1', 'https://localhost:1'],
    ['https://*.agents.internal', 'https://*.agents.internal'],
    ['https://a.example.com:65535', 'https://a.example.com:65535'],
  ];
  for (const [text, expected] of GOOD) {
    test(`${text} is read`, () => {
      const parsed = parseOriginPattern(text, suffixes);
      assert.ok(parsed.ok, parsed.ok ? '' : parsed.why);
      assert.equal(formatPattern(parsed.value), expected);
    });
  }
  const BAD: readonly string[] = [
    'weather.example.com',
    'ftp://a.example.com',
    'https://',
    'https://a.example.com/path',
    'https://a.example.com?x',
    'https://a.example.com#x',
    'https://user@a.example.com',
    'https://user:pw@a.example.com',
    'https://a.example.com.',
    'https://a.example.com:0',
    'https://a.example.com:65536',
    'https://a.example.com:x',
    'https://*',
    'https://*.com',
    'https://*.co.uk',
    'https://*.github.io',
    'https://a.*.example.com',
    'https://*a.example.com',
    'https://*.*.example.com',
    'https://*.127.0.0.1',
    'https://*.internal',
    'https://*.svc.cluster.local',
    'https://*.localhost',
    'https://127.1',
    'https://0x7f000001',
    'https://2130706433',
    'https://-a.example.com',
    'https://a-.example.com',
    'https://a..example.com',
    'https://a b.example.com',
    'https://a.example.com\\x',
    'https://xn--a.example.com',
    'https://ﬁnance.example.com',
    'https://agents。example。com',
    `https://${'a'.repeat(64)}.example.com`,
    'https://[::1%lo]',
    'https://[127.0.0.1]',
  ];
  for (const text of BAD)
    test(`${text} is refused with a reason`, () => {
      const parsed = parseOriginPattern(text, suffixes);
      assert.ok(!parsed.ok);
      assert.ok(parsed.why.length > 10);
    });
});

describe('matching', () => {
  const CASES: readonly (readonly [string, string, boolean])[] = [
    ['https://*.example.com', 'https://a.example.com/', true],
    ['https://*.example.com', 'https://a.b.example.com/', false],
    ['https://*.example.com', 'https://example.com/', false],
    ['https://*.example.com', 'https://evilexample.com/', false],
    ['https://*.example.com', 'http://a.example.com/', false],
    ['https://*.example.com', 'https://a.example.com:8443/', false],
    ['https://*.google.internal', 'https://metadata.google.internal/', false],
    ['https://metadata.google.internal', 'https://metadata.google.internal/', true],
    ['https://a.example.com', 'https://A.Example.COM:0443/x?y', true],
    ['https://[::1]:9', 'https://[0:0::1]:9/', true],
  ];
  for (const [rule, url, expected] of CASES) {
    test(`${rule} and ${url}`, () => {
      const target = parseTarget(url);
      assert.ok(target.ok);
      assert.equal(matchOrigin(target.value, [pattern(rule)]) !== undefined, expected);
    });
  }
  test('what is read strictly is what the URL parser reads', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true, validSchemes: ['http', 'https'] }), (url) => {
        const parsed = parseTarget(url);
        return !parsed.ok || parsed.value.url === new URL(url).href;
      }),
    );
  });
  test('never throws, whatever is asked', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.string().map((rest) => `https://${rest}`),
        ),
        (text) => {
          parseTarget(text);
          parseOriginPattern(text, suffixes);
          permitTarget(text, ruleFor(['https://a.example.com']));
        },
      ),
    );
  });
});

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
  assert.match(detailOf('https://new.example.com/'), /add \{ match: "https:\/\/new\.example\.com" \} to origins/);
});
