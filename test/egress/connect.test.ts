import assert from 'node:assert/strict';
import { type TestContext, describe, test } from 'node:test';
import { Socket, connect } from 'node:net';
import { dialFirst } from '../../src/egress/dial.ts';
import { ms } from '../../src/kernel/units.ts';
import { startOrigin, startRawOrigin } from '../support/origin-server.ts';
import { manualClock, orderFor, rig, ruleFor, scripted } from './harness.ts';

async function loopback(t: TestContext) {
  const server = await startOrigin((_request, response) => void response.end('{}'));
  t.after(() => server.close());
  const named = `http://agents.example.test:${server.port}/`;
  return {
    server,
    named,
    open: ruleFor([named], { unsafeAddresses: ['127.0.0.1/32'] }),
    shut: ruleFor([named], { unsafeAddresses: [] }),
  };
}

function withNames(
  t: TestContext,
  answers: readonly (readonly string[])[],
  own: readonly { address: string; port: number }[] = [],
) {
  const resolver = scripted({ 'agents.example.test': answers });
  const made = rig({ resolver, ownAddresses: () => own });
  t.after(() => made.fetcher.close());
  return { ...made, resolver };
}

describe('a name is resolved once and every answer is judged', () => {
  test('SSRF-CONN-6 an answer that flips between two exchanges: the second is refused, nothing forbidden is dialled', async (t) => {
    const { server, named, shut } = await loopback(t);
    const { fetcher, resolver } = withNames(t, [['93.184.215.14', '127.0.0.1'], ['127.0.0.1']]);
    for (const round of [1, 2]) {
      const result = await fetcher.fetch(orderFor(named, { rule: shut }));
      assert.ok(!result.ok);
      assert.equal(result.refusal.code, 'address-forbidden');
      assert.equal(resolver.asked.length, round, 'one resolution per connection');
    }
    assert.equal(server.connections(), 0);
  });
  test('SSRF-CONN-6 the address that was judged is the one that is dialled, with the name as Host', async (t) => {
    const { server, named, open } = await loopback(t);
    const { fetcher, resolver } = withNames(t, [['127.0.0.1'], ['203.0.113.9']]);
    const result = await fetcher.fetch(orderFor(named, { rule: open }));
    assert.ok(result.ok);
    assert.equal(resolver.asked.length, 1);
    const sent = server.headers[0] ?? [];
    assert.equal(
      sent[sent.findIndex((name) => name.toLowerCase() === 'host') + 1],
      `agents.example.test:${server.port}`,
    );
  });
  const ANSWERS: Readonly<Record<string, readonly string[]>> = {
    'SSRF-CONN-4 one private address among forty': [
      ...Array.from({ length: 31 }, (_, at) => `93.184.215.${at}`),
      '10.0.0.1',
    ],
    'SSRF-DNS-6 a CNAME to an internal name': ['10.0.0.5'],
    'SSRF-DNS-10 a NAT64 answer with metadata inside': ['64:ff9b::a9fe:a9fe'],
    'SSRF-DNS-12 an answer that is no address': ['127.1'],
    'SSRF-DNS-14 a hosts file that says loopback': ['127.0.0.1'],
    'an answer with a zone': ['fe80::1%lo'],
  };
  for (const [name, answer] of Object.entries(ANSWERS)) {
    test(`${name} refuses the name`, async (t) => {
      const { server, named, shut } = await loopback(t);
      const result = await withNames(t, [answer]).fetcher.fetch(orderFor(named, { rule: shut }));
      assert.ok(!result.ok);
      assert.equal(result.refusal.code, 'address-forbidden');
      assert.equal(server.connections(), 0);
    });
  }
  test('an address that refuses makes the resolver forget, and says what is wrong', async (t) => {
    const { server, named, open } = await loopback(t);
    await server.close();
    const { fetcher, resolver } = withNames(t, [['127.0.0.1']]);
    const result = await fetcher.fetch(orderFor(named, { rule: open }));
    assert.ok(!result.ok);
    assert.equal(result.refusal.code, 'origin-unreachable');
    assert.equal(result.refusal.proxyError, 'connection_refused');
    assert.deepEqual(resolver.forgotten, ['agents.example.test']);
    assert.deepEqual(result.trail.addresses, ['127.0.0.1']);
  });
  test('the next vetted address is tried when one refuses', async (t) => {
    const { named } = await loopback(t);
    const { fetcher } = withNames(t, [['127.0.0.9', '127.0.0.1']]);
    const result = await fetcher.fetch(
      orderFor(named, { rule: ruleFor([named], { unsafeAddresses: ['127.0.0.0/8'] }) }),
    );
    assert.ok(result.ok);
    assert.deepEqual(result.trail.addresses, ['127.0.0.9', '127.0.0.1']);
  });
});

describe('a grant does not spread', () => {
  const GRANTED = ruleFor(['http://127.0.0.1:9001']);
  const CASES: readonly (readonly [string, string])[] = [
    ['SSRF-GRANT-2', 'http://127.0.0.1:9002/'],
    ['SSRF-GRANT-4', 'http://[::1]:9001/'],
    ['SSRF-GRANT-6', 'http://2130706433:9001/'],
    ['SSRF-GRANT-8', 'http://169.254.169.254:9001/'],
  ];
  for (const [id, url] of CASES) {
    test(`${id} ${url}`, async (t) => {
      const { fetcher } = withNames(t, []);
      const result = await fetcher.fetch(orderFor(url, { rule: GRANTED }));
      assert.ok(!result.ok);
      assert.equal(result.refusal.code, 'origin-not-allowed');
      assert.deepEqual(result.trail.addresses, []);
    });
  }
  for (const bound of ['127.0.0.1', '0.0.0.0', '::']) {
    test(`SSRF-GRANT-10 a listener of our own on ${bound} is never dialled, under a grant neither`, async (t) => {
      const { server, named, open } = await loopback(t);
      const { fetcher } = withNames(t, [['127.0.0.1']], [{ address: bound, port: server.port }]);
      const result = await fetcher.fetch(orderFor(named, { rule: open }));
      assert.ok(!result.ok);
      assert.equal(result.refusal.code, 'address-forbidden');
      assert.match(result.refusal.detail, /listener of Cardea itself/);
      assert.equal(server.connections(), 0);
    });
  }
  test('the other port of the same address is nobody of ours', async (t) => {
    const { server, named, open } = await loopback(t);
    const { fetcher } = withNames(t, [['127.0.0.1']], [{ address: '127.0.0.1', port: server.port + 1 }]);
    assert.ok((await fetcher.fetch(orderFor(named, { rule: open }))).ok);
  });
});

describe('connections', () => {
  test('what was granted and is granted no more: the kept connection is not used', async (t) => {
    const { server, named, open, shut } = await loopback(t);
    const { fetcher } = withNames(t, [['127.0.0.1']]);
    assert.ok((await fetcher.fetch(orderFor(named, { rule: open }))).ok);
    const result = await fetcher.fetch(orderFor(named, { rule: shut }));
    assert.ok(!result.ok);
    assert.equal(result.refusal.code, 'address-forbidden');
    assert.equal(server.asked.length, 1);
  });
  test('a listener that became our own is not asked over a kept connection', async (t) => {
    const { server, named, open } = await loopback(t);
    const own: { address: string; port: number }[] = [];
    const { fetcher } = withNames(t, [['127.0.0.1']], own);
    assert.ok((await fetcher.fetch(orderFor(named, { rule: open }))).ok);
    own.push({ address: '127.0.0.1', port: server.port });
    const result = await fetcher.fetch(orderFor(named, { rule: open }));
    assert.ok(!result.ok);
    assert.equal(server.asked.length, 1);
  });
  test('a kept connection that the origin has closed costs a GET nothing', async (t) => {
    const server = await startRawOrigin((socket, count) => {
      if (count > 1) return void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2');
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1');
      socket.once('data', () => socket.destroy()); // the second request finds a closing door
    });
    t.after(() => server.close());
    const { fetcher } = withNames(t, []);
    await fetcher.fetch(orderFor(`${server.url}/`));
    const second = await fetcher.fetch(orderFor(`${server.url}/`));
    assert.ok(second.ok);
    assert.equal(Buffer.from(second.response.body).toString(), '2');
    assert.equal(second.trail.reused, false);
  });
  for (const [idle, connections] of [
    [1_000, 1],
    [1_001, 2],
  ] as const) {
    test(`a request that cannot be sent again, ${idle} ms after the last one: ${connections} connection(s)`, async (t) => {
      const server = await startOrigin((_request, response) => void response.end('{}'));
      t.after(() => server.close());
      const { fetcher, clock } = withNames(t, []);
      await fetcher.fetch(orderFor(`${server.url}/`));
      clock.advance(idle);
      const posted = await fetcher.fetch(orderFor(`${server.url}/`, { method: 'POST' }));
      assert.ok(posted.ok);
      assert.equal(server.connections(), connections);
      // What may be sent again is content with any kept connection.
      const got = await fetcher.fetch(orderFor(`${server.url}/`));
      assert.ok(got.ok && got.trail.reused);
    });
  }
  test('SSRF-CONN-12 Alt-Svc is ignored', async (t) => {
    const sentinel = await startOrigin((_request, response) => void response.end());
    const server = await startOrigin((_request, response) =>
      response.writeHead(200, { 'Alt-Svc': `h2="127.0.0.1:${sentinel.port}", h3=":443"` }).end('{}'),
    );
    t.after(() => Promise.all([sentinel.close(), server.close()]));
    const { fetcher } = withNames(t, []);
    await fetcher.fetch(orderFor(`${server.url}/`));
    await fetcher.fetch(orderFor(`${server.url}/`));
    assert.equal(server.asked.length, 2);
    assert.equal(sentinel.connections(), 0);
  });
  test('SSRF-CONN-10 proxies of the environment are ignored', async (t) => {
    const sentinel = await startOrigin((_request, response) => void response.end());
    const { server, named, open } = await loopback(t);
    t.after(() => sentinel.close());
    const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy'];
    for (const name of names) process.env[name] = sentinel.url;
    process.env['NODE_USE_ENV_PROXY'] = '1';
    t.after(() => {
      for (const name of [...names, 'NODE_USE_ENV_PROXY']) delete process.env[name];
    });
    assert.ok((await withNames(t, [['127.0.0.1']]).fetcher.fetch(orderFor(named, { rule: open }))).ok);
    assert.equal(sentinel.connections(), 0);
    assert.equal(server.asked.length, 1);
  });
  test('SSRF-CONN-14 the time to connect is over: a refusal, and no place is kept, fifty times', async (t) => {
    // Nobody answers the question for an address: the connection cannot come to stand.
    const never = rig({
      resolver: {
        resolve: (_name, signal) =>
          new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      },
      limits: { concurrency: 1, forwardConcurrency: 1 },
    });
    t.after(() => never.fetcher.close());
    const order = orderFor('https://slow.example.test/', { limits: { connect: ms(300) } });
    for (let round = 0; round < 50; round += 1) {
      const pending = never.fetcher.fetch(order);
      await new Promise(setImmediate);
      never.clock.advance(300);
      const result = await pending;
      assert.ok(!result.ok);
      assert.equal(result.refusal.code, 'origin-timeout');
      assert.equal(result.refusal.proxyError, 'connection_timeout');
    }
    assert.equal(never.clock.pending(), 0);
  });
  test('SSRF-CONN-8 whom the socket leads to is asked of the kernel before a byte is written', async (t) => {
    const server = await startRawOrigin(() => {});
    t.after(() => server.close());
    const dialled = dialFirst(manualClock(), {
      addresses: ['93.184.215.14'],
      port: server.port,
      signal: new AbortController().signal,
      tried: () => {},
      open: (_address, port) => connect(port, '127.0.0.1'), // somewhere else than asked
    });
    await assert.rejects(dialled, /leads to another address than 93\.184\.215\.14/);
    assert.deepEqual(server.asked, []);
  });
  test('the mapped spelling of an address is the same peer', async (t) => {
    const { named } = await loopback(t);
    const { fetcher } = withNames(t, [['::ffff:127.0.0.1']]);
    assert.ok((await fetcher.fetch(orderFor(named, { rule: ruleFor([named]) }))).ok);
  });
  test('a silent address gives way to the next after a quarter of a second', async (t) => {
    const server = await startRawOrigin(() => {});
    t.after(() => server.close());
    const clock = manualClock();
    const tried: string[] = [];
    const dialled = dialFirst(clock, {
      addresses: ['2001:db8::1', '2001:db8::2', '127.0.0.1'],
      port: server.port,
      signal: new AbortController().signal,
      tried: (address) => void tried.push(address),
      open: (address, port) => (address === '127.0.0.1' ? connect(port, address) : new Socket()),
    });
    assert.deepEqual(tried, ['2001:db8::1']);
    clock.advance(249);
    assert.equal(tried.length, 1);
    clock.advance(1);
    assert.deepEqual(tried, ['2001:db8::1', '127.0.0.1'], 'families in turn');
    (await dialled).destroy();
    assert.equal(clock.pending(), 0);
  });
});

describe('room', () => {
  test('what does not fit waits, what waits too long is told so, and a place that is free again is used', async (t) => {
    let answer = (): void => {};
    const server = await startOrigin((_request, response) => {
      answer = () => void response.end('{}');
    });
    t.after(() => server.close());
    const { fetcher, clock } = rig({ limits: { concurrency: 1, forwardConcurrency: 1 } });
    t.after(() => fetcher.close());
    const first = fetcher.fetch(orderFor(`${server.url}/1`, { limits: { total: ms(0) } }));
    const waiting = fetcher.fetch(orderFor(`${server.url}/2`, { limits: { total: ms(1_000) } }));
    while (server.asked.length === 0) await new Promise(setImmediate);
    clock.advance(1_000);
    const second = await waiting;
    assert.ok(!second.ok);
    assert.equal(second.refusal.code, 'overloaded');
    assert.equal(second.refusal.retryAfter, 1);
    answer();
    assert.ok((await first).ok);
    const third = fetcher.fetch(orderFor(`${server.url}/3`));
    while (server.asked.length === 1) await new Promise(setImmediate);
    answer();
    assert.ok((await third).ok);
    assert.deepEqual(server.asked, ['GET /1', 'GET /3']);
  });
});
