import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type AgentCard, verifyAgentCardSignature } from '@a2a-js/sdk';
import { DefaultAgentCardResolver } from '@a2a-js/sdk/client';
import { type JWK, importJWK } from 'jose';
import { createSigner } from '../../demo/signer.ts';
import { type Daemon, startDaemon } from '../../src/daemon.ts';
import { validConfig } from '../support/config.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { type TaskAgent, startTaskAgent } from '../support/task-agent.ts';
import { ask } from '../support/world.ts';

/** What the official SDK makes of a card that Cardea has rewritten. */
const clock = new FakeClock(Date.now());
let agent: TaskAgent;
let daemon: Daemon;

before(async () => {
  agent = await startTaskAgent({ version: '1.0', signer: await createSigner('agent-key') });
  const local = 'route: through, unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32]';
  const config = await validConfig(`
listen: { agents: "127.0.0.1:0", ops: "127.0.0.1:0", admin: "127.0.0.1:0" }
state: memory
keys: { agent: { jwks: "${agent.url}/jwks.json" } }
agents:
  vouched: { origin: "${agent.url}", listen: "127.0.0.1:0", keys: [agent], ${local} }
  unvouched: { origin: "${agent.url}", ${local} }
cache: { prefetch: false }
`);
  daemon = await startDaemon(config, { clock, log: { write: () => undefined } }, async () => config);
});

after(async () => {
  const drained = daemon.drain();
  await clock.advance(500);
  await agent.stop();
  await drained;
});

const base = (): string => `http://${daemon.started.agents[0]}`;
const cardOf = (url: string): Promise<AgentCard> => new DefaultAgentCardResolver().resolve(url);

/** Verifies as the SDK does, with the keys that the signature itself points at. */
async function verify(card: AgentCard, at: string): Promise<readonly string[]> {
  const asked: string[] = [];
  await verifyAgentCardSignature(async (kid, jku) => {
    assert.equal(jku, `${at}/.well-known/jwks.json`);
    const { keys } = (await (await fetch(jku)).json()) as { readonly keys: readonly JWK[] };
    const key = keys.find((each) => each.kid === kid);
    assert.ok(key !== undefined, 'the key set holds the key');
    asked.push(kid);
    const read = await importJWK(key);
    assert.ok(!(read instanceof Uint8Array), 'the key is a public one');
    return read;
  })(card);
  return asked;
}

describe('a card that its agent signed', () => {
  test("verifies against Cardea's own keys after it was rewritten", async () => {
    const card = await cardOf(`${base()}/agents/vouched/`);
    assert.equal(card.supportedInterfaces[0]?.url, `${base()}/agents/vouched`);
    assert.ok((await verify(card, base())).length > 0);
  });

  test('does so on a listener of its own', async () => {
    const own = `http://${daemon.started.listeners['vouched']}`;
    const card = await cardOf(`${own}/`);
    assert.equal(card.supportedInterfaces[0]?.url, own);
    assert.ok((await verify(card, own)).length > 0);
  });

  test('does not when a word of it is changed', async () => {
    const card = await cardOf(`${base()}/agents/vouched/`);
    await assert.rejects(verify({ ...card, description: 'Changed.' }, base()), /No valid signatures/);
  });

  test("is not vouched for at a port that may be anybody's", async () => {
    const { port } = new URL(base());
    const signaturesAt = async (host: string): Promise<unknown> => {
      const got = await ask(`${base()}/agents/vouched/.well-known/agent-card.json`, { headers: { Host: host } });
      const card = JSON.parse(got.body) as AgentCard;
      assert.equal(card.supportedInterfaces[0]?.url, `http://${host}/agents/vouched`);
      return card.signatures;
    };
    assert.ok(Array.isArray(await signaturesAt(`localhost:${port}`)));
    assert.equal(await signaturesAt('localhost:6666'), undefined);
    assert.equal(await signaturesAt('localhost'), undefined);
    assert.ok(Array.isArray(await signaturesAt(`127.0.0.1:${port}`)));
  });

  test("never has the agent's own signature on other bytes", async () => {
    const own = new Set((await cardOf(`${agent.url}/`)).signatures.map(({ protected: header }) => header));
    const card = await cardOf(`${base()}/agents/vouched/`);
    assert.ok(card.signatures.length > 0);
    assert.deepEqual(
      card.signatures.filter(({ protected: header }) => own.has(header)),
      [],
    );
  });
});

test('a card that nobody vouched for is not vouched for here', async () => {
  const response = await fetch(`${base()}/agents/unvouched/.well-known/agent-card.json`);
  assert.match(response.headers.get('card-status') ?? '', /^unverified; why=no-keys/);
  const card = (await response.json()) as Partial<AgentCard>;
  assert.equal(card.signatures, undefined);
});
