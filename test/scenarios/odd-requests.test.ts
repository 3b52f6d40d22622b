import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { RawSocket } from '../support/raw-socket.ts';
import { Attacked, EXTENDED, markOf } from './attacked-world.ts';

/** Requests for an extended card that two readers could take for two things: none is answered as both, and none is sent on. */
describe('odd requests for an extended card', () => {
  let attacked: Attacked;
  let alice = '';
  before(async () => {
    attacked = await Attacked.start();
    alice = await attacked.caller();
    await attacked.extended(alice);
  });
  after(() => attacked.stop());

  const BODIES: Readonly<Record<string, string>> = {
    'a batch': '[{"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard"}]',
    'two methods': '{"jsonrpc":"2.0","id":1,"method":"GetTask","method":"GetExtendedAgentCard"}',
    'two methods, one of them escaped':
      '{"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard","meth\\u006fd":"GetTask"}',
    'two tenants': '{"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard","params":{"tenant":"gold","tenant":""}}',
    'a tenant that is none': '{"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard","params":{"tenant":"../gold"}}',
    'more behind it': '{"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard"} {}',
    'no end': '{"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard"',
    'a method of another case': '{"jsonrpc":"2.0","id":1,"method":"getExtendedAgentCard"}',
  };
  for (const [what, body] of Object.entries(BODIES)) {
    test(`JSON-RPC: ${what}`, async () => {
      const asked = attacked.asked;
      const headers = { Authorization: alice, 'A2A-Version': '1.0', 'Content-Type': 'application/json' };
      const got = await attacked.world.post('/agents/weather', body, headers);
      assert.ok(!got.body.includes('for-'), got.body);
      assert.match(got.body, /"error"|"code"/);
      assert.equal(attacked.asked, asked);
    });
  }
  const TARGETS = [
    '/agents/weather/./extendedAgentCard',
    '/agents/weather//extendedAgentCard',
    '/agents/other/../weather/extendedAgentCard',
    '/agents/weather/extendedAgentCard/',
    '/agents/weather/ExtendedAgentCard',
    '/agents/weather/extendedAgentCard%00',
    '/agents/weather/extendedAgentCard;x=1',
    'http://evil.test/agents/weather/extendedAgentCard',
  ];
  for (const target of TARGETS) {
    test(`target ${target}`, async () => {
      const asked = attacked.asked;
      const { status, body } = await attacked.raw([`Authorization: ${alice}`], target);
      assert.ok(status >= 400 && !body.includes('for-'), `${status} ${body}`);
      assert.equal(attacked.asked, asked);
    });
  }
  test('HEAD is the answer of GET without its body', async () => {
    const socket = await RawSocket.connect(Number(attacked.world.base.split(':').at(-1)));
    await socket.send(
      `HEAD ${EXTENDED} HTTP/1.1\r\nHost: localhost\r\nA2A-Version: 1.0\r\nAuthorization: ${alice}\r\nConnection: close\r\n\r\n`,
    );
    await socket.ended();
    assert.match(socket.text, /^HTTP\/1\.1 200 [^]*cache-status: cardea; hit/i);
    assert.ok(!socket.text.includes(markOf(alice)));
  });
});
