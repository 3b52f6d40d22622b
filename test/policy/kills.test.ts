import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { tag, urlId } from '../../src/kernel/ids.ts';
import { type Kill, kindOfScope, parseScope } from '../../src/kernel/kill.ts';
import { epochMs } from '../../src/kernel/units.ts';
import { decide } from '../../src/policy/decide.ts';
import { agentTags, originTags } from '../../src/discovery/key.ts';
import { exampleAgent } from '../support/rules.ts';

const kill = (scope: string): Kill => ({ id: scope, scope: tag(scope), reason: 'r', by: 'admin', at: epochMs(0) });

describe('a scope as a person writes it', () => {
  const cases: readonly (readonly [written: string, scope: string | undefined])[] = [
    ['all', 'all'],
    ['ALL', undefined],
    ['all:', undefined],
    ['*', undefined],
    ['', undefined],
    ['agent:weather', 'agent:weather'],
    ['agent:https://cards.example/a', 'agent:https://cards.example/a'],
    ['agent:https://Cards.example/a', undefined],
    ['agent:https://cards.example/a/../b', undefined],
    ['agent:ftp://cards.example/a', undefined],
    ['agent:', undefined],
    ['agent:Weather', undefined],
    [`agent:${'a'.repeat(63)}`, `agent:${'a'.repeat(63)}`],
    [`agent:${'a'.repeat(64)}`, undefined],
    ['agents:weather', undefined],
    ['weather', undefined],
    ['origin:Weather.Example.COM.', 'origin:weather.example.com'],
    ['origin:weather.example.com:8443', 'origin:weather.example.com:8443'],
    ['origin:[::1]:80', 'origin:[::1]:80'],
    ['origin:bücher.example', 'origin:xn--bcher-kva.example'],
    ['origin:https://weather.example.com', undefined],
    ['origin:weather.example.com/x', undefined],
    ['origin:user@weather.example.com', undefined],
    ['origin:', undefined],
    ['origin:.', undefined],
    ['origin:.:443', undefined],
    ['origin:weather.example.com..', undefined],
    ['tenant:acme', 'tenant:acme'],
    ['tenant:', undefined],
    ['principal:https://idp.example.com#alice', 'principal:https://idp.example.com#alice'],
    ['kid:key-1', 'kid:key-1'],
    ['kid:a\nb', undefined],
    [`kid:${'k'.repeat(1_024)}`, `kid:${'k'.repeat(1_024)}`],
    [`kid:${'k'.repeat(1_025)}`, undefined],
    ['registry:catalog', undefined],
  ];
  for (const [written, scope] of cases) {
    test(JSON.stringify(written.slice(0, 40)), () => assert.equal(parseScope(written), scope));
  }
  test('whatever is written, reading never throws and reading again changes nothing', () => {
    fc.assert(
      fc.property(fc.tuple(fc.constantFrom('', 'agent:', 'origin:', 'kid:'), fc.string()), ([kind, id]) => {
        const scope = parseScope(kind + id);
        if (scope !== undefined) assert.equal(parseScope(scope), scope);
      }),
    );
  });
  test('its kind is the word before the colon', () => {
    assert.equal(kindOfScope(tag('all')), 'all');
    assert.equal(kindOfScope(tag('agent:all')), 'agent');
    assert.equal(kindOfScope(tag('principal:x#y')), 'principal');
  });
});

describe('what a kill covers', () => {
  const weather = { agent: null, tags: agentTags(exampleAgent('weather')) };
  const idp = {
    agent: null,
    tags: originTags(urlId('https://idp.example.com:8443/')),
  };
  const cases: readonly (readonly [scope: string, weather: boolean, idp: boolean])[] = [
    ['all', true, true],
    ['agent:weather', true, false],
    ['agent:weathe', false, false],
    ['agent:weather2', false, false],
    ['origin:weather.example.com', true, false],
    ['origin:weather.example.com:443', true, false],
    ['origin:weather.example.com:444', false, false],
    ['origin:example.com', false, false],
    ['origin:idp.example.com', false, true],
    ['origin:idp.example.com:8443', false, true],
    ['origin:idp.example.com:443', false, false],
    ['tenant:weather', false, false],
  ];
  for (const [scope, first, second] of cases) {
    test(scope, () => {
      assert.equal(decide([kill(scope)], weather)?.code === 'killed', first);
      assert.equal(decide([kill(scope)], idp)?.code === 'killed', second);
    });
  }
  test('scopes add up, and none in force refuses nothing', () => {
    assert.equal(decide([], weather), undefined);
    assert.ok(decide([kill('tenant:x'), kill('agent:weather')], weather));
  });
  test('made entries: tenant, principal and kid are found by their tags', () => {
    for (const scope of ['tenant:acme', 'principal:https://idp#alice', 'kid:key-1']) {
      const tags = [tag('all'), tag(scope)];
      assert.equal(decide([kill(scope)], { agent: null, tags })?.kill, kindOfScope(tag(scope)));
      assert.equal(decide([kill(`${scope}2`)], { agent: null, tags }), undefined);
    }
  });
  test('a kill of everything is told before a scoped one, whatever their order', () => {
    assert.equal(decide([kill('agent:weather'), kill('all')], weather)?.kill, 'all');
  });
  test('neither the reason nor the id goes to a caller', () => {
    const refusal = decide([{ ...kill('agent:weather'), id: 'the-id', reason: 'breach at acme' }], weather);
    assert.doesNotMatch(JSON.stringify(refusal), /breach|the-id/);
    assert.equal(refusal?.retryAfter, 30);
  });
});
