import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aiCatalog } from '../../src/bindings/ai-catalog.ts';
import { agentName } from '../../src/kernel/ids.ts';
import { catalogFaults } from '../support/ai-catalog.ts';

const listed = (...names: readonly string[]) =>
  names.map((name) => ({
    name: agentName(name),
    card: `http://127.0.0.1:8642/agents/${name}/.well-known/agent-card.json`,
  }));

test('agents as a catalog by the rules of its format', () => {
  const catalog = aiCatalog(listed('weather', 'planner-2'));
  assert.deepEqual(catalogFaults(catalog), []);
  assert.equal(catalog.entries.length, 2);
  assert.deepEqual(catalog.entries[0], {
    identifier: 'cardea:agent:weather',
    type: 'application/a2a-agent-card+json',
    url: 'http://127.0.0.1:8642/agents/weather/.well-known/agent-card.json',
  });
});

test('no agents are a catalog too', () => assert.deepEqual(catalogFaults(aiCatalog([])), []));

describe('the rules themselves refuse', () => {
  const entry = { identifier: 'x:1', type: 't', url: 'http://a.example/' };
  const cases: readonly (readonly [string, unknown])[] = [
    ['no object', []],
    ['no version', { entries: [] }],
    ['a version of three parts', { specVersion: '1.0.0', entries: [] }],
    ['no entries', { specVersion: '0.9' }],
    ['a host without a name', { specVersion: '0.9', host: {}, entries: [] }],
    ['an entry without identifier', { specVersion: '0.9', entries: [{ ...entry, identifier: '' }] }],
    ['an identifier that is no URI', { specVersion: '0.9', entries: [{ ...entry, identifier: 'weather' }] }],
    ["another publisher's name", { specVersion: '0.9', entries: [{ ...entry, identifier: 'urn:air:a.example:x' }] }],
    ['an entry without type', { specVersion: '0.9', entries: [{ identifier: 'x:1', url: entry.url }] }],
    ['neither url nor data', { specVersion: '0.9', entries: [{ identifier: 'x:1', type: 't' }] }],
    ['both url and data', { specVersion: '0.9', entries: [{ ...entry, data: {} }] }],
    ['a relative url', { specVersion: '0.9', entries: [{ ...entry, url: '/card.json' }] }],
    ['two of one identifier', { specVersion: '0.9', entries: [entry, entry] }],
    ['a member of an earlier draft', { specVersion: '0.9', entries: [{ ...entry, mediaType: 't' }] }],
  ];
  for (const [what, catalog] of cases) test(what, () => assert.notDeepEqual(catalogFaults(catalog), []));
});
