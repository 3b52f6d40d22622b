import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { cardUrl, originMatch } from '../../src/config/types/web.ts';
import { formatIp, parseIp } from '../../src/egress/ip.ts';
import { permitTarget } from '../../src/egress/permit.ts';
import { canonicalIp } from '../../src/kernel/address-literal.ts';
import { formatPattern, matchOrigin, parseOriginPattern, parseTarget } from '../../src/kernel/origins.ts';
import { pattern, ruleFor } from '../egress/harness.ts';

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

describe('one definition', () => {
  const texts = fc.oneof(
    fc.webUrl({ withQueryParameters: true, validSchemes: ['http', 'https'] }),
    fc.tuple(fc.domain(), fc.integer({ min: -1, max: 65_537 })).map(([host, port]) => `https://${host}:${port}/`),
    fc.string().map((rest) => `https://${rest}`),
  );
  test('what the configuration takes as a URL may be requested under the rule that it makes', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const read = cardUrl.read(text, '');
        if (!read.ok) return true;
        const rule = { ...ruleFor([]), allowed: [read.value.pattern], unsafeAddresses: ['0.0.0.0/0', '::/0'] };
        const permitted = permitTarget(read.value.url, rule);
        return permitted.ok && permitted.value.url === read.value.url;
      }),
    );
  });
  test('what it takes as an origin reads back as itself', () => {
    fc.assert(
      fc.property(fc.tuple(fc.boolean(), texts), ([wildcard, text]) => {
        const read = originMatch.read(wildcard ? text.replace('://', '://*.') : text, '');
        if (!read.ok) return true;
        const parsed = parseOriginPattern(read.value.origin, () => false);
        return parsed.ok && formatPattern(parsed.value) === read.value.origin;
      }),
    );
  });
  test('what is an address to the rules is one to whoever dials', () => {
    const odd = fc.stringMatching(/^[0-9a-f:.%x]{1,20}$/);
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), odd), (text) => {
        const [one, other] = [canonicalIp(text), parseIp(text)];
        if (one === null || other === null) return one === other;
        return formatIp(parseIp(one) ?? assert.fail()) === formatIp(other);
      }),
      { numRuns: 2_000 },
    );
  });
});
