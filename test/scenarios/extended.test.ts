import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type Daemon, startDaemon } from '../../src/daemon.ts';
import { validConfig } from '../support/config.ts';
import { type ExtendedAgent, startExtendedAgent } from '../support/extended-agent.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { type Got, ask } from '../support/world.ts';

const USERS: ReadonlyMap<string, string> = new Map([
  ['tok-alice', 'alice'],
  ['tok-bob', 'bob'],
]);

for (const binding of ['JSONRPC', 'HTTP+JSON'] as const) {
  describe(`extended cards by opaque tokens, the origin asked over ${binding}`, () => {
    const clock = new FakeClock(Date.now());
    let agent: ExtendedAgent;
    let daemon: Daemon;
    const log: string[] = [];
    before(async () => {
      agent = await startExtendedAgent((token) => USERS.get(token), binding);
    });
    beforeEach(async () => {
      await stopDaemon();
      agent.asked.length = 0;
      agent.refused.clear();
      agent.fields = {};
      const config = await validConfig(`
listen: { agents: "127.0.0.1:0", ops: "127.0.0.1:0", admin: "127.0.0.1:0" }
state: memory
agents: { ledger: { origin: "${agent.url}", unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32] } }
cache: { prefetch: false }
`);
      daemon = await startDaemon(
        config,
        { clock, log: { write: (line: string) => void log.push(line) } },
        async () => config,
      );
    });
    async function stopDaemon(): Promise<void> {
      if (daemon === undefined) return;
      const drained = daemon.drain();
      await clock.advance(500);
      await drained;
    }
    after(async () => {
      await stopDaemon();
      await agent.stop();
    });
    const base = (): string => `http://${daemon.started.agents[0]}/agents/ledger`;
    const rest = (token: string | null, more: Record<string, string> = {}, path = '/extendedAgentCard'): Promise<Got> =>
      ask(`${base()}${path}`, {
        headers: { 'A2A-Version': '1.0', ...(token === null ? {} : { Authorization: `Bearer ${token}` }), ...more },
      });
    const rpc = (token: string | null, method = 'GetExtendedAgentCard', id: string | number = 7): Promise<Got> =>
      ask(
        base(),
        {
          method: 'POST',
          headers: {
            'A2A-Version': '1.0',
            'Content-Type': 'application/json',
            ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
          },
        },
        JSON.stringify({ jsonrpc: '2.0', id, method, params: {} }),
      );
    const cacheOf = ({ headers }: Got): string => String(headers['cache-status']);

    test('each user gets its own, and from then on from the cache', async () => {
      for (const [token, user] of USERS) {
        const first = await rest(token);
        assert.equal(first.status, 200, first.body);
        assert.match(first.body, new RegExp(`secret-${user}`));
        assert.match(cacheOf(first), /fwd=uri-miss; fwd-status=200; stored; ttl=(299|300)/);
        assert.match(String(first.headers['cache-control']), /^private, max-age=3[01]$/);
        assert.match(String(first.headers.vary), /Authorization/);
        const second = await rest(token);
        assert.equal(second.body, first.body);
        assert.match(cacheOf(second), /cardea; hit; ttl=(299|300)/);
      }
      assert.deepEqual(
        agent.asked.map((line) => line.split(' ').at(-1)),
        ['alice', 'bob'],
      );
    });
    test('over JSON-RPC the same entry answers, in an envelope with the id of the request', async () => {
      await rest('tok-alice');
      const got = await rpc('tok-alice');
      const { jsonrpc, id, result } = JSON.parse(got.body) as Record<string, { skills: { id: string }[] }>;
      assert.deepEqual([got.status, jsonrpc, id], [200, '2.0', 7]);
      assert.equal(result?.skills[1]?.id, 'secret-alice');
      assert.match(cacheOf(got), /; hit/);
      assert.equal(agent.asked.length, 1);
    });
    test('without a credential: told to bring one, and the origin is not asked', async () => {
      const got = await rest(null);
      assert.deepEqual([got.status, got.code, got.headers['www-authenticate']], [401, 'principal-required', 'Bearer']);
      assert.equal((await rpc(null)).status, 401);
      assert.deepEqual(agent.asked, []);
    });
    test("the origin's no is the caller's alone, with its challenge", async () => {
      await rest('tok-alice');
      const got = await rest('tok-mallory');
      assert.deepEqual(
        [got.status, got.code, got.headers['www-authenticate']],
        [401, 'extended-refused', 'Bearer realm="agent"'],
      );
      assert.match(cacheOf(await rest('tok-alice')), /; hit/);
    });
  });
}
