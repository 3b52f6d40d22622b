import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, test } from 'node:test';
import { digestCard } from '../../src/card/digest.ts';
import { type Got, type WorldOptions, answers } from '../support/world.ts';
import { BASE, Reviewing, reviewOf, seen, serves } from './review-world.ts';

const PLAIN = 'Tells the weather of a place.';
const skill = (description: string) => ({ id: 'own', name: 'Own', description, tags: ['own'] });

/** What one caller is given beside the public card. */
const OWN = skill('Tells the weather at home.');
const SENDS = skill('Tells the weather at home and sends it by mail.');
const PAYS = skill('Tells the weather at home and pays for it.');

/** An agent with an extended card for each token. */
class Agent {
  readonly cards = new Map<string, typeof OWN>([
    ['alice', OWN],
    ['bob', OWN],
  ]);
  /** Further fields of extended cards. */
  fields: Readonly<Record<string, string>> = { 'Cache-Control': 'max-age=60' };
  asked = 0;

  publicCard(host: string) {
    return {
      ...BASE,
      capabilities: { extendedAgentCard: true },
      securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
      securityRequirements: [{ schemes: { bearer: { list: [] } } }],
      supportedInterfaces: [{ url: `http://${host}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' }],
    };
  }

  extended(host: string, user: string) {
    const card = this.publicCard(host);
    return { ...card, skills: [...card.skills, ...[this.cards.get(user) ?? []].flat()] };
  }

  readonly behave: NonNullable<WorldOptions['origin']> = (request, response) => {
    const { host = '' } = request.headers;
    if (request.url?.startsWith('/rest') !== true) return serves(this.publicCard(host))(request, response);
    this.asked += 1;
    const user = /^Bearer (.*)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    answers(JSON.stringify(this.extended(host, user)), this.fields)(request, response);
  };
}

const ends: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

const folder = (): string => {
  const made = mkdtempSync(path.join(tmpdir(), 'cardea-review-extended-'));
  ends.push(() => rmSync(made, { recursive: true, force: true }));
  return made;
};

interface Stage {
  readonly at: Reviewing;
  readonly agent: Agent;
  get(user?: string): Promise<Got>;
  later(user?: string): Promise<Got>;
  digest(user?: string): string;
}

async function start(options: WorldOptions = {}, agent = new Agent()): Promise<Stage> {
  const at = await Reviewing.start(BASE, { ...options, origin: agent.behave });
  ends.push(() => at.world.stop());
  const get = (user = 'alice'): Promise<Got> =>
    at.world.get('/agents/weather/extendedAgentCard', { 'a2a-version': '1.0', authorization: `Bearer ${user}` });
  const later = async (user?: string): Promise<Got> => {
    await at.world.clock.advance(61_000);
    return get(user);
  };
  const { host } = new URL(at.world.origin.url);
  return { at, agent, get, later, digest: (user = 'alice') => digestCard(agent.extended(host, user)) };
}

/** What a caller's own skill says to it, in a few words. */
function own(got: Got): string {
  if (got.status !== 200) return got.code ?? String(got.status);
  const card = JSON.parse(got.body) as { skills: { description: string }[] };
  return `${reviewOf(got)} ${card.skills.at(-1)?.description}`;
}

describe('an extended card', () => {
  test('that changes waits while the one before it is served, and is approved', async () => {
    const { at, agent, get, later, digest } = await start();
    assert.equal(own(await get()), `first-use ${OWN.description}`);
    agent.cards.set('alice', SENDS);
    const held = await later();
    assert.equal(own(held), `held ${OWN.description}`);
    assert.match(String(held.headers['cache-control']), /no-cache/);
    assert.equal(held.headers['age'], '61');
    const asked = agent.asked;
    assert.equal(own(await get()), `held ${OWN.description}`);
    assert.equal(agent.asked, asked, 'it is asked about at the pace that the newer one sets');
    const [waits, ...others] = await at.pending();
    assert.deepEqual([waits?.variant, waits?.why, waits?.digest, others.length], ['extended', 'held', digest(), 0]);
    assert.deepEqual(
      waits?.changes.map((change) => [change.class, change['cues']]),
      [['skill-text', ['sends']]],
    );
    const line = /^cardea_card_pending_changes\{agent="weather",class="skill-text"\}/;
    assert.match(String(await at.world.metric(line)), / 1$/);
    assert.equal((await at.decide('approve', digest())).status, 200);
    assert.equal(own(await get()), `approved ${SENDS.description}`);
    assert.equal(own(await later()), `approved ${SENDS.description}`);
    assert.deepEqual(await at.pending(), []);
    assert.match(String(await at.world.metric(line)), / 0$/);
    assert.match(seen(await at.world.card({ 'a2a-version': '1.0' })), new RegExp(PLAIN), 'the public one is as it was');
  });
  test('that waits is told with what its signatures are worth today', async () => {
    const { at, agent, get, later } = await start();
    await get();
    agent.cards.set('alice', SENDS);
    await later();
    const [waits] = (await at.pending()) as unknown as readonly Readonly<Record<string, unknown>>[];
    assert.deepEqual([waits?.['verdict'], waits?.['refusal']], [{ signature: 'unsigned' }, null]);
  });
  test('approved for one caller is approved for the agent', async () => {
    const { at, agent, get, later, digest } = await start();
    await get();
    await get('bob');
    agent.cards.set('alice', SENDS).set('bob', SENDS);
    assert.equal(own(await later()), `held ${OWN.description}`);
    assert.equal(own(await get('bob')), `held ${OWN.description}`);
    assert.equal((await at.pending()).length, 1, 'the same card waits once');
    await at.decide('approve', digest());
    assert.equal(own(await get('bob')), `approved ${SENDS.description}`);
  });
  test('rejected: the one before it stays, and the same is not offered again', async () => {
    const { at, agent, get, later, digest } = await start();
    await get();
    agent.cards.set('alice', SENDS);
    await later();
    assert.equal((await at.decide('reject', digest())).status, 200);
    assert.equal(own(await get()), `allowed ${OWN.description}`);
    assert.equal(own(await later()), `allowed ${OWN.description}`);
    assert.deepEqual(await at.pending(), []);
  });
  test('after maxHold nothing is served; a third version does not begin the time anew', async () => {
    const { agent, get, later } = await start({ review: '{ maxHold: 100s }' });
    await get();
    agent.cards.set('alice', SENDS);
    assert.equal(own(await later()), `held ${OWN.description}`);
    agent.cards.set('alice', PAYS);
    assert.equal(own(await later()), `held ${OWN.description}`);
    assert.equal((await later()).code, 'change-held');
  });
  test('rolled back: nothing waits, and an approval of it is a conflict', async () => {
    const { at, agent, get, later, digest } = await start();
    await get();
    agent.cards.set('alice', SENDS);
    await later();
    const gone = digest();
    agent.cards.set('alice', OWN);
    assert.equal(own(await later()), `allowed ${OWN.description}`);
    assert.deepEqual(await at.pending(), []);
    assert.equal((await at.decide('approve', gone)).code, 'conflict');
  });
  test('blocked: no person lets it in', async () => {
    const { at, agent, get, later, digest } = await start({ review: '{ skillText: block }' });
    await get();
    agent.cards.set('alice', SENDS);
    assert.equal(own(await later()), `held ${OWN.description}`);
    assert.equal((await at.decide('approve', digest())).code, 'conflict');
  });
  test('firstUse: hold lets each caller’s first wait, after the public one was approved', async () => {
    const { at, get, digest } = await start({ review: '{ firstUse: hold }' });
    assert.equal((await get()).code, 'first-use-held');
    await at.decide('approve');
    assert.equal((await get()).code, 'first-use-held');
    const [waits] = await at.pending();
    assert.deepEqual([waits?.variant, waits?.digest], ['extended', digest()]);
    await at.decide('approve', digest());
    assert.equal(own(await get()), `approved ${OWN.description}`);
    assert.equal(own(await get('bob')), `approved ${OWN.description}`, 'whoever’s card it is');
  });
  test('that may not be stored is compared by its digest alone, and held where that changes', async () => {
    const { at, agent, get, later } = await start();
    agent.fields = { 'Cache-Control': 'no-store' };
    await get();
    assert.equal(own(await later()), `allowed ${OWN.description}`);
    agent.cards.set('alice', SENDS);
    assert.equal((await later()).code, 'change-held');
    assert.equal((await at.pending())[0]?.variant, 'extended');
  });
});

describe('what waits of one caller', () => {
  test('is told to nobody else, and goes with the session', async () => {
    const { at, agent, get, later, digest } = await start();
    await get();
    await get('bob');
    agent.cards.set('alice', SENDS);
    await later();
    const bobs = await get('bob');
    assert.equal(own(bobs), `allowed ${OWN.description}`);
    const log = at.world.log.join('\n');
    const receipts = (await at.admin('GET /receipts?agent=weather')).body;
    for (const text of [log, receipts]) assert.doesNotMatch(text, /sends it by mail|at home/);
    assert.match(receipts, /"review":"held","changes":\["skill-text"\]/);
    assert.match((await at.admin('GET /agents/weather/change')).body, /sends it by mail/, 'a reviewer sees it');
    assert.equal((await at.world.post('/logout', '', { authorization: 'Bearer alice' })).status, 204);
    assert.doesNotMatch((await at.admin('GET /agents/weather/change')).body, /sends it by mail/);
    assert.equal((await at.decide('approve', digest())).code, 'conflict', 'nobody has it now');
    assert.equal((await get()).code, 'change-held', 'what waited is no first card of the next session');
  });
  test('leaves its digest and classes in the ledger, and waits after a restart', async () => {
    const state = folder();
    let { at, agent, get, later, digest } = await start({ state });
    const port = Number(new URL(at.world.origin.url).port);
    await get();
    agent.cards.set('alice', SENDS);
    assert.equal(own(await later()), `held ${OWN.description}`);
    await ends.pop()?.();
    for (const name of ['ledger.db', 'ledger.db-wal'])
      assert.ok(!readIfThere(path.join(state, name)).includes('sends it by mail'), name);
    ({ at, agent, get, later, digest } = await start({ state, port }, agent));
    assert.deepEqual(await at.pending(), [], 'nobody has it yet');
    assert.equal((await get()).code, 'change-held');
    const [waits] = await at.pending();
    assert.deepEqual([waits?.variant, waits?.digest], ['extended', digest()]);
    await at.decide('approve', digest());
    assert.equal(own(await get()), `approved ${SENDS.description}`);
  });
});

test('a held endpoint change of the public card suspends extended cards until it is decided', async () => {
  const agent = new Agent();
  const { at, get, later } = await start({}, agent);
  assert.equal((await get()).status, 200);
  const before = agent.publicCard.bind(agent);
  agent.publicCard = (host) => ({
    ...before(host),
    supportedInterfaces: [{ url: `http://${host}/rest2`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' }],
  });
  assert.match(seen(await at.later({ 'a2a-version': '1.0' })), /^held /);
  const asked = agent.asked;
  assert.equal((await get()).code, 'change-held');
  assert.equal((await later()).code, 'change-held');
  assert.equal(agent.asked, asked, 'the agent is shown no credential meanwhile');
  await at.decide('reject');
  assert.equal((await get()).status, 200);
});

const readIfThere = (file: string): string => {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
};
