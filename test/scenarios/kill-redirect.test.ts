import assert from 'node:assert/strict';
import { type TestContext, describe, test } from 'node:test';
import { startDaemon } from '../../src/daemon.ts';
import type { EgressRule } from '../../src/kernel/egress-rule.ts';
import { agentName, tag } from '../../src/kernel/ids.ts';
import { parseOriginPattern } from '../../src/kernel/origins.ts';
import { validConfig } from '../support/config.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { type Behave, type OriginServer, startOrigin } from '../support/origin-server.ts';
import { CARD, CARD_PATH, answers, ask } from '../support/world.ts';

/*
 * A stop of an origin, where a card is only redirected to it. One agent whose permission covers both origins, as a wildcard gives it.
 */

function patternOf(url: string): EgressRule['allowed'][number] {
  const parsed = parseOriginPattern(url, () => false);
  assert.ok(parsed.ok);
  return parsed.value;
}

async function start(t: TestContext, there: Behave) {
  const other = await startOrigin(there, { host: '127.0.0.2' });
  const first = await startOrigin((_request, response) =>
    response.writeHead(302, { Location: `${other.url}/card` }).end(),
  );
  const config = await validConfig(`listen: { agents: "127.0.0.1:0", ops: "127.0.0.1:0", admin: "127.0.0.1:0" }
state: memory
cache: { prefetch: false, negativeTtl: 0s }
agents: { weather: { origin: "${first.url}", unsafeCleartext: true, unsafeAddresses: [127.0.0.0/8] } }`);
  const weather = config.rules.agents.get(agentName('weather'));
  assert.ok(weather);
  const egress = { ...weather.egress, allowed: [...weather.egress.allowed, patternOf(other.url)] };
  const agents = new Map([[weather.name, { ...weather, egress }]]);
  const clock = new FakeClock();
  const daemon = await startDaemon(
    { ...config, rules: { ...config.rules, agents } },
    { clock, log: { write: () => {} } },
    async () => config,
  );
  t.after(async () => {
    const drained = daemon.drain();
    await clock.advance(500);
    await Promise.all([drained, first.close(), other.close()]);
  });
  const card = () => ask(`http://${daemon.started.agents[0]}${CARD_PATH}`, {});
  const kill = async (scope: string): Promise<string> => {
    const engaged = await daemon.killSwitch.engage({ scope: tag(scope), reason: 'drill', by: 'admin' });
    assert.ok(engaged.ok);
    return engaged.value.kill.id;
  };
  return { card, daemon, first, kill, other };
}

const asked = ({ asked: all }: OriginServer): number => all.length;

describe('a stop of the origin that a card is redirected to', () => {
  test('is not asked, and the card is refused as killed; after the lift it is had again', async (t) => {
    const { card, daemon, first, kill, other } = await start(t, answers(CARD));
    const id = await kill('origin:127.0.0.2');
    const refused = await card();
    assert.deepEqual([refused.status, refused.code], [503, 'killed']);
    assert.ok(asked(first) > 0);
    assert.equal(other.connections(), 0);
    assert.ok((await daemon.killSwitch.lift({ id, reason: 'over', by: 'admin' })).ok);
    assert.equal((await card()).body, CARD);
  });

  test('takes away the card that came from there', async (t) => {
    const { card, kill, other } = await start(t, answers(CARD, { 'Cache-Control': 'max-age=60' }));
    assert.equal((await card()).body, CARD);
    await kill(`origin:127.0.0.2:${other.port}`);
    assert.equal((await card()).code, 'killed');
    assert.equal(asked(other), 1);
  });

  test('while it is being fetched: what comes is neither stored nor served', async (t) => {
    const waiting: (() => void)[] = [];
    const { card, kill, other } = await start(
      t,
      (request, response) => void waiting.push(() => answers(CARD)(request, response)),
    );
    const got = card();
    while (asked(other) === 0) await new Promise(setImmediate);
    await kill('origin:127.0.0.2');
    waiting[0]?.();
    assert.equal((await got).code, 'killed');
    assert.equal(asked(other), 1);
  });

  test('leaves cards alone that are not led there', async (t) => {
    const { card, kill } = await start(t, answers(CARD));
    await kill('origin:127.0.0.3');
    assert.equal((await card()).status, 200);
  });
});
