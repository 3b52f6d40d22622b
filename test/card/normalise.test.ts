import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { admittedView } from '../../src/card/admit.ts';
import { factsOf } from '../../src/card/facts.ts';
import { objectOf } from '../../src/card/json.ts';
import { normaliseCard } from '../../src/card/normalise.ts';
import { KNOWN_VERSIONS } from '../../src/card/version.ts';
import { anyCard } from './card-arbitrary.ts';
import { card03, card10, judge, scannedObject } from './support.ts';

/** The 1.0 view of a card as plain JSON, and its notes as lines. */
async function viewOf(card: Record<string, unknown>) {
  const outcome = await judge(card);
  assert.ok(outcome.ok, outcome.ok ? '' : outcome.refusal.detail);
  const { card: view, notes } = admittedView(outcome.value);
  return {
    view: JSON.parse(JSON.stringify(view)),
    notes: notes.map(({ what, from, to }) => `${what} ${from} → ${to}`),
    facts: outcome.value.facts,
  };
}

const url = 'https://agent.example.com/a2a/v1';

describe('the 1.0 view', () => {
  test('the facts are those that the view states, whatever the card', () => {
    const legacy = fc.record(
      {
        url: fc.constantFrom(url, 'https://b.example/', 1),
        protocolVersion: fc.constantFrom('0.3.0', '1.0', '', null),
        preferredTransport: fc.constantFrom('GRPC', 'x'),
        supportsAuthenticatedExtendedCard: fc.constantFrom(true, false, 'yes'),
        supports_authenticated_extended_card: fc.boolean(),
        supported_interfaces: fc.constant([{ url, protocol_binding: 'JSONRPC' }]),
        protocol_version: fc.constantFrom('0.2', '0.3'),
      },
      { requiredKeys: [] },
    );
    const listed = fc.record({
      supportedInterfaces: fc.array(
        fc.record({ url: fc.constantFrom(url, 'b'), protocolBinding: fc.constantFrom('JSONRPC', 'GRPC', 'x') }),
      ),
      capabilities: fc.constantFrom({ extendedAgentCard: true }, { extended_agent_card: false }, null),
    });
    const more = fc.tuple(legacy, fc.option(listed));
    fc.assert(
      fc.property(anyCard, more, fc.constantFrom(...KNOWN_VERSIONS), (one, [old, modern], version) => {
        const card = objectOf(Object.entries({ ...one, ...old, ...modern }));
        const view = normaliseCard(card, version).card;
        const rule = { versions: KNOWN_VERSIONS };
        assert.deepEqual(factsOf(card, version, rule), factsOf(view, version, rule));
      }),
      { numRuns: 1000 },
    );
  });

  test('a 1.0 card is its own view', async () => {
    const { view, notes } = await viewOf(card10());
    assert.deepEqual(view, card10());
    assert.deepEqual(notes, []);
  });

  test("a 0.3 card says the same in 1.0's words", async () => {
    const { view, notes, facts } = await viewOf(
      card03({
        additionalInterfaces: [
          { url, transport: 'JSONRPC' },
          { url: 'https://agent.example.com/grpc', transport: 'GRPC' },
        ],
        supportsAuthenticatedExtendedCard: true,
        securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } },
        security: [{ key: [] }],
        skills: [{ id: 's', name: 's', description: 'd', tags: ['t'], security: [{ key: ['r'] }] }],
        'x-kept': 1,
      }),
    );
    assert.deepEqual(view.supportedInterfaces, [
      { url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
      { url: 'https://agent.example.com/grpc', protocolBinding: 'GRPC', protocolVersion: '0.3' },
    ]);
    assert.deepEqual(view.capabilities, { streaming: true, extendedAgentCard: true });
    assert.deepEqual(view.securitySchemes, { key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } } });
    assert.deepEqual(view.securityRequirements, [{ schemes: { key: { list: [] } } }]);
    assert.deepEqual(view.skills[0].securityRequirements, [{ schemes: { key: { list: ['r'] } } }]);
    assert.equal(view['x-kept'], 1);
    for (const gone of [
      'url',
      'preferredTransport',
      'protocolVersion',
      'additionalInterfaces',
      'security',
      'supportsAuthenticatedExtendedCard',
    ]) {
      assert.ok(!(gone in view), gone);
    }
    assert.ok(!('security' in view.skills[0]));
    assert.ok(notes.includes('renamed /url → /supportedInterfaces/0/url'));
    assert.ok(notes.includes('renamed /security → /securityRequirements'));
    assert.deepEqual(facts, {
      name: 'Weather',
      version: '1.0.0',
      protocolVersion: '0.3',
      interfaceUrl: url,
      extended: true,
    });
  });

  test('what 0.2 leaves unsaid is written out', async () => {
    const { view, notes } = await viewOf(
      card03({ protocolVersion: undefined, preferredTransport: undefined, authentication: { schemes: ['bearer'] } }),
    );
    assert.deepEqual(view.supportedInterfaces, [{ url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' }]);
    assert.ok(notes.includes('defaulted /preferredTransport → /supportedInterfaces/0/protocolBinding'));
    assert.ok(notes.includes('changed /authentication → /authentication'));
  });

  test("protobuf names, null, $case, Go's arrays and 1.0 wrappers under the old name", async () => {
    const { view, notes } = await viewOf(
      card10({
        defaultInputModes: undefined,
        default_input_modes: ['a/b'],
        provider: null,
        securitySchemes: {
          js: {
            scheme: {
              $case: 'oauth2SecurityScheme',
              value: { flows: { flow: { $case: 'implicit', value: { scopes: { r: 'read' } } } } },
            },
          },
          wire: { http_auth_security_scheme: { scheme: 'bearer', bearer_format: 'JWT' } },
        },
        security: [{ schemes: { js: ['r'] } }],
      }),
    );
    assert.deepEqual(view.defaultInputModes, ['a/b']);
    assert.ok(!('provider' in view) && !('default_input_modes' in view));
    assert.deepEqual(view.securitySchemes, {
      js: { oauth2SecurityScheme: { flows: { implicit: { scopes: { r: 'read' } } } } },
      wire: { httpAuthSecurityScheme: { scheme: 'bearer', bearerFormat: 'JWT' } },
    });
    assert.deepEqual(view.securityRequirements, [{ schemes: { js: { list: ['r'] } } }]);
    assert.ok(notes.includes('renamed /default_input_modes → /defaultInputModes'));
  });

  test('every shape of one agent has one view', async () => {
    const old = await viewOf(card03({ protocolVersion: '0.3.0' }));
    const dual = await viewOf({
      ...card03(),
      supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' }],
    });
    assert.deepEqual(dual.view, old.view);
  });

  test('the facts name the interface that a client would pick', async () => {
    const one = (protocolBinding: string, protocolVersion: string, path: string) => ({
      url: `https://agent.example.com/${path}`,
      protocolBinding,
      protocolVersion,
    });
    const { facts } = await viewOf(
      card10({
        supportedInterfaces: [one('MCP', '1.0', 'a'), one('JSONRPC', '1.2', 'b'), one('HTTP+JSON', '1.0', 'c')],
      }),
    );
    assert.equal(facts.interfaceUrl, 'https://agent.example.com/c');
  });

  test('never throws on any JSON object, and never changes what it was given', () => {
    const names = fc.constantFrom(
      'name',
      'skills',
      'capabilities',
      'securitySchemes',
      'securityRequirements',
      'security',
      'supportedInterfaces',
      'url',
      'scheme',
      '$case',
      'value',
    );
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 4 },
        fc.string(),
        fc.constantFrom(null, true, 'oauth2SecurityScheme'),
        fc.array(tie('any'), { maxLength: 3 }),
        fc.dictionary(names, tie('any'), { maxKeys: 3 }),
      ),
    })).any;
    fc.assert(
      fc.property(fc.dictionary(names, value), fc.constantFrom(...KNOWN_VERSIONS), (one, version) => {
        const card = scannedObject(one);
        const before = JSON.stringify(card);
        normaliseCard(card, version);
        assert.equal(JSON.stringify(card), before);
      }),
    );
  });
});
