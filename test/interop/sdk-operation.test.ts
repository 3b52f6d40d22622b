import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { AgentCard, type SendMessageRequest } from '@a2a-js/sdk';
import { ClientFactory } from '@a2a-js/sdk/client';
import { A2AError } from '@a2a-js/sdk/errors';
import { World } from '../support/world.ts';

/** The official client at an agent whose operations Cardea does not carry, over real sockets. */
describe('an A2A operation through Cardea', () => {
  let world: World;
  before(async () => {
    world = await World.start();
    await world.card();
  });
  after(() => world.stop());

  const send = async (protocolBinding: string, path: string, text: string): Promise<unknown> => {
    const card = AgentCard.fromJSON({
      name: 'Weather',
      supportedInterfaces: [{ url: world.base + path, protocolBinding, protocolVersion: '1.0' }],
    });
    const client = await new ClientFactory().createFromAgentCard(card);
    const message = {
      messageId: 'm',
      role: 1,
      parts: [{ content: { $case: 'text', value: text } }],
      contextId: '',
      taskId: '',
    };
    const request = { tenant: '', message, metadata: {} } as unknown as SendMessageRequest;
    return client.sendMessage(request).catch((error: unknown) => error);
  };

  const paths = ['/agents/weather', '/agents/weather/'];
  for (const binding of ['JSONRPC', 'HTTP+JSON']) {
    for (const path of paths) {
      for (const size of [10, 300_000]) {
        test(`${binding} at ${path} with ${size} characters is UnsupportedOperationError`, async () => {
          const error = await send(binding, path, 'a'.repeat(size));
          assert.ok(error instanceof A2AError, String(error));
          assert.equal(error.name, 'UnsupportedOperationError');
          assert.match(error.message, /Call https:\S+\/rpc directly/);
          assert.deepEqual(world.logged('a request broke'), []);
        });
      }
    }
  }
});
