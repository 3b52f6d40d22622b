import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { interfaceEgress } from '../../src/discovery/interface-egress.ts';
import type { CardRule } from '../../src/kernel/card-rule.ts';
import type { OriginPattern } from '../../src/kernel/egress-rule.ts';
import { urlId } from '../../src/kernel/ids.ts';
import { exampleAgent } from '../support/rules.ts';

const pattern = (host: string, wildcard = false): OriginPattern => ({ scheme: 'https', host, wildcard, port: 443 });

function agentWith(interfaces: CardRule['interfaces']) {
  const agent = exampleAgent('weather');
  const egress = { ...agent.egress, unsafeAddresses: ['10.0.0.0/8'], tls: { ca: '/ca.pem' } };
  return { ...agent, egress, card: { ...agent.card, interfaces } };
}

describe('the permission to dial an interface', () => {
  test("is for exactly its origin, and otherwise the agent's own", () => {
    const agent = agentWith('same-site');
    const derived = interfaceEgress(agent, urlId('https://api.example.com:8443/a2a?x=1'), { allowlist: [] });
    assert.deepEqual(derived, {
      ok: true,
      value: {
        ...agent.egress,
        allowed: [{ scheme: 'https', host: 'api.example.com', wildcard: false, port: 8443 }],
      },
    });
  });

  test('has the port of the scheme where none is written, and an address without brackets', () => {
    const derived = interfaceEgress(agentWith('same-site'), urlId('http://[::1]/rpc'), { allowlist: [] });
    assert.deepEqual(derived.ok && derived.value.allowed, [{ scheme: 'http', host: '::1', wildcard: false, port: 80 }]);
  });

  const cases: readonly (readonly [url: string, allowlist: readonly OriginPattern[], allowed: boolean])[] = [
    ['https://weather.example.com/rpc', [], true],
    ['https://elsewhere.example/rpc', [], false],
    ['https://elsewhere.example/rpc', [pattern('elsewhere.example')], true],
    ['https://elsewhere.example:444/rpc', [pattern('elsewhere.example')], false],
    ['http://elsewhere.example:443/rpc', [pattern('elsewhere.example')], false],
    ['https://a.elsewhere.example/rpc', [pattern('elsewhere.example', true)], true],
    ['https://a.b.elsewhere.example/rpc', [pattern('elsewhere.example', true)], false],
  ];
  for (const [url, allowlist, allowed] of cases) {
    test(`under interfaces: any ${url} is ${allowed ? '' : 'not '}dialled`, () => {
      const derived = interfaceEgress(agentWith('any'), urlId(url), { allowlist });
      assert.equal(derived.ok, allowed);
      if (!derived.ok) assert.equal(derived.refusal.code, 'origin-not-allowed');
    });
  }
});
