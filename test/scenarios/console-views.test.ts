import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { type Pair, pair, signature } from '../card/signer.ts';
import { answer, listening } from '../support/listening.ts';
import { tag } from '../../src/kernel/ids.ts';
import { fails } from '../support/world.ts';
import { BASE, Reviewing, SENDS } from './review-world.ts';

/** What the console shows of agents, changes and stops, as the admin API tells it. */

const own: Pair = await pair('own');
const CONFIG = `keys: { own: { inline: '${JSON.stringify({ keys: [own.publicJwk] })}' } }`;
const signed = async (card: object): Promise<object> => ({ ...card, signatures: [await signature(card, own)] });
const VERDICT = { signature: 'verified', kid: 'own', alg: 'ES256', keys: 'own', form: 'a2a-1.0' };

let at: Reviewing | undefined;
afterEach(async () => {
  await at?.world.stop();
  at = undefined;
});

async function start(card: object): Promise<Reviewing> {
  at = await Reviewing.start(card, { agent: 'keys: [own]', config: CONFIG });
  await at.world.card();
  return at;
}

type Json = Readonly<Record<string, unknown>>;
const read = async (reviewing: Reviewing, target: string): Promise<Json> =>
  JSON.parse((await reviewing.admin(`GET ${target}`)).body) as Json;

async function row(reviewing: Reviewing): Promise<Json> {
  const { agents } = (await read(reviewing, '/agents')) as { readonly agents: readonly [Json] };
  return agents[0];
}

describe('a row of the list', () => {
  test('has the name, the whole verdict, the review and how long the card is good', async () => {
    const reviewing = await start(await signed(BASE));
    const now = reviewing.world.clock.now();
    const { name, verdict, reviewed, lifetime, freshUntil, staleUntil, setback } = await row(reviewing);
    assert.deepEqual(
      { name, verdict, reviewed, setback },
      { name: 'Weather', verdict: VERDICT, reviewed: 'first-use', setback: null },
    );
    assert.deepEqual([lifetime, freshUntil, staleUntil], [60_000, now + 60_000, now + 60_000 + 3_600_000]);
  });
  test('has no time for what may never be stale', async () => {
    const reviewing = await start(BASE);
    reviewing.world.says((_request, response) => {
      response.setHeader('Content-Type', 'application/json').setHeader('Cache-Control', 'max-age=60, must-revalidate');
      response.end(JSON.stringify(BASE));
    });
    await reviewing.later();
    assert.equal((await row(reviewing))['staleUntil'], 0);
  });
  test('has the last error with what mends it', async () => {
    const reviewing = await start(BASE);
    reviewing.world.says(fails(503));
    await reviewing.later();
    const { setback, state } = (await row(reviewing)) as { readonly setback: Json; readonly state: string };
    assert.deepEqual([state, setback['code']], ['stale', 'origin-status']);
    assert.match(String(setback['remedy']), /^[A-Z].*\.$/);
  });
  test('has nothing of a card that is not there', async () => {
    const reviewing = await Reviewing.start(BASE, { config: CONFIG });
    at = reviewing;
    const { name, verdict, reviewed, lifetime, staleUntil } = await row(reviewing);
    assert.deepEqual([name, verdict, reviewed, lifetime, staleUntil], [null, null, null, 0, 0]);
  });
});

describe('a change', () => {
  test('has the signature before and after, as today’s keys judge them', async () => {
    const reviewing = await start(await signed(BASE));
    await reviewing.offers(await signed(SENDS));
    const [pending] = (await reviewing.pending()) as unknown as readonly Json[];
    assert.deepEqual([pending?.['verdict'], pending?.['refusal']], [VERDICT, null]);
    const { review } = await reviewing.detail();
    assert.deepEqual([review.inForce[0]?.verdict, review.history[0]?.verdict], [VERDICT, VERDICT]);
  });
  test('that lost its signature says so', async () => {
    const reviewing = await start(await signed(BASE));
    await reviewing.offers(BASE);
    const [pending] = (await reviewing.pending()) as unknown as readonly Json[];
    assert.deepEqual(pending?.['verdict'], { signature: 'unsigned' });
  });
});

describe('what a stop would concern', () => {
  const NOTHING = { agents: [], entries: 0, extended: 0, callers: 0, streams: 0 };
  test('is counted by scope, and nothing is stopped by asking', async () => {
    const reviewing = await start(await signed(BASE));
    const one = { ...NOTHING, agents: ['weather'], entries: 1 };
    const cases: readonly (readonly [scope: string, counts: object])[] = [
      ['all', one],
      ['agent:weather', one],
      ['agent:planner', NOTHING],
      [`origin:127.0.0.1:${reviewing.world.origin.port}`, one],
      ['origin:127.0.0.1', one],
      ['origin:127.0.0.2', NOTHING],
      ['kid:own', one],
      ['kid:other', NOTHING],
      ['tenant:acme', NOTHING],
    ];
    for (const [scope, counts] of cases)
      assert.deepEqual(await read(reviewing, `/kill/preview?scope=${scope}`), { scope, ...counts });
    assert.equal((await reviewing.world.card()).status, 200);
    assert.deepEqual((await read(reviewing, '/kill'))['kills'], []);
  });
  test('is not guessed for what is no scope', async () => {
    const reviewing = await start(BASE);
    for (const query of ['', '?scope=', '?scope=everything', '?scope=agent:UPPER', '?what=all'])
      assert.equal((await reviewing.admin(`GET /kill/preview${query}`)).status, 400, query);
  });
  test('has the answers that are being written', async () => {
    async function* endless(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(1);
      await new Promise(() => undefined);
    }
    const tags = [tag('agent:weather')];
    const open = await listening(() => ({ ...answer(200, endless()), tags }));
    const socket = await open.connect();
    await socket.send('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await socket.until((text) => text.includes('\r\n\r\n'));
    assert.deepEqual([open.listener.count(tag('agent:weather')), open.listener.count(tag('agent:other'))], [1, 0]);
    await open.close();
  });
});
