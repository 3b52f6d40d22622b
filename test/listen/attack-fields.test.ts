import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { RawSocket, type RawResponse } from '../support/raw-socket.ts';
import { CARD, CARD_PATH, World } from '../support/world.ts';

/** Field cases of the attack table, against the whole daemon. */
describe('attack table: fields of a request', () => {
  let world: World;
  before(async () => {
    world = await World.start({ config: 'cache: { prefetch: false, defaultTtl: 0s }' });
  });
  after(() => world.stop());

  const send = async (lines: readonly string[], first = `GET ${CARD_PATH} HTTP/1.1`): Promise<RawResponse> => {
    const socket = await RawSocket.connect(Number(world.base.split(':').at(-1)));
    await socket.send([first, 'Host: localhost', ...lines, '', ''].join('\r\n'));
    const [response] = await socket.responses(1);
    socket.close();
    assert.ok(response !== undefined);
    return response;
  };
  /** What the origin was sent for these fields, names in lower case. */
  const originSees = async (lines: readonly string[]): Promise<readonly string[]> => {
    await world.clock.advance(3_600_000);
    const asked = world.origin.headers.length;
    const { status, body } = await send(lines);
    assert.equal(status, 200);
    assert.equal(body, CARD);
    assert.ok(world.origin.headers.length > asked, 'the origin was not asked');
    const sent = world.origin.headers.at(-1) ?? [];
    return sent.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
  };

  test('HTTP-HDR-1 URL override headers', async () => {
    const seen = await originSees(['X-Original-URL: /agents/beta', 'X-Rewrite-URL: /admin/kill']);
    assert.ok(!seen.includes('x-original-url') && !seen.includes('x-rewrite-url'));
  });
  test('HTTP-HDR-3 X-Forwarded-For spoof', async () => {
    assert.ok(!(await originSees(['X-Forwarded-For: 127.0.0.1'])).includes('x-forwarded-for'));
    assert.equal((await send(['X-Forwarded-Host: localhost'], `GET ${CARD_PATH} HTTP/1.1\r\nX: y`)).status, 200);
  });
  test('HTTP-HDR-5 identity headers from the caller', async () => {
    const seen = await originSees(['X-Tenant: a', 'X-Principal: b', 'X-User: c', 'X-Agent-Id: d', 'From: e@f']);
    assert.ok(['x-tenant', 'x-principal', 'x-user', 'x-agent-id', 'from'].every((name) => !seen.includes(name)));
  });
  test('HTTP-HDR-7 hop-by-hop fields are not forwarded', async () => {
    const hop = ['TE: trailers', 'Trailer: X', 'Keep-Alive: 1', 'Proxy-Connection: close', 'Upgrade: h2c'];
    const seen = await originSees(hop);
    assert.ok(['te', 'trailer', 'keep-alive', 'proxy-connection', 'upgrade'].every((name) => !seen.includes(name)));
  });
  test('HTTP-HDR-9 no upstream credential means none', async () => {
    const seen = await originSees(['Authorization: Bearer local', 'Cookie: a=b', 'Proxy-Authorization: Basic x']);
    assert.ok(['authorization', 'cookie', 'proxy-authorization'].every((name) => !seen.includes(name)));
  });
  test('HTTP-HDR-11 two Authorization fields', async () => {
    const { status, body, fields } = await send(['Authorization: Bearer a', 'authorization: Bearer b']);
    assert.equal(status, 400);
    assert.equal(JSON.parse(body).code, 'bad-request');
    assert.equal(fields.get('connection'), 'close');
    assert.doesNotMatch(body, /Bearer/);
  });
  test('HTTP-HDR-17 CORS', async () => {
    for (const first of [`GET ${CARD_PATH} HTTP/1.1`, `OPTIONS ${CARD_PATH} HTTP/1.1`]) {
      const { fields } = await send(['Origin: https://evil.test', 'Access-Control-Request-Method: GET'], first);
      assert.ok([...fields.keys()].every((name) => !name.startsWith('access-control-')));
    }
  });
  test('HTTP-HDR-19 total header size', async () => {
    const near = Array.from({ length: 15 }, (_, at) => `X-${at}: ${'a'.repeat(1_000)}`);
    assert.equal((await send(near)).status, 200);
    const { status, fields, body } = await send([...near, `X-More: ${'a'.repeat(2_000)}`]);
    assert.equal(status, 431);
    assert.equal(fields.get('connection'), 'close');
    assert.equal(JSON.parse(body).code, 'request-too-large');
  });
  test('HTTP-HDR-21 header count', async () => {
    const lines = (count: number): string[] => Array.from({ length: count }, () => 'a: b');
    assert.equal((await send(lines(99))).status, 200);
    assert.equal((await send(lines(100))).status, 431);
    assert.equal((await send(lines(500))).status, 431);
  });
  test('HTTP-HDR-23 non-ASCII field name', async () => assert.equal((await send(['X-\xe9: 1'])).status, 400));
  test('HTTP-HDR-25 line without a colon', async () => assert.equal((await send(['abc'])).status, 400));
  test('HTTP-DOS-31 ETag and If-None-Match size', async () => {
    const tags = Array.from({ length: 5_000 }, (_, at) => `"${at}"`).join(', ');
    assert.equal((await send([`If-None-Match: ${tags}`])).status, 431);
    assert.equal((await send([`If-None-Match: ${tags.slice(0, 10_000)}`])).status, 200);
  });
  test('look-alikes of framing and authority are refused', async () => {
    for (const name of ['Content_Length', 'TRANSFER_ENCODING', 'proxy_authorization']) {
      const { status } = await send([`${name}: 1`]);
      assert.equal(status, 400, name);
    }
    assert.equal((await send(['x_y: 1'])).status, 200);
  });
});
