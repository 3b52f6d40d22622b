import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { pathsOf, staleBy } from '../../console/needs.js';
import { HOME, linkTo, readRoute, titleOf } from '../../console/routes.js';

describe('addresses', () => {
  const cases: readonly (readonly [hash: string, view: string])[] = [
    ['', 'agents'],
    ['#', 'agents'],
    ['#/', 'agents'],
    ['#/agents', 'agents'],
    ['#/agents/', 'agents'],
    ['#/agents/weather', 'agent'],
    ['#/agents/weather/', 'agent'],
    ['#/agents/weather/change', 'change'],
    ['#/agents/weather/changes', 'nowhere'],
    ['#/agents/weather/change/more', 'nowhere'],
    ['#/switch', 'switch'],
    ['#/switch/all', 'nowhere'],
    ['#/agents/%', 'nowhere'],
    ['#/else', 'nowhere'],
  ];
  for (const [hash, view] of cases) test(hash, () => assert.equal(readRoute(hash).view, view));

  test('a filter is in the address', () => {
    const route = readRoute('#/agents?state=held&q=rain%20%26&sort=age&down=1');
    assert.deepEqual(route, { view: 'agents', state: 'held', text: 'rain &', by: 'age', down: true });
  });

  test('a column that is none is the usual one', () => {
    assert.deepEqual(readRoute('#/agents?sort=constructor'), HOME);
  });

  test('what is written is read as the same route', () => {
    const agent = fc.string({ minLength: 1 });
    const route = fc.oneof(
      fc.record({ view: fc.constant('agent' as const), agent }),
      fc.record({ view: fc.constant('change' as const), agent }),
      fc.record({ view: fc.constant('switch' as const), scope: fc.string() }),
      fc.record({
        view: fc.constant('agents' as const),
        state: fc.string(),
        text: fc.string(),
        by: fc.constantFrom('urgency' as const, 'age' as const),
        down: fc.boolean(),
      }),
    );
    fc.assert(fc.property(route, (each) => assert.deepEqual(readRoute(linkTo(each)), { ...each })));
  });

  test('any address is read', () => {
    fc.assert(fc.property(fc.string(), (hash) => assert.ok(titleOf(readRoute(hash)).length >= 0)));
  });
});

describe('what an event makes old', () => {
  const receipt = (agent: string | null) => ({ name: 'receipt', data: JSON.stringify({ agent }) });
  const here = { view: 'agent', agent: 'weather' } as const;

  test('a receipt of another agent: the list', () => assert.deepEqual(staleBy(here, receipt('planner')), ['/agents']));
  test('a receipt of any agent: the list and what waits, where both are seen', () =>
    assert.deepEqual(staleBy(HOME, receipt('https://a.example/card.json')), ['/agents', '/changes']));
  test('a receipt of this agent: its view', () => {
    assert.deepEqual(
      staleBy(here, receipt('weather')),
      pathsOf(here).filter((path) => path !== '/kill'),
    );
  });
  test('an order about tags, a stop, a notice, a loss: everything', () => {
    for (const event of [
      receipt(null),
      { name: 'receipt', data: '{}' },
      { name: 'notice', data: '{}' },
      { name: 'lost', data: '{}' },
    ])
      assert.deepEqual(staleBy(here, event), pathsOf(here));
  });
  test('a request: nothing', () => assert.deepEqual(staleBy(here, { name: 'request', data: '{}' }), []));
  test('a card without a name is asked for by its URL, percent-encoded whole', () => {
    const paths = pathsOf({ view: 'change', agent: 'https://a.example/card.json?x=1' });
    assert.ok(paths.includes('/agents/https%3A%2F%2Fa.example%2Fcard.json%3Fx%3D1/change'));
  });
});
