import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  appendCacheStatus,
  cacheStatusForwarded,
  cacheStatusHit,
  type ClientLife,
  clientCacheControl,
  reprDigest,
  reprDigestOf,
  strongEtag,
} from '../../src/http/answer.ts';
import { isEntityTag } from '../../src/http/etag.ts';
import { lifetimeOf } from '../../src/http/freshness.ts';
import { proxyStatus } from '../../src/http/proxy-status.ts';
import { parseList } from '../../src/http/structured.ts';
import { ms, seconds } from '../../src/kernel/units.ts';
import { CARD, NOW } from './given.ts';

describe('Cache-Status (RFC 9211)', () => {
  const table: readonly (readonly [string, string, string])[] = [
    ['hit', cacheStatusHit({ ttl: seconds(118) }), 'cardea; hit; ttl=118'],
    [
      'stale while revalidating',
      cacheStatusHit({ ttl: seconds(-3), detail: 'stale-while-revalidate' }),
      'cardea; hit; ttl=-3; detail=stale-while-revalidate',
    ],
    [
      'stale in back-off',
      cacheStatusHit({ ttl: seconds(-3), detail: 'stale-if-error' }),
      'cardea; hit; ttl=-3; detail=stale-if-error',
    ],
    [
      'stale, the origin failed',
      cacheStatusForwarded({ why: 'stale', status: 503, detail: 'stale-if-error' }),
      'cardea; fwd=stale; fwd-status=503; detail=stale-if-error',
    ],
    [
      'stale, no answer came',
      cacheStatusForwarded({ why: 'stale', status: null, detail: 'stale-if-error' }),
      'cardea; fwd=stale; detail=stale-if-error',
    ],
    [
      'revalidated',
      cacheStatusForwarded({ why: 'stale', status: 304, stored: true, ttl: seconds(300) }),
      'cardea; fwd=stale; fwd-status=304; stored; ttl=300',
    ],
    [
      'fetched',
      cacheStatusForwarded({ why: 'uri-miss', status: 200, stored: true, ttl: seconds(300) }),
      'cardea; fwd=uri-miss; fwd-status=200; stored; ttl=300',
    ],
    [
      'not stored',
      cacheStatusForwarded({ why: 'method', status: 200, stored: false }),
      'cardea; fwd=method; fwd-status=200',
    ],
    [
      'collapsed',
      cacheStatusForwarded({ why: 'vary-miss', status: 200, stored: true, ttl: seconds(300), collapsed: true }),
      'cardea; fwd=vary-miss; fwd-status=200; stored; ttl=300; collapsed',
    ],
    ['with its key', cacheStatusForwarded({ why: 'miss', key: 'a"b\n' }), 'cardea; fwd=miss; key="a\\"b?"'],
  ];
  for (const [name, found, expected] of table) {
    test(name, () => {
      assert.equal(found, expected);
      assert.equal(parseList(found)?.length, 1);
    });
  }

  test('ours stands after those of caches nearer to the origin', () => {
    assert.equal(appendCacheStatus('a; hit, "b"; fwd=miss', 'cardea; hit'), 'a; hit, "b"; fwd=miss, cardea; hit');
    assert.equal(appendCacheStatus(undefined, 'cardea; hit'), 'cardea; hit');
  });
  for (const upstream of ['', 'a; hit,', 'HIT from edge, "', '<script>']) {
    test(`${JSON.stringify(upstream)} is no list and goes`, () =>
      assert.equal(appendCacheStatus(upstream, 'cardea; hit'), 'cardea; hit'));
  }
});

describe('validators of our own', () => {
  const body = new TextEncoder().encode('{"hello": "world"}');
  test('the digest of RFC 9530', () => {
    // The example of RFC 9530 §3 has a newline at the end.
    const example = new TextEncoder().encode('{"hello": "world"}\n');
    assert.equal(reprDigest(example), 'sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:');
  });
  test('one hash makes tag and digest', () => {
    for (const bytes of [
      body,
      new Uint8Array(),
      new Uint8Array(1000).fill(255),
      ...Array.from({ length: 64 }, (_, i) => new Uint8Array([i])),
    ]) {
      assert.equal(reprDigestOf(strongEtag(bytes)), reprDigest(bytes));
      assert.ok(isEntityTag(strongEtag(bytes)));
    }
  });
});

describe('Cache-Control for local clients', () => {
  const lifetime = lifetimeOf({ status: 200, fields: [], receivedAt: NOW }, CARD);
  const life = (over: Partial<ClientLife>): string =>
    clientCacheControl({ age: seconds(40), freshFor: ms(260_000), clientMaxAge: ms(30_000), lifetime, ...over });

  test('Age and the smaller of what is left and the client ceiling', () => {
    assert.equal(life({}), 'max-age=70');
    assert.equal(life({ freshFor: ms(29_999) }), 'max-age=69');
    assert.equal(life({ freshFor: ms(1) }), 'max-age=40');
    assert.equal(life({ age: seconds(0) }), 'max-age=30');
  });
  test('no-cache where it must not be kept', () => {
    assert.equal(life({ freshFor: ms(0) }), 'no-cache');
    assert.equal(life({ freshFor: ms(-1) }), 'no-cache');
    assert.equal(life({ held: true }), 'no-cache');
    assert.equal(life({ lifetime: { ...lifetime, validateAlways: true } }), 'no-cache');
  });
  test('private for one caller alone', () => {
    assert.equal(life({ private: true }), 'private, max-age=70');
    assert.equal(life({ private: true, held: true }), 'private, no-cache');
  });
});

describe('Proxy-Status (RFC 9209)', () => {
  test('says what went wrong, and only in its own syntax', () => {
    assert.equal(proxyStatus({ error: 'dns_error' }), 'cardea; error=dns_error');
    const full = proxyStatus({
      error: 'http_protocol_error',
      receivedStatus: 503,
      nextHop: 'origin.example',
      details: 'a "b"\r\nSet-Cookie: x',
    });
    assert.equal(
      full,
      'cardea; error=http_protocol_error; received-status=503; next-hop="origin.example"; details="a \\"b\\"??Set-Cookie: x"',
    );
    assert.equal(parseList(full)?.length, 1);
  });
});
