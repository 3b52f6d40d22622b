import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { readCard } from '../../console/card.js';

describe('a card as a person reads it', () => {
  test('of A2A 1.0', () => {
    const card = readCard({
      name: 'Weather',
      description: 'Tells the weather.',
      version: '2.1.0',
      provider: { organization: 'Acme', url: 'https://acme.example' },
      supportedInterfaces: [
        { url: 'https://w.example/rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: 'a' },
      ],
      capabilities: {
        streaming: true,
        pushNotifications: false,
        extensions: [{ uri: 'https://x.example/geo', required: true }],
      },
      defaultInputModes: ['text/plain', 'application/json'],
      securitySchemes: { key: { httpAuthSecurityScheme: { scheme: 'Bearer', bearerFormat: 'JWT' } } },
      securityRequirements: [{ schemes: { key: { list: ['read', 'write'] } } }, { schemes: {} }],
      skills: [{ id: 'f', name: 'Forecast', description: 'Forecasts.', tags: ['a', 'b'], examples: ['Rain?'] }],
      signatures: [{}, {}],
    });
    assert.deepEqual(card.interfaces, [
      { url: 'https://w.example/rpc', binding: 'JSONRPC', version: '1.0', tenant: 'a' },
    ]);
    assert.deepEqual(card.capabilities, ['streaming', 'extension https://x.example/geo (required)']);
    assert.deepEqual(card.schemes, [{ label: 'key', text: 'httpAuth · Bearer · JWT' }]);
    assert.deepEqual(card.requirements, ['key (read, write)', 'nothing']);
    assert.deepEqual(
      card.facts.map(({ label }) => label),
      ['Provider', 'Provider’s site', 'Version', 'Takes'],
    );
    assert.deepEqual(card.skills[0]?.examples, ['Rain?']);
    assert.equal(card.signatures, 2);
  });

  test('of A2A 0.3: the first interface stands beside the list, once', () => {
    const card = readCard({
      name: 'Old',
      url: 'https://o.example/rpc',
      preferredTransport: 'JSONRPC',
      protocolVersion: '0.3.0',
      additionalInterfaces: [
        { url: 'https://o.example/rpc', transport: 'JSONRPC' },
        { url: 'https://o.example/rest', transport: 'HTTP+JSON' },
      ],
      supportsAuthenticatedExtendedCard: true,
      securitySchemes: { k: { type: 'apiKey', in: 'header', name: 'X-Key' } },
      security: [{ k: [] }],
    });
    assert.deepEqual(
      card.interfaces.map(({ url, binding, version }) => [url, binding, version]),
      [
        ['https://o.example/rpc', 'JSONRPC', '0.3.0'],
        ['https://o.example/rest', 'HTTP+JSON', ''],
      ],
    );
    assert.deepEqual(card.capabilities, ['extendedAgentCard']);
    assert.deepEqual(card.schemes, [{ label: 'k', text: 'apiKey · header · X-Key' }]);
    assert.deepEqual(card.requirements, ['k']);
  });

  test('what is of another form is shown as the JSON that it is', () => {
    const card = readCard({
      name: { en: 'Weather' },
      skills: [{ id: 7, tags: [null, {}] }, 'text'],
      capabilities: [true],
    });
    assert.equal(card.name, '{"en":"Weather"}');
    assert.deepEqual(card.skills[0]?.tags, ['', '{}']);
    assert.equal(card.skills[0]?.id, '7');
    assert.equal(card.skills.length, 2);
  });

  test('any JSON is read', () => {
    const members = ['skills', 'securitySchemes', 'security', 'supportedInterfaces', 'capabilities', 'provider', 'url'];
    const card = fc.dictionary(fc.constantFrom(...members), fc.jsonValue());
    fc.assert(fc.property(fc.oneof(card, fc.jsonValue()), (value) => void readCard(value)));
  });
});
