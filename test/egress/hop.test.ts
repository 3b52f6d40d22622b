import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { type HopState, decideHop } from '../../src/egress/hop.ts';
import { hopFields } from '../../src/egress/message-fields.ts';
import { type Target, parseTarget } from '../../src/kernel/origins.ts';
import { urlId } from '../../src/kernel/ids.ts';
import { ruleFor } from './harness.ts';

function target(url: string): Target {
  const parsed = parseTarget(url);
  assert.ok(parsed.ok);
  return parsed.value;
}

const FROM = target('https://a.example.test/card');
const RULE = ruleFor(['https://a.example.test', 'https://b.example.test', 'http://a.example.test'], {
  unsafeAddresses: [],
});

const state = (location: string | undefined, more: Partial<HopState> = {}): HopState => ({
  status: 302,
  locations: location === undefined ? [] : [location],
  from: FROM,
  asked: [FROM.url],
  method: 'GET',
  limit: 3,
  rule: RULE,
  ...more,
});

const outcome = (hop: ReturnType<typeof decideHop>): string => {
  switch (hop.kind) {
    case 'deliver':
      return 'deliver';
    case 'follow':
      return `follow ${hop.target.url}${hop.sameOrigin ? '' : ' (other origin)'}`;
    case 'refuse':
      return hop.refusal.code;
  }
};

describe('one answer, one decision', () => {
  const CASES: readonly (readonly [string, HopState, string])[] = [
    ['a relative path', state('/v2'), 'follow https://a.example.test/v2'],
    ['a relative reference', state('v2?x=1#frag'), 'follow https://a.example.test/v2?x=1'],
    ['the same origin, absolute', state('https://a.example.test/v2'), 'follow https://a.example.test/v2'],
    [
      'another origin of the same rule',
      state('https://b.example.test/'),
      'follow https://b.example.test/ (other origin)',
    ],
    ['an origin of no rule', state('https://c.example.test/'), 'redirect-refused'],
    ['https to http, though the rule allows cleartext', state('http://a.example.test/v2'), 'redirect-refused'],
    ['to the loopback name', state('https://localhost:9/'), 'redirect-refused'],
    ['to a mapped address', state('https://[::ffff:7f00:1]/'), 'redirect-refused'],
    ['to a scheme of another kind', state('file:///etc/passwd'), 'redirect-refused'],
    ['with credentials', state('https://user:pw@a.example.test/v2'), 'redirect-refused'],
    ['a trailing-dot host', state('https://a.example.test./v2'), 'redirect-refused'],
    ['slash and backslash', state('/\\evil.test'), 'redirect-refused'],
    ['protocol-relative to a stranger', state('//evil.test/'), 'redirect-refused'],
    ['protocol-relative to a friend', state('//b.example.test/'), 'follow https://b.example.test/ (other origin)'],
    ['a tab in the middle', state('https://a.example.test\t.evil/'), 'redirect-refused'],
    ['a line break in the middle', state('https://a.example.test\n.evil/'), 'redirect-refused'],
    ['non-ASCII', state('https://a.example\u3002test/'), 'redirect-refused'],
    ['no Location', state(undefined), 'redirect-refused'],
    ['an empty Location is a loop', state(''), 'redirect-refused'],
    ['to itself', state('/card'), 'redirect-refused'],
    ['two Locations that agree', state('/v2', { locations: ['/v2', '/v2'] }), 'follow https://a.example.test/v2'],
    ['two Locations that differ', state('/v2', { locations: ['/v2', '/v3'] }), 'redirect-refused'],
    ['after a POST', state('/v2', { method: 'POST', status: 303 }), 'redirect-refused'],
    ['after a HEAD', state('/v2', { method: 'HEAD' }), 'follow https://a.example.test/v2'],
    ['a limit of none', state('/v2', { limit: 0 }), 'redirect-refused'],
    [
      'the last one within the limit',
      state('/v4', { asked: ['/1', '/2', '/card'].map(urlId) }),
      'follow https://a.example.test/v4',
    ],
    [
      'the first one beyond the limit',
      state('/v5', { asked: ['/1', '/2', '/3', '/card'].map(urlId) }),
      'redirect-refused',
    ],
    ['200 with a Location', state('/v2', { status: 200 }), 'deliver'],
    ['201', state('/v2', { status: 201 }), 'deliver'],
    ['300', state('/v2', { status: 300 }), 'deliver'],
    ['304', state('/v2', { status: 304 }), 'deliver'],
    ['305', state('/v2', { status: 305 }), 'deliver'],
    ['307', state('/v2', { status: 307 }), 'follow https://a.example.test/v2'],
    ['308', state('/v2', { status: 308 }), 'follow https://a.example.test/v2'],
    ['399', state('/v2', { status: 399 }), 'deliver'],
  ];
  for (const [name, given, expected] of CASES) test(name, () => assert.equal(outcome(decideHop(given)), expected));

  test('to an address in a range that the rule does not lift: the address is the reason', () => {
    const rule = ruleFor(['https://a.example.test', 'https://10.0.0.5'], { unsafeAddresses: [] });
    assert.equal(outcome(decideHop(state('https://10.0.0.5/', { rule }))), 'address-forbidden');
  });
  test('whatever a Location says, only origins of the rule are followed', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.webUrl(),
          fc.webAuthority({ withUserInfo: true, withPort: true }).map((at) => `//${at}/`),
        ),
        (location) => {
          const hop = decideHop(state(location));
          return (
            hop.kind !== 'follow' || hop.target.origin === FROM.origin || hop.target.origin === 'https://b.example.test'
          );
        },
      ),
    );
  });
});

test('what crosses to another origin is known to be harmless; validators cross no hop', () => {
  const fields = [
    'Accept',
    'x',
    'Authorization',
    'Bearer s',
    'Cookie',
    'c',
    'X-Api-Key',
    'k',
    'If-None-Match',
    '"e"',
    'A2A-Version',
    '1.0',
    'via',
    '1.1 cardea',
  ];
  assert.deepEqual(hopFields(fields, false), ['Accept', 'x', 'A2A-Version', '1.0', 'via', '1.1 cardea']);
  assert.deepEqual(
    hopFields(fields, true),
    fields.filter((_, at) => at !== 8 && at !== 9),
  );
});

test('a redirect elsewhere names what to write where it is meant, and a look-alike names nothing', () => {
  const detailOf = (location: string): string => {
    const hop = decideHop(state(location));
    assert.equal(hop.kind, 'refuse');
    return hop.kind === 'refuse' ? hop.refusal.detail : '';
  };
  assert.match(
    detailOf('https://c.example.test/new.json'),
    /write "https:\/\/c\.example\.test\/new\.json" in place of "https:\/\/a\.example\.test\/card"\.$/,
  );
  const like = decideHop(state('https://a.example.test.evil.test/'));
  assert.ok(like.kind === 'refuse' && like.refusal.code === 'redirect-refused');
  assert.match(like.refusal.detail, /resembles a\.example\.test/);
  assert.doesNotMatch(like.refusal.detail, /in place of/);
});
