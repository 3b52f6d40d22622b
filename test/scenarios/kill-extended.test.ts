import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, describe, test } from 'node:test';
import { type Daemon, startDaemon } from '../../src/daemon.ts';
import { tag } from '../../src/kernel/ids.ts';
import { validConfig } from '../support/config.ts';
import { type ExtendedAgent, startExtendedAgent } from '../support/extended-agent.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { type Got, ask } from '../support/world.ts';

/** An agent whose card is at one origin and whose interface is at another: nothing of the second is in the agent's rule. */
describe('a stop of the origin that an interface is on', () => {
  const clock = new FakeClock();
  let agent: ExtendedAgent;
  let cards: http.Server;
  let daemon: Daemon;

  before(async () => {
    agent = await startExtendedAgent((token) => token);
    const card = (await ask(`${agent.url}/.well-known/agent-card.json`, {})).body;
    cards = http.createServer((_request, response) => {
      response.setHeader('Content-Type', 'application/json').setHeader('Cache-Control', 'max-age=3600').end(card);
    });
    await new Promise<void>((resolve) => void cards.listen(0, '127.0.0.1', resolve));
    const config = await validConfig(`
listen: { agents: "127.0.0.1:0", ops: "127.0.0.1:0", admin: "127.0.0.1:0" }
state: memory
agents:
  ledger:
    origin: "http://127.0.0.1:${(cards.address() as AddressInfo).port}"
    extended: { opaque: allow }
    unsafeCleartext: true
    unsafeAddresses: [127.0.0.1/32]
`);
    daemon = await startDaemon(config, { clock, log: { write: () => undefined } }, async () => config);
  });
  afterEach(async () => {
    for (const { id } of daemon.killSwitch.active()) await daemon.killSwitch.lift({ id, reason: 'over', by: 'admin' });
    agent.asked.length = 0;
  });
  after(async () => {
    const drained = daemon.drain();
    await clock.advance(500);
    await drained;
    await agent.stop();
    cards.closeAllConnections();
    cards.close();
  });

  const get = (token: string): Promise<Got> =>
    ask(`http://${daemon.started.agents[0]}/agents/ledger/extendedAgentCard`, {
      headers: { 'A2A-Version': '1.0', Authorization: `Bearer ${token}` },
    });
  const kill = (scope: string) => daemon.killSwitch.engage({ scope: tag(scope), reason: 'a drill', by: 'admin' });
  const there = (): string => new URL(agent.url).host;

  test('sends no credential there', async () => {
    assert.equal((await get('ann')).status, 200);
    await kill(`origin:${there()}`);
    agent.asked.length = 0;
    const got = await get('ben');
    assert.deepEqual([got.status, got.code], [503, 'killed']);
    assert.deepEqual(agent.asked, []);
  });

  for (const [what, scope] of [
    ['the origin', () => `origin:${there()}`],
    ['the agent', () => 'agent:ledger'],
  ] as const)
    test(`ends what is on its way when ${what} is stopped`, async () => {
      const arrived = agent.hold();
      const got = get(`of ${what}`.replaceAll(' ', '-'));
      await arrived;
      await kill(scope());
      assert.equal((await got).code, 'killed');
    });
});
