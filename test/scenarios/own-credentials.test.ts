import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, after, before, describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { CARD, type Got, World, type WorldOptions, answers, fails } from '../support/world.ts';

let folder: string;
before(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cardea-credentials-'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** An origin that gives its card to whoever shows a token of the list, and tokens to a client that knows the secret. */
class Protected {
  readonly good = new Set<string>();
  readonly shown: (string | undefined)[] = [];
  issued = 0;
  lasts: number | undefined = 100;
  takesNone = false;
  tokenFails = false;

  readonly behave = (request: IncomingMessage, response: ServerResponse): void => {
    if (request.url === '/token') return this.#token(request, response);
    this.shown.push(request.headers.authorization);
    const token = request.headers.authorization?.replace('Bearer ', '');
    if (!this.takesNone && token !== undefined && this.good.has(token))
      answers(CARD, { 'Cache-Control': 'max-age=10' })(request, response);
    else fails(401, { 'WWW-Authenticate': 'Bearer' })(request, response);
  };

  #token(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const basic = `Basic ${btoa('c%3A1:s%2F2')}`;
      const isRight =
        request.headers.authorization === basic &&
        Buffer.concat(chunks).toString() === 'grant_type=client_credentials&scope=cards%3Aread';
      if (this.tokenFails || !isRight) return fails(401)(request, response);
      this.issued += 1;
      const token = `t${this.issued}`;
      this.good.add(token);
      const body = { access_token: token, token_type: 'bearer', expires_in: this.lasts };
      answers(JSON.stringify(body))(request, response);
    });
  }
}

/** The configuration lies on disk, where the files that it names are. */
const start = async (t: TestContext, options: WorldOptions): Promise<World> => {
  const world = await World.start({ ...options, file: path.join(folder, 'cardea.yaml') });
  t.after(() => world.stop());
  return world;
};

const askedAs = async (world: World, agent: string): Promise<number> =>
  (await world.get(`/agents/${agent}/.well-known/agent-card.json`)).status;

const fetched = ({ headers }: Got): boolean => /fwd=/.test(String(headers['cache-status']));

describe('a public card behind authentication', () => {
  test('a token in a file, which rotates; every caller gets the one public card', async (t) => {
    const file = path.join(folder, 'token');
    writeFileSync(file, 'tok-one\n');
    const origin = new Protected();
    origin.good.add('tok-one');
    const world = await start(t, {
      origin: origin.behave,
      agent: `credentials: { static: file:${file} }`,
    });
    const first = await world.card({ Authorization: 'Bearer of-alice' });
    assert.equal(first.status, 200);
    assert.ok(!fetched(await world.card({ Authorization: 'Bearer of-bob' })));
    assert.doesNotMatch(String(first.headers['cache-control']), /private/);
    origin.good.clear();
    origin.good.add('tok-two');
    writeFileSync(file, 'tok-two');
    await world.clock.advance(11_000);
    await world.card({ 'Cache-Control': 'no-cache' });
    await world.quiet();
    assert.deepEqual(origin.shown, ['Bearer tok-one', 'Bearer tok-two']);
    assert.doesNotMatch(world.log.join(''), /tok-one|tok-two|of-alice/);
    writeFileSync(file, 'two\nlines');
    await world.clock.advance(3_700_000);
    const gone = await world.card();
    assert.deepEqual([gone.status, gone.code], [502, 'origin-unreachable']);
    assert.doesNotMatch(gone.body, /two|lines/);
  });

  test('client credentials: one request for many, renewed before the end, replaced at once when refused', async (t) => {
    const file = path.join(folder, 'secret');
    writeFileSync(file, 's/2');
    const origin = new Protected();
    const world = await start(t, {
      origin: origin.behave,
      agent: `credentials: { clientCredentials: { tokenUrl: "$ORIGIN/token", clientId: "c:1", clientSecret: "file:${file}", scope: "cards:read" } }`,
    });
    const expire = async (ms: number): Promise<void> => {
      await world.clock.advance(ms);
      assert.equal((await world.card({ 'Cache-Control': 'no-cache' })).status, 200);
      await world.quiet();
    };
    const [one, other] = await Promise.all([
      world.card({ 'A2A-Version': '1.0' }),
      world.card({ 'A2A-Version': '0.3' }),
    ]);
    assert.deepEqual([one.status, other.status, origin.issued], [200, 200, 1]);
    await expire(79_000);
    assert.equal(origin.issued, 1);
    await expire(2_000);
    // Behind the answer: four fifths of its life are over.
    while (origin.issued < 2) await turn();
    assert.equal(origin.shown.at(-1), 'Bearer t1', 'and the old one is used on');
    await expire(2_000);
    assert.equal(origin.shown.at(-1), 'Bearer t2');
    origin.good.clear();
    await expire(11_000);
    assert.deepEqual([origin.issued, origin.shown.slice(-2)], [3, ['Bearer t2', 'Bearer t3']]);
    const receipts = world.logged('exchange').filter(({ purpose }) => purpose === 'card');
    assert.deepEqual(
      receipts.slice(-2).map(({ status, outcome }) => [status, outcome]),
      [
        [401, 'status'],
        [200, 'stored'],
      ],
    );
    assert.doesNotMatch(world.log.join(''), /s\/2|Bearer t|"t[123]"|Basic/);
  });

  test('an origin that takes no token at all is asked with one new one, and then left alone', async (t) => {
    const file = path.join(folder, 'secret-2');
    writeFileSync(file, 's/2');
    const origin = new Protected();
    const world = await start(t, {
      origin: origin.behave,
      agent: `credentials: { clientCredentials: { tokenUrl: "$ORIGIN/token", clientId: "c:1", clientSecret: "file:${file}", scope: "cards:read" } }`,
    });
    await world.card();
    origin.takesNone = true;
    await world.clock.advance(4_000_000);
    for (let times = 0; times < 3; times += 1) assert.equal((await world.card()).code, 'origin-status');
    assert.deepEqual([origin.issued, origin.shown.length], [2, 2], 'a token that is new itself is not replaced');
    await world.clock.advance(60_000);
    await world.card();
    assert.deepEqual([origin.issued, origin.shown.length], [3, 3]);
  });

  test('a client that is configured no more is forgotten with its token', async (t) => {
    const file = path.join(folder, 'secret-3');
    writeFileSync(file, 's/2');
    const origin = new Protected();
    const world = await start(t, {
      origin: origin.behave,
      agent: `credentials: { clientCredentials: { tokenUrl: "$ORIGIN/token", clientId: "c:1", clientSecret: "file:${file}", scope: "cards:read" } }`,
    });
    const written = world.written;
    const askAnew = async (): Promise<number> => {
      await world.clock.advance(2_000);
      assert.equal((await world.card({ 'Cache-Control': 'no-cache' })).status, 200);
      return origin.issued;
    };
    assert.equal(await askAnew(), 1);
    world.writes(written.replace('weather:', 'weather: { origin: "https://other.test" }\n  weather2:'));
    assert.ok((await world.daemon.reload('admin')).ok);
    assert.equal(await askedAs(world, 'weather2'), 200);
    assert.equal(origin.issued, 2, 'the client of another agent has a token of its own');
    world.writes(written);
    assert.ok((await world.daemon.reload('admin')).ok);
    assert.equal(await askAnew(), 3);
  });

  test('a token endpoint that fails is left alone for a moment, and its failure says what to check', async (t) => {
    const file = path.join(folder, 'wrong');
    writeFileSync(file, 'wrong');
    const origin = new Protected();
    const world = await start(t, {
      origin: origin.behave,
      agent: `credentials: { clientCredentials: { tokenUrl: "$ORIGIN/token", clientId: "c:1", clientSecret: "file:${file}" } }`,
    });
    const asked = (): number => world.origin.asked.filter((line) => line === 'POST /token').length;
    const got = await world.card();
    assert.deepEqual([got.status, got.code], [502, 'origin-status']);
    assert.match(got.body, /check tokenUrl, clientId, clientSecret and scope/);
    await world.card({ 'A2A-Version': '0.3' });
    assert.equal(asked(), 1);
    await world.clock.advance(11_000);
    await world.card();
    assert.equal(asked(), 2);
  });
});
