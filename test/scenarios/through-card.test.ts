import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { CARD_PATH } from '../support/world.ts';
import { echoes, cardWith, interfaceAt, scenario, startThrough } from '../support/through-world.ts';

interface Served {
  readonly description: string;
  readonly supportedInterfaces: readonly { readonly url: string }[];
}
const urlsIn = (body: string): readonly string[] =>
  (JSON.parse(body) as Served).supportedInterfaces.map(({ url }) => url);

describe('the card of an agent that is called through Cardea', () => {
  scenario(
    'names the base URL as its caller reaches it, and never a host that is not listed',
    echoes,
    async (world) => {
      const { port } = new URL(world.base);
      const at = async (host: string) => world.card({ Host: host });
      const { body } = await at(`127.0.0.1:${port}`);
      assert.deepEqual(urlsIn(body), Array(2).fill(`http://127.0.0.1:${port}/agents/weather`));
      assert.deepEqual(
        urlsIn((await at(`localhost:${port}`)).body),
        Array(2).fill(`http://localhost:${port}/agents/weather`),
      );
      // A forwarded port: the caller sees another one than Cardea listens on.
      assert.deepEqual(
        urlsIn((await at('localhost:18642')).body),
        Array(2).fill('http://localhost:18642/agents/weather'),
      );
      for (const host of [`evil.example:${port}`, 'evil.example', `127.0.0.2:${port}`]) {
        const got = await at(host);
        assert.deepEqual([got.status, got.code], [421, 'misdirected']);
      }
      assert.deepEqual(world.origin.asked, ['GET /.well-known/agent-card.json']);
    },
  );

  scenario('has its own tag, digest and length, the same at every request', echoes, async (world) => {
    const first = await world.card();
    const hash = createHash('sha256').update(first.body);
    assert.equal(first.headers['repr-digest'], `sha-256=:${hash.copy().digest('base64')}:`);
    assert.equal(first.headers.etag, `"${hash.digest('base64url')}"`);
    const second = await world.card();
    assert.match(String(second.headers['cache-status']), /; hit;/);
    assert.equal(second.headers.etag, first.headers.etag);
    assert.equal(second.body, first.body);

    const same = await world.card({ 'If-None-Match': first.headers.etag });
    assert.deepEqual([same.status, same.body, same.headers.etag], [304, '', first.headers.etag]);
    const head = await world.card({}, 'HEAD');
    assert.deepEqual([head.status, head.body], [200, '']);
    assert.equal(head.headers['content-length'], String(Buffer.byteLength(first.body)));
    assert.equal(head.headers['last-modified'], undefined);

    const coded = await world.card({ 'Accept-Encoding': 'gzip' });
    assert.equal(coded.headers['content-encoding'], 'gzip');
    assert.notEqual(coded.headers.etag, first.headers.etag);
    const got = await fetch(world.base + CARD_PATH, { headers: { 'Accept-Encoding': 'gzip' } });
    assert.equal(await got.text(), first.body);
  });

  scenario("is there in its origin's bytes too, and its digest is that of the admitted card", echoes, async (world) => {
    const served = await world.card();
    const origin = await world.get('/agents/weather/origin-card');
    assert.equal(origin.status, 200);
    assert.deepEqual(urlsIn(origin.body), [`${world.origin.url}/rpc`, `${world.origin.url}/rest`]);
    assert.notEqual(origin.headers.etag, served.headers.etag);
    assert.equal(origin.headers['card-status'], served.headers['card-status']);
    assert.match((await world.metric(/^cardea_card_info/)) ?? '', /digest="sha256:[0-9a-f]{64}"/);
    assert.equal(world.logged('exchange').filter(({ purpose }) => purpose === 'card').length, 1);
  });

  scenario(
    'is refused where nothing in it can be carried',
    echoes,
    async (world) => {
      const got = await world.card();
      assert.deepEqual([got.status, got.code], [502, 'interface-not-allowed']);
      assert.match(got.body, /route: direct/);
    },
    { card: cardWith(interfaceAt('127.0.0.1:443', { protocolBinding: 'GRPC' })) },
  );
});

describe('the keys that verify rewritten cards', () => {
  scenario('are public, may be kept for minutes, and are validated by a tag', echoes, async (world) => {
    const got = await world.get('/.well-known/jwks.json');
    assert.deepEqual([got.status, got.headers['content-type']], [200, 'application/jwk-set+json']);
    assert.equal(got.headers['cache-control'], 'public, max-age=300');
    const { keys } = JSON.parse(got.body) as { readonly keys: readonly Readonly<Record<string, string>>[] };
    assert.deepEqual(Object.keys(keys[0] ?? {}).toSorted(), ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
    const again = await world.get('/.well-known/jwks.json', { 'If-None-Match': got.headers.etag });
    assert.equal(again.status, 304);
    assert.equal((await world.get('/.well-known/jwks.json', {}, 'POST')).status, 405);
  });

  test('outlive a restart with the state folder, and nobody else may read the private one', async () => {
    const state = fs.mkdtempSync(path.join(os.tmpdir(), 'cardea-keys-'));
    const keys: string[] = [];
    for (let round = 0; round < 2; round += 1) {
      const world = await startThrough(echoes, { state });
      keys.push((await world.get('/.well-known/jwks.json')).body);
      await world.stop();
    }
    assert.equal(keys[0], keys[1]);
    assert.equal(fs.statSync(path.join(state, 'card-key')).mode & 0o777, 0o600);
    fs.writeFileSync(path.join(state, 'card-key'), '{}', { mode: 0o600 });
    await assert.rejects(startThrough(echoes, { state }), /card-key is no P-256 key/);
    fs.rmSync(state, { recursive: true });
  });
});
