import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { describe, test } from 'node:test';
import { tag } from '../../src/kernel/ids.ts';
import { type OriginServer, startOrigin } from '../support/origin-server.ts';
import { cardWith, echoes, getTask, interfaceAt, rpc, scenario, startThrough } from '../support/through-world.ts';
import { fails, type Got } from '../support/world.ts';

interface Echo {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}
const echoed = (got: Got): Echo => JSON.parse(got.body) as Echo;
const reasonOf = (got: Got): string | undefined => {
  const { error } = JSON.parse(got.body) as {
    error: { data?: readonly { reason: string }[]; details?: readonly { reason: string }[] };
  };
  return (error.data ?? error.details)?.[0]?.reason;
};
const jwt = (claims: object): string =>
  ['{"alg":"ES256"}', JSON.stringify(claims), 'signature']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');
const callsAt = (origin: OriginServer): readonly string[] =>
  origin.asked.filter((line) => !line.includes('/.well-known/'));

describe('a call', () => {
  scenario('goes to the interface of its binding, with path, query and body as they came', echoes, async (world) => {
    const got = await getTask(world);
    assert.deepEqual([got.status, echoed(got).method, echoed(got).url], [200, 'GET', '/rest/tasks/t-1']);
    assert.equal(got.headers['cardea-interface'], `${world.origin.url}/rest`);
    assert.equal(got.headers['via'], '1.1 cardea');
    const list = await world.get('/agents/weather/tasks?pageSize=2&x=%2F', { 'A2A-Version': '1.0' });
    assert.equal(echoed(list).url, '/rest/tasks?pageSize=2&x=%2F');
    const said = await world.post('/agents/weather/message:send', '{"a":1}', { 'A2A-Version': '1.0' });
    assert.deepEqual([echoed(said).url, echoed(said).body], ['/rest/message:send', '{"a":1}']);
    for (const base of ['/agents/weather', '/agents/weather/']) {
      const request = '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}';
      const answer = await world.post(base, request, { 'A2A-Version': '1.0' });
      assert.deepEqual([echoed(answer).url, echoed(answer).body], ['/rpc', request]);
      assert.equal(answer.headers['cardea-interface'], `${world.origin.url}/rpc`);
    }
  });

  scenario('keeps what belongs to it and loses what belongs to the connection or to Cardea', echoes, async (world) => {
    const { headers } = echoed(
      await getTask(world, {
        Connection: 'close, x-secret, A2A-Version',
        'X-Secret': 's',
        'Keep-Alive': 'timeout=5',
        TE: 'trailers',
        'Proxy-Authorization': 'Basic eDp5',
        'Proxy-Connection': 'keep-alive',
        'Cardea-Tenant': 't',
        'X-HTTP-Method-Override': 'DELETE',
        'A2A-Extensions': 'https://example.com/ext',
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        'X-Custom': 'stays',
      }),
    );
    const gone = ['x-secret', 'keep-alive', 'te', 'proxy-authorization', 'proxy-connection', 'cardea-tenant'];
    for (const name of [...gone, 'x-http-method-override']) assert.equal(headers[name], undefined, name);
    assert.equal(headers['a2a-version'], '1.0');
    assert.equal(headers['a2a-extensions'], 'https://example.com/ext');
    assert.match(headers['traceparent'] ?? '', /^00-0af/);
    assert.equal(headers['x-custom'], 'stays');
    assert.equal(headers['via'], '1.1 cardea');
    assert.equal(headers['host'], new URL(world.origin.url).host);
  });

  scenario(
    'gets what an agent sends ahead of its answer',
    (request, response) => {
      response.writeInformation(103, { 'X-Ahead': 'yes' });
      echoes(request, response);
    },
    async (world) => {
      const url = `${world.base}/agents/weather/tasks/t-1`;
      const request = http.request(url, { agent: false, headers: { 'A2A-Version': '1.0' } });
      const ahead = once(request, 'information');
      const answered = once(request, 'response');
      request.end();
      const [{ statusCode, headers }] = (await ahead) as [http.InformationEvent];
      assert.deepEqual([statusCode, headers['x-ahead']], [103, 'yes']);
      const [response] = (await answered) as [http.IncomingMessage];
      assert.equal(response.statusCode, 200);
      await once(response.resume(), 'end');
    },
  );

  scenario(
    'gets an answer without what an agent may not say in the name of the host',
    (_request, response) => {
      const fields = {
        'Set-Cookie': 'a=1; Domain=example.com; Path=/; HttpOnly',
        'Alt-Svc': 'h3=":443"',
        'Access-Control-Allow-Origin': '*',
        'Strict-Transport-Security': 'max-age=1',
        'X-Own': 'stays',
        'Cache-Control': 'max-age=60',
        'Cardea-Interface': 'https://evil.example',
        Connection: 'X-Hop',
        'X-Hop': '1',
      };
      response.writeHead(200, fields);
      response.end('{}');
    },
    async (world) => {
      const { headers } = await getTask(world);
      assert.deepEqual(headers['set-cookie'], ['a=1; HttpOnly; Path=/agents/weather']);
      for (const name of ['alt-svc', 'access-control-allow-origin', 'strict-transport-security', 'x-hop'])
        assert.equal(headers[name], undefined, name);
      assert.deepEqual([headers['x-own'], headers['cache-control']], ['stays', 'max-age=60']);
      assert.equal(headers['cardea-interface'], `${world.origin.url}/rest`);
      assert.equal(headers['cache-status'], 'cardea; fwd=bypass; fwd-status=200');
      // Whatever the agent says of caching, the next call goes to it.
      await getTask(world);
      assert.equal(callsAt(world.origin).length, 2);
    },
  );

  scenario(
    "hands on the agent's challenge, and follows no redirect",
    (request, response) => {
      if (request.url?.endsWith('/t-1') === true)
        response.writeHead(401, { 'WWW-Authenticate': 'Bearer realm="agent"', 'Content-Type': 'application/json' });
      else response.writeHead(307, { Location: 'https://elsewhere.example/' });
      response.end('{"error":"who?"}');
    },
    async (world) => {
      const got = await getTask(world);
      assert.deepEqual([got.status, got.body], [401, '{"error":"who?"}']);
      assert.equal(got.headers['www-authenticate'], 'Bearer realm="agent"');
      const led = await world.get('/agents/weather/tasks', { 'A2A-Version': '1.0' });
      assert.deepEqual([led.status, led.code, reasonOf(led)], [502, 'redirect-refused', 'REDIRECT_REFUSED']);
      assert.equal(led.headers['location'], undefined);
    },
  );

  scenario('leaves evidence and a count, and neither a token nor a query anywhere', echoes, async (world) => {
    const token = jwt({ aud: world.origin.url, sub: 'secret-subject' });
    const got = await world.get('/agents/weather/tasks?access_token=hidden', {
      'A2A-Version': '1.0',
      Authorization: `Bearer ${token}`,
    });
    assert.equal(echoed(got).headers['authorization'], `Bearer ${token}`);
    const [receipt] = world.logged('exchange').filter(({ purpose }) => purpose === 'forward');
    assert.deepEqual(
      [receipt?.['agent'], receipt?.['interface'], receipt?.['url'], receipt?.['status'], receipt?.['outcome']],
      ['weather', `${world.origin.url}/rest`, `${world.origin.url}/rest/tasks`, 200, 'uncacheable'],
    );
    assert.match(String(receipt?.['digest']), /^sha256:/);
    for (const secret of [token, 'hidden', 'secret-subject']) assert.equal(world.log.join('').includes(secret), false);
    const count = /^cardea_requests_total\{agent="weather",kind="forwarded",result="forwarded"\} 1$/;
    assert.ok(await world.metric(count));
    assert.ok(await world.metric(/^cardea_forward_first_byte_seconds_count\{agent="weather"\} 1$/));
    assert.ok(await world.metric(/^cardea_forward_streams\{agent="weather"\} 0$/));
    assert.ok(await world.metric(/^cardea_forward_bytes_total\{agent="weather",direction="response"\} [1-9]/));
    assert.ok(await world.metric(/^cardea_request_duration_seconds_count\{kind="forwarded",result="forwarded"\} 1$/));
  });
});

describe('an answer without a body', () => {
  scenario(
    'is over when its head is there',
    (request, response) => response.writeHead(request.method === 'DELETE' ? 204 : 304, { ETag: '"1"' }).end(),
    async (world) => {
      const at = '/agents/weather/tasks/t/pushNotificationConfigs/c';
      const deleted = await world.get(at, { 'A2A-Version': '1.0' }, 'DELETE');
      assert.deepEqual([deleted.status, deleted.body], [204, '']);
      const same = await getTask(world, { 'If-None-Match': '"1"' });
      assert.deepEqual([same.status, same.body], [304, '']);
      assert.ok(await world.metric(/^cardea_forward_streams\{agent="weather"\} 0$/));
      assert.ok(await world.metric(/^cardea_forward_first_byte_seconds_count\{agent="weather"\} 2$/));
      assert.equal(world.origin.connections(), 2, 'one for the card, one for both calls');
    },
  );
});

describe('a call that does not leave', () => {
  const refusals: readonly (readonly [
    name: string,
    method: string,
    below: string,
    version: string,
    code: string,
    status: number,
  ])[] = [
    ['a path that is no operation', 'GET', '/admin', '1.0', 'not-found', 404],
    ['another method', 'PUT', '/tasks/t', '1.0', 'method-not-allowed', 405],
    ['an encoded slash', 'GET', '/tasks/a%2f..%2fadmin', '1.0', 'bad-request', 400],
    ['a tenant that no interface declares', 'GET', '/acme/tasks', '1.0', 'unknown-agent', 404],
    ['a version that the agent does not speak', 'GET', '/v1/tasks/t', '0.3', 'version-not-supported', 400],
    ['a version that nobody knows', 'GET', '/tasks', '9.9', 'version-not-supported', 400],
    ['an extended card', 'GET', '/extendedAgentCard', '1.0', 'extended-not-supported', 400],
    ['a GET of the base', 'GET', '/', '1.0', 'method-not-allowed', 405],
  ];
  scenario('is refused in the form of HTTP+JSON', echoes, async (world) => {
    for (const [name, method, below, version, code, status] of refusals) {
      const got = await world.get(`/agents/weather${below}`, { 'A2A-Version': version }, method);
      assert.deepEqual([name, got.status, got.code], [name, status, code]);
      assert.equal(got.headers['content-type'], 'application/json');
      assert.ok(reasonOf(got));
    }
    assert.deepEqual(callsAt(world.origin), []);
  });

  scenario('is refused in the form of JSON-RPC, with its id', echoes, async (world) => {
    const cases: readonly (readonly [request: object, headers: Readonly<Record<string, string>>, reason: string])[] = [
      [{ method: 'GetExtendedAgentCard' }, {}, 'UNSUPPORTED_OPERATION'],
      [{ method: 'agent/getAuthenticatedExtendedCard' }, {}, 'UNSUPPORTED_OPERATION'],
      [{ method: 'GetTask', params: { tenant: 'acme' } }, {}, 'UNKNOWN_AGENT'],
      [{ method: 'GetTask', Method: 'x' }, {}, 'BAD_REQUEST'],
      [{ params: {} }, {}, 'BAD_REQUEST'],
      [{ method: 'GetTask' }, { 'A2A-Version': '0.3' }, 'VERSION_NOT_SUPPORTED'],
      [{ method: 'GetTask' }, { Via: '1.1 cardea' }, 'LOOP_DETECTED'],
      [{ method: 'GetTask' }, { Authorization: `Bearer ${jwt({ aud: 'another' })}` }, 'TOKEN_AUDIENCE'],
    ];
    for (const [request, headers, reason] of cases) {
      const got = await rpc(world, request, headers);
      assert.equal(reasonOf(got), reason);
      assert.equal((JSON.parse(got.body) as { id: unknown }).id, 'r-1');
    }
    const batch = await world.post('/agents/weather', '[{"method":"GetExtendedAgentCard"}]', { 'A2A-Version': '1.0' });
    assert.equal(reasonOf(batch), 'BAD_REQUEST');
    assert.deepEqual(callsAt(world.origin), []);
  });

  scenario('a tenant that turns up after a long message breaks the call off', echoes, async (world) => {
    const long = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"m":"${'x'.repeat(200_000)}"`;
    const smuggled = await world.post('/agents/weather', `${long},"tenant":"acme"}}`, { 'A2A-Version': '1.0' });
    assert.equal(reasonOf(smuggled), 'BAD_REQUEST');
    const second = await world.post('/agents/weather', `${long}},"method":"GetExtendedAgentCard"}`, {
      'A2A-Version': '1.0',
    });
    assert.equal(reasonOf(second), 'BAD_REQUEST');
    const honest = await world.post('/agents/weather', `${long}}}`, { 'A2A-Version': '1.0' });
    assert.equal(echoed(honest).body.length, long.length + 2);
  });

  scenario('a tenant in a body or a query is the one of the path or none', echoes, async (world) => {
    const send = async (body: string, query = '', headers: Readonly<Record<string, string>> = {}) =>
      world.post(`/agents/weather/message:send${query}`, body, { 'A2A-Version': '1.0', ...headers });
    for (const body of ['{}', '{"tenant":""}', '{"message":{"tenant":"of its own"}}', 'no json']) {
      const got = await send(body);
      assert.deepEqual([got.status, echoed(got).body], [200, body]);
    }
    assert.equal(reasonOf(await send('{"tenant":"acme"}')), 'UNKNOWN_AGENT');
    assert.equal(reasonOf(await send('{"tenant":"","tenant":"acme"}')), 'BAD_REQUEST');
    assert.equal(reasonOf(await send('{}', '?tenant=acme')), 'UNKNOWN_AGENT');
    assert.equal(reasonOf(await send('{}', '?x=1&%74enant=acme')), 'UNKNOWN_AGENT');
    assert.equal((await send('{}', '', { 'Content-Encoding': 'gzip' })).status, 415);
    const late = await send(`{"m":"${'x'.repeat(200_000)}","tenant":"acme"}`);
    assert.equal(reasonOf(late), 'BAD_REQUEST');
    assert.equal(callsAt(world.origin).length <= 5, true);
  });

  const audience: readonly (readonly [agent: string, credential: string, status: number])[] = [
    ['', `Bearer ${jwt({ aud: '$ORIGIN' })}`, 200],
    ['', `Bearer ${jwt({ aud: ['x', '$ORIGIN/'] })}`, 200],
    ['', `Bearer ${jwt({ aud: 'https://another.example' })}`, 401],
    ['', `bearer ${jwt({ sub: 'x' })}`, 401],
    ['', 'Bearer opaque', 200],
    ['', 'Basic eDp5', 200],
    ['extended: { audience: api }', `Bearer ${jwt({ aud: 'api' })}`, 200],
    ['extended: { audience: api }', `Bearer ${jwt({ aud: '$ORIGIN' })}`, 401],
    ['extended: { audience: api }', 'Bearer opaque', 401],
    ['extended: { audience: api, opaque: allow }', 'Bearer opaque', 200],
    ['extended: { opaque: refuse }', 'Basic eDp5', 401],
  ];
  for (const [agent, credential, status] of audience) {
    const claims = credential.split('.')[1];
    const shown = claims === undefined ? credential : Buffer.from(claims, 'base64url').toString();
    scenario(
      `under "${agent}" a credential like ${shown} is ${status}`,
      echoes,
      async (world) => {
        const own = credential.replace(
          claims ?? '\0',
          Buffer.from(shown.replaceAll('$ORIGIN', world.origin.url)).toString('base64url'),
        );
        const got = await getTask(world, { Authorization: own });
        assert.equal(got.status, status);
        assert.equal(callsAt(world.origin).length, status === 200 ? 1 : 0);
        if (status === 401) assert.equal(got.headers['www-authenticate'], 'Bearer error="invalid_token"');
      },
      { agent },
    );
  }
});

describe('an interface elsewhere', () => {
  test('is never dialled where the rules do not name it, whatever interfaces: says of the card', async () => {
    const other = await startOrigin(echoes);
    const card = cardWith(interfaceAt(`http://127.0.0.1:${other.port}/rest`, { protocolBinding: 'HTTP+JSON' }));
    const world = await startThrough(echoes, { card, agent: 'interfaces: any' });
    try {
      const got = await getTask(world);
      assert.deepEqual([got.status, got.code], [403, 'origin-not-allowed']);
      assert.equal(other.connections(), 0);
      assert.ok(await world.metric(/^cardea_egress_denied_total\{reason="origin-not-allowed"\} 1$/));
    } finally {
      await world.stop();
      await other.close();
    }
  });

  test('is dialled where a rule covers it', async () => {
    const other = await startOrigin(echoes);
    const card = cardWith(interfaceAt(`${other.url}/rest`, { protocolBinding: 'HTTP+JSON' }));
    const config = `origins: [{ match: "${other.url}", content: any, listen: "127.0.0.1:0", unsafeCleartext: true }]`;
    const world = await startThrough(echoes, { card, agent: 'interfaces: any', config });
    try {
      assert.equal((await getTask(world)).status, 200);
      assert.deepEqual(other.asked, ['GET /rest/tasks/t-1']);
    } finally {
      await world.stop();
      await other.close();
    }
  });
});

describe('the card that calls go by', () => {
  test('may be stale while its origin is down, as far as it would be served, and no further', async () => {
    const other = await startOrigin(echoes);
    const card = cardWith(interfaceAt(`${other.url}/rest`, { protocolBinding: 'HTTP+JSON' }));
    const world = await startThrough(echoes, { card, config: 'cache: { prefetch: false, staleIfError: 10m }' });
    try {
      assert.equal((await getTask(world)).status, 200);
      world.says(fails(503));
      await world.pass(301);
      assert.equal((await world.card()).status, 200);
      assert.equal((await getTask(world)).status, 200);
      await world.pass(600);
      assert.equal((await world.card()).code, 'origin-status');
      const got = await getTask(world);
      assert.deepEqual([got.status, reasonOf(got)], [502, 'ORIGIN_STATUS']);
      assert.equal(other.asked.length, 2);
    } finally {
      await world.stop();
      await other.close();
    }
  });

  scenario(
    'is validated once a second where it must be validated each time',
    echoes,
    async (world) => {
      const cards = (): number => world.origin.asked.length - callsAt(world.origin).length;
      for (let call = 0; call < 3; call += 1) await getTask(world);
      assert.equal(cards(), 1);
      await world.clock.advance(1_000);
      for (let call = 0; call < 3; call += 1) await getTask(world);
      assert.equal(cards(), 2);
    },
    { cardFields: { 'Cache-Control': 'no-cache' } },
  );

  scenario(
    'is refused for a call as it is refused for itself',
    echoes,
    async (world) => {
      assert.equal((await world.card()).code, 'card-not-json');
      assert.equal(reasonOf(await getTask(world)), 'CARD_NOT_JSON');
      assert.equal(reasonOf(await rpc(world, { method: 'GetTask' })), 'CARD_NOT_JSON');
      assert.deepEqual(callsAt(world.origin), []);
    },
    { card: '{' },
  );
});

describe('the next interface', () => {
  /** Two interfaces of one kind, the first one at a port where `first` is. */
  async function withFirst(first: string, run: (world: Awaited<ReturnType<typeof startThrough>>) => Promise<void>) {
    const rest = { protocolBinding: 'HTTP+JSON' };
    const card = cardWith(
      interfaceAt(`${first}/first`),
      interfaceAt('$ORIGIN/second'),
      interfaceAt(`${first}/first`, rest),
      interfaceAt('$ORIGIN/second', rest),
    );
    const world = await startThrough(echoes, { card });
    try {
      await run(world);
    } finally {
      await world.stop();
    }
  }

  test('carries a message where the first cannot be connected to', async () => {
    const gone = await startOrigin(echoes);
    await gone.close();
    await withFirst(gone.url, async (world) => {
      const got = await rpc(world, { method: 'SendMessage', params: {} });
      assert.deepEqual([got.status, echoed(got).url], [200, '/second']);
      assert.equal(got.headers['cardea-interface'], `${world.origin.url}/second`);
      const outcomes = world.logged('exchange').filter(({ purpose }) => purpose === 'forward');
      assert.deepEqual(
        outcomes.map(({ outcome }) => outcome),
        ['failed', 'uncacheable'],
      );
    });
  });

  test('carries what may be done twice where the first breaks, and no message', async () => {
    const breaking = await startOrigin((request) => void request.on('end', () => request.socket.destroy()).resume());
    await withFirst(breaking.url, async (world) => {
      const read = await rpc(world, { method: 'GetTask', params: { id: 't' } });
      assert.deepEqual([read.status, echoed(read).url], [200, '/second']);
      assert.equal(echoed(await getTask(world)).url, '/second/tasks/t-1');
      const said = await rpc(world, { method: 'SendMessage', params: {} });
      assert.deepEqual([said.status, reasonOf(said)], [502, 'ORIGIN_UNREACHABLE']);
      const unknown = await rpc(world, { method: 'ext/doOnce', params: {} });
      assert.equal(reasonOf(unknown), 'ORIGIN_UNREACHABLE');
      assert.equal(callsAt(world.origin).length, 2);
    });
    await breaking.close();
  });

  test('carries nothing for an answer that says no', async () => {
    const refusing = await startOrigin((_request, response) => response.writeHead(503).end());
    await withFirst(refusing.url, async (world) => {
      assert.equal((await getTask(world)).status, 503);
      assert.deepEqual(callsAt(world.origin), []);
    });
    await refusing.close();
  });
});

describe('a kill', () => {
  scenario('of the agent, its origin, or everything refuses calls in their own form', echoes, async (world) => {
    await getTask(world);
    for (const scope of ['agent:weather', 'origin:127.0.0.1', 'all']) {
      const engaged = await world.daemon.killSwitch.engage({ scope: tag(scope), reason: 'drill', by: 'admin' });
      assert.ok(engaged.ok);
      const read = await getTask(world);
      assert.deepEqual([read.status, reasonOf(read), read.headers['retry-after']], [503, 'KILLED', '30']);
      assert.equal(reasonOf(await rpc(world, { method: 'GetTask' })), 'KILLED');
      await world.daemon.killSwitch.lift({ id: engaged.value.kill.id, reason: 'over', by: 'admin' });
    }
    assert.equal(callsAt(world.origin).length, 1);
  });

  test("of the interface's host alone stops its calls, and the card is served", async () => {
    const other = await startOrigin(echoes);
    const named = `http://localhost:${other.port}`;
    const card = cardWith(interfaceAt(`${named}/rest`, { protocolBinding: 'HTTP+JSON' }));
    const config = `origins: [{ match: "${named}", content: any, listen: "127.0.0.1:0", unsafeCleartext: true }]`;
    const world = await startThrough(echoes, { card, config, agent: 'interfaces: any' });
    try {
      assert.equal((await getTask(world)).status, 200);
      await world.daemon.killSwitch.engage({ scope: tag('origin:localhost'), reason: 'drill', by: 'admin' });
      assert.equal(reasonOf(await getTask(world)), 'KILLED');
      assert.equal(other.asked.length, 1);
      assert.equal((await world.card()).status, 200);
    } finally {
      await world.stop();
      await other.close();
    }
  });
});
