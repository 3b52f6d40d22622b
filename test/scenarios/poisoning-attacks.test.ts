import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { pair, signed } from '../card/signer.ts';
import { PREFACE, TYPE, errorOf, frame, getLines, isAnswered, request as asks } from '../support/http2-frames.ts';
import { startRawOrigin } from '../support/origin-server.ts';
import { RawSocket } from '../support/raw-socket.ts';
import { CARD_PATH, answers, fails } from '../support/world.ts';
import { Attacked, EXTENDED, cardOf, isHit, markOf, ownerOf } from './attacked-world.ts';

/**
 * The cases of the HTTP attack table in which a caller or an origin could leave something behind for others: against a whole daemon, with two
 * principals, for extended cards and public ones. `attack-register.test.ts` says where every other case of the table is held.
 */

let attacked: Attacked;
afterEach(() => attacked.stop());

/** Alice of acme and Bob of globex. */
async function two(options: Parameters<typeof Attacked.start>[0] = {}): Promise<readonly [alice: string, bob: string]> {
  attacked = await Attacked.start(options);
  return [await attacked.caller(), await attacked.caller({ sub: 'bob', tenant: 'globex' })];
}

/** The names of the fields that the last request to the origin had, lower case. */
const sentFields = (): readonly string[] =>
  (attacked.world.origin.headers.at(-1) ?? []).filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());

describe('attack table: what is left behind for others', () => {
  test('HTTP-CACHE-25 HTTP-DOS-27 the failure of one is not the failure of another', async () => {
    const [alice, bob] = await two();
    for (const status of [404, 410, 401, 403, 500, 503]) {
      await attacked.admin('/purge', { tags: ['all'], reason: 'next' });
      await attacked.world.clock.advance(11_000);
      attacked.behave = fails(status, status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {});
      assert.ok((await attacked.extended(alice)).status >= 400);
      attacked.behave = undefined;
      assert.equal((await attacked.extended(bob)).status, 200, String(status));
      await attacked.world.clock.advance(11_000);
      assert.equal((await attacked.extended(alice)).status, 200, String(status));
    }
  });
  test('HTTP-CACHE-27 an error page is never stored as a card', async () => {
    const [alice, bob] = await two();
    attacked.fields = { 'Cache-Control': 'max-age=60, stale-if-error=600' };
    await attacked.extended(alice);
    await attacked.world.clock.advance(61_000);
    attacked.behave = answers('<h1>back soon</h1>', { 'Content-Type': 'text/html', 'Cache-Control': 'max-age=600' });
    const stale = await attacked.extended(alice);
    assert.deepEqual([stale.status, ownerOf(stale)], [200, markOf(alice)]);
    assert.equal((await attacked.extended(bob)).code ?? 'card-content-type', 'card-content-type');
    attacked.behave = undefined;
    await attacked.world.clock.advance(11_000);
    for (const who of [alice, bob]) assert.equal(ownerOf(await attacked.extended(who)), markOf(who));
  });
  test('HTTP-CACHE-33 route re-pointed', async () => {
    const [alice] = await two();
    await attacked.extended(alice);
    const { written } = attacked.world;
    attacked.world.writes(
      written.replace(`origin: "${attacked.url}"`, `card: "${attacked.url}/.well-known/other.json"`),
    );
    await attacked.world.daemon.reload('file');
    assert.ok(!isHit(await attacked.extended(alice)));
    assert.ok(isHit(await attacked.extended(alice)));
  });
  test('HTTP-CACHE-35 late write after purge or kill', async () => {
    const [alice] = await two();
    for (const [target, order, code] of [
      ['/purge', { tags: [`principal:https://idp.test#alice`], reason: 'test' }, 'conflict'],
      ['/purge', { tags: ['tenant:acme'], reason: 'test' }, 'conflict'],
      ['/kill', { scope: 'principal:https://idp.test#alice', reason: 'test' }, 'killed'],
    ] as const) {
      const arrived = Promise.withResolvers<() => void>();
      attacked.behave = (request, response) =>
        arrived.resolve(() => answers(cardOf(attacked.url, markOf(alice)), attacked.fields)(request, response));
      const late = attacked.extended(alice);
      const finish = await arrived.promise;
      await attacked.admin(target, order);
      finish();
      const got = await late;
      assert.match(got.body, new RegExp(`"code":"${code}"`));
      attacked.behave = undefined;
      if (code === 'conflict') assert.ok(!isHit(await attacked.extended(alice)), target);
      await attacked.admin('/purge', { tags: ['all'], reason: 'next' });
    }
  });
  test('HTTP-FRESH-48 HTTP-FRESH-54 validators: of callers they stay here, of origins they confirm nothing for anybody', async () => {
    const [alice, bob] = await two();
    attacked.fields = {
      'Cache-Control': 'max-age=60',
      ETag: '"same"',
      'Last-Modified': 'Fri, 01 Jan 2021 00:00:00 GMT',
    };
    const guess = { 'If-None-Match': '"zzz", "same"', 'If-Modified-Since': 'Fri, 01 Jan 2020 00:00:00 GMT' };
    for (const [who, path] of [
      [alice, EXTENDED],
      [bob, EXTENDED],
      [bob, CARD_PATH],
    ] as const) {
      const got = await attacked.extended(who, guess, path);
      assert.equal(got.status, 200);
      assert.ok(!sentFields().some((name) => name.startsWith('if-')), sentFields().join());
      assert.notEqual(got.headers.etag, '"same"', 'the tag is of the bytes that are served');
    }
    const mine = await attacked.extended(alice);
    const theirs = await attacked.extended(bob, { 'If-None-Match': String(mine.headers.etag) });
    assert.deepEqual([theirs.status, ownerOf(theirs)], [200, markOf(bob)], 'the tag of another is no tag of mine');
    assert.equal((await attacked.extended(bob, { 'If-None-Match': String(theirs.headers.etag) })).status, 304);
    // Nothing was asked about conditionally, so a 304 answers nothing.
    await attacked.world.clock.advance(61_000);
    attacked.fields = {};
    attacked.behave = fails(304, { ETag: '"same"' });
    const confirmed = await attacked.extended('Bearer new');
    assert.ok(confirmed.status >= 400 && ownerOf(confirmed) === undefined);
  });
  test('HTTP-FRESH-50 304 after key revocation', async () => {
    const [key, other] = await Promise.all([pair('one'), pair('two')]);
    const config = `keys: { own: { inline: '{ "keys": [${JSON.stringify(key.publicJwk)}, ${JSON.stringify(other.publicJwk)}] }' } }`;
    const [alice] = await two({ config, agent: 'keys: [own], signature: require' });
    const made = JSON.stringify(
      await signed(JSON.parse(cardOf(attacked.url, markOf(alice))) as Record<string, unknown>, key),
    );
    attacked.behave = answers(made, attacked.fields);
    const fields = { 'Cache-Control': 'max-age=60', ETag: '"k"' };
    attacked.behavePublic = (request, response) =>
      request.headers['if-none-match'] === undefined
        ? answers(made, fields)(request, response)
        : fails(304, fields)(request, response);
    assert.equal((await attacked.extended(alice)).status, 200);
    assert.ok(isHit(await attacked.extended(alice)));
    attacked.world.writes(attacked.world.written.replace('own: {', 'own: { revoked: [one],'));
    await attacked.world.daemon.reload('file');
    await attacked.world.clock.advance(61_000);
    for (const path of [CARD_PATH, EXTENDED]) {
      const got = await attacked.extended(alice, {}, path);
      assert.deepEqual([got.status, /"code":"([a-z-]+)"/.exec(got.body)?.[1]], [502, 'key-revoked'], path);
    }
  });
  test('HTTP-FRESH-58 revalidation answers 404 or 410', async () => {
    const [alice, bob] = await two();
    attacked.fields = { 'Cache-Control': 'max-age=60, stale-if-error=86400' };
    for (const status of [404, 410, 401, 403]) {
      await attacked.extended(alice);
      await attacked.extended(bob);
      await attacked.world.clock.advance(61_000);
      attacked.behave = fails(status, { 'WWW-Authenticate': 'Bearer' });
      const got = await attacked.extended(alice);
      assert.ok(got.status >= 400 && ownerOf(got) === undefined, `${status} ${got.status}`);
      attacked.behave = fails(503);
      const stale = await attacked.extended(bob);
      assert.deepEqual([stale.status, ownerOf(stale)], [200, markOf(bob)], 'what another has is as it was');
      attacked.behave = undefined;
      await attacked.world.clock.advance(11_000);
    }
  });
  test('HTTP-HDR-11 a credential that stands twice, over both protocols', async () => {
    const [alice, bob] = await two();
    await attacked.extended(alice);
    for (const name of ['Authorization', 'Proxy-Authorization']) {
      for (const [first, second] of [
        [alice, bob],
        [bob, alice],
        [alice, alice],
      ] as const) {
        const { status, body } = await attacked.raw([`${name}: ${first}`, `${name.toLowerCase()}: ${second}`]);
        assert.deepEqual([status, /"code":"([a-z-]+)"/.exec(body)?.[1]], [400, 'bad-request'], name);
        const lines = getLines({ ':path': EXTENDED, 'a2a-version': '1.0', [name.toLowerCase()]: first });
        const socket = await RawSocket.connect(Number(new URL(attacked.world.base).port));
        await socket.send(PREFACE);
        await socket.send(frame(TYPE.settings, 0, 0));
        await socket.send(asks(1, [...lines, [name.toLowerCase(), second]]));
        await socket.until(() => isAnswered(socket, 1) || errorOf(socket, 1) !== undefined);
        await socket.until((text) => /"code"/.test(text) || errorOf(socket, 1) !== undefined);
        assert.doesNotMatch(socket.text, /for-[0-9a-f]{16}/);
        socket.close();
      }
    }
  });
  test('HTTP-UP-18 HTTP-UP-20 a second answer that nobody asked for is nobody’s', async () => {
    attacked = await Attacked.start();
    const [alice, bob] = ['Bearer alice', 'Bearer bob'];
    const poison = cardOf('http://127.0.0.1', 'POISON');
    const whole = (body: string): string =>
      `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nCache-Control: max-age=60\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
    const raw = await startRawOrigin((socket) => {
      socket.write(whole(cardOf(attacked.url, 'for-0123456789abcdef;')) + whole(poison));
    });
    try {
      const at = { url: `${raw.url}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' };
      attacked.behavePublic = answers(cardOf(attacked.url, 'public', { supportedInterfaces: [at] }));
      const config = attacked.world.written.replace('extended: {', `interfaces: same-site, extended: {`);
      attacked.world.writes(config);
      await attacked.world.daemon.reload('file');
      for (const who of [alice, bob, 'Bearer carol'])
        assert.doesNotMatch((await attacked.extended(who)).body, /POISON/);
    } finally {
      await raw.close();
    }
  });
});
