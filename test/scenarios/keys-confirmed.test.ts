import assert from 'node:assert/strict';
import type { OutgoingHttpHeaders } from 'node:http';
import { test } from 'node:test';
import type { JWK } from 'jose';
import { pair, signed } from '../card/signer.ts';
import { card10 } from '../card/support.ts';
import type { Behave } from '../support/origin-server.ts';
import { answers, World } from '../support/world.ts';

const [one, two] = [await pair('one'), await pair('two')];
const INTERFACES = [{ url: 'http://127.0.0.1/rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }];
const CARD = JSON.stringify(await signed(card10({ supportedInterfaces: INTERFACES }), one));

/** An origin of a card and of keys that it knows how to confirm. */
class Origin {
  keys: readonly JWK[] = [one.publicJwk];
  validators: OutgoingHttpHeaders = { ETag: '"one"' };
  /** What a 304 says besides. */
  confirms: OutgoingHttpHeaders = { ETag: '"one"' };
  /** The conditions of each request for keys, and the status that it got. */
  readonly asked: (readonly [condition: string, status: number])[] = [];

  readonly behave: Behave = (request, response) => {
    if (request.url !== '/jwks.json') return answers(CARD, { 'Cache-Control': 'max-age=60' })(request, response);
    const { 'if-none-match': tag = '', 'if-modified-since': since = '' } = request.headers;
    const same = tag === this.validators['ETag'] || since === this.validators['Last-Modified'];
    this.asked.push([tag + since, same ? 304 : 200]);
    if (same) return void response.writeHead(304, this.confirms).end();
    answers(JSON.stringify({ keys: this.keys }), { 'Cache-Control': 'max-age=100', ...this.validators })(
      request,
      response,
    );
  };
}

const scenario = (name: string, run: (world: World, origin: Origin) => Promise<void>): void => {
  test(name, async () => {
    const origin = new Origin();
    const config = 'keys: { own: { jwks: "$ORIGIN/jwks.json" } }';
    const agent = 'keys: [own], signature: require';
    const world = await World.start({ origin: origin.behave, agent, config });
    try {
      await run(world, origin);
    } finally {
      await world.stop();
    }
  });
};

const success = async (world: World): Promise<number> =>
  Number((await world.metric(/^cardea_keys_last_success_timestamp_seconds\{/))?.split(' ').at(-1));

scenario('keys are asked about by their tag, and stay when they are confirmed', async (world, origin) => {
  assert.match(String((await world.card()).headers['card-status']), /^verified/);
  const before = await success(world);
  await world.pass(105);
  assert.deepEqual(origin.asked, [
    ['', 200],
    ['"one"', 304],
  ]);
  assert.ok((await success(world)) > before, 'a confirmation is a success');
  assert.match((await world.metric(/jwks_fetch_total\{result="not_modified"/)) ?? '', / 1$/);
  assert.match(String((await world.card()).headers['card-status']), /^verified/);
});

scenario('a confirmation says how long they are fresh from then on', async (world, origin) => {
  origin.confirms = { ETag: '"one"', 'Cache-Control': 'max-age=1000' };
  await world.card();
  await world.pass(105);
  await world.pass(500);
  assert.equal(origin.asked.length, 2);
});

scenario('by the date of their last change, where there is no tag', async (world, origin) => {
  const changed = 'Mon, 01 Jan 2024 00:00:00 GMT';
  origin.validators = { 'Last-Modified': changed };
  origin.confirms = {};
  await world.card();
  await world.pass(105);
  assert.deepEqual(origin.asked.at(-1), [changed, 304]);
  assert.match(String((await world.card()).headers['card-status']), /^verified/);
});

scenario('a confirmation of other keys is none: they are fetched', async (world, origin) => {
  await world.card();
  origin.confirms = { ETag: '"other"' };
  origin.keys = [two.publicJwk];
  await world.pass(105);
  assert.deepEqual(
    origin.asked.map(([, status]) => status),
    [200, 304, 200],
  );
  assert.match(String((await world.card({ 'Cache-Control': 'no-cache' })).code), /^signature-/);
});

scenario('keys that have changed are fetched whole, and the old ones vouch for nothing', async (world, origin) => {
  await world.card();
  origin.keys = [two.publicJwk];
  origin.validators = { ETag: '"two"' };
  await world.pass(105);
  assert.deepEqual(origin.asked.at(-1), ['"one"', 200]);
  assert.match(String((await world.card({ 'Cache-Control': 'no-cache' })).code), /^signature-/);
});
