import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type AgentCard, generateAgentCardSignature } from '@a2a-js/sdk';
import { DefaultAgentCardResolver } from '@a2a-js/sdk/client';
import { agentCardHandler } from '@a2a-js/sdk/server/express';
import express from 'express';
import { pair } from '../card/signer.ts';
import { World } from '../support/world.ts';

const by = await pair('sdk-key');

/** What SDKs sign each in their own way: schemes, empty scopes, text beyond ASCII, numbers, extensions, empty members. */
const RICH = {
  name: 'Grüße 🤖',
  description: '',
  version: '1.0.0',
  supportedInterfaces: [{ url: 'http://127.0.0.1/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: {
    streaming: false,
    extensions: [
      { uri: 'https://example.com/ext', params: { tenth: 0.1, big: 1e21, deep: { list: [1, 'zwei', true] } } },
    ],
  },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'now', name: 'Now', description: 'The weather at this hour', tags: ['weather'] }],
  securitySchemes: { key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } } },
  securityRequirements: [{ schemes: { key: { list: [] } } }],
};

const wire = (): AgentCard => JSON.parse(JSON.stringify(RICH));
const sign = generateAgentCardSignature(by.privateKey, { alg: 'ES256', kid: by.kid, typ: 'JOSE' });

describe('a card that the JavaScript SDK signs anew at every request', () => {
  let world: World;
  before(async () => {
    const app = express();
    app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: () => sign(wire()) }));
    app.get('/jwks.json', (_request, response) => void response.json({ keys: [by.publicJwk] }));
    world = await World.start({
      origin: app,
      agent: 'keys: [sdk], signature: require',
      config:
        'keys: { sdk: { jwks: "$ORIGIN/jwks.json" } }\ncache: { prefetch: false, maxTtl: 60s, staleWhileRevalidate: 0s }',
    });
  });
  after(() => world.stop());

  test('is verified through Cardea, whole, in the form that the SDK signs', async () => {
    const got = await world.card();
    assert.equal(got.status, 200, got.body);
    assert.match(
      String(got.headers['card-status']),
      /^verified; kid="sdk-key"; alg="ES256"; keys="sdk"; form="sdk-js"; review=/,
    );
    assert.deepEqual(JSON.parse(got.body).securitySchemes, RICH.securitySchemes);
  });

  test('is read by the SDK’s own client, its security schemes included', async () => {
    const card = await new DefaultAgentCardResolver().resolve(`${world.base}/agents/weather/`);
    assert.deepEqual([card.name, Object.keys(card.securitySchemes)], [RICH.name, ['key']]);
  });

  test('is another body each time, and the same card: its digest stays', async () => {
    const digest = async (): Promise<string | undefined> =>
      /digest="([^"]*)"/.exec((await world.metric(/^cardea_card_info/)) ?? '')?.[1];
    const [first, one] = [await world.card(), await digest()];
    await world.clock.advance(61_000);
    const [second, other] = [await world.card(), await digest()];
    assert.notEqual(second.body, first.body);
    assert.ok(one !== undefined && one === other, `${one} ${other}`);
  });
});
