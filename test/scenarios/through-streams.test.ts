import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { tag } from '../../src/kernel/ids.ts';
import type { Behave } from '../support/origin-server.ts';
import { scenario, startThrough } from '../support/through-world.ts';
import type { World } from '../support/world.ts';

/** Streams of events that pass through, with a slow reader, a kill, and a reader that leaves. */

const EVENT_STREAM = { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' };
const CALL = '{"jsonrpc":"2.0","id":"r-1","method":"SendStreamingMessage","params":{}}';
const PATHS = { JSONRPC: '/agents/weather', 'HTTP+JSON': '/agents/weather/message:stream' } as const;
type Binding = keyof typeof PATHS;

/** Opens a stream and resolves when its head is there; nothing of it is read yet. */
async function openStream(world: World, binding: Binding): Promise<http.IncomingMessage> {
  const request = http.request(world.base + PATHS[binding], {
    agent: false,
    method: 'POST',
    headers: { 'A2A-Version': '1.0', 'Content-Type': 'application/json', Accept: 'text/event-stream' },
  });
  request.on('error', () => undefined);
  request.end(CALL);
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  return response;
}

const kill = (world: World, scope: string) =>
  world.daemon.killSwitch.engage({ scope: tag(scope), reason: 'drill', by: 'admin' });

/** Reads to the end, whichever it is. */
async function readOut(response: http.IncomingMessage): Promise<{ readonly text: string; readonly whole: boolean }> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  } catch {
    // It broke off.
  }
  return { text: Buffer.concat(chunks).toString(), whole: response.complete };
}

/** What an origin sees of one stream that it answers. */
interface Origin {
  readonly behave: Behave;
  /** How many bytes it could write without being told to wait. */
  readonly written: () => number;
  readonly ended: Promise<void>;
}

/** Sends one event and then stays silent. */
function quietOrigin(first = 'data: {"n":1}\n\n'): Origin {
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    behave: (_request, response) => {
      response.writeHead(200, EVENT_STREAM).write(first);
      response.once('close', () => resolve());
    },
    written: () => first.length,
    ended: promise,
  };
}

/** Sends so many events of four kilobytes, as fast as they are taken. */
function busyOrigin(events: number): Origin {
  const { promise, resolve } = Promise.withResolvers<void>();
  let written = 0;
  return {
    behave: (_request, response) => {
      response.writeHead(200, EVENT_STREAM).once('close', () => resolve());
      let sent = 0;
      const send = (): void => {
        while (sent < events) {
          const event = `data: {"n":${sent},"pad":"${'x'.repeat(4_000)}"}\n\n`;
          sent += 1;
          written += event.length;
          if (!response.write(event)) return void response.once('drain', send);
        }
        response.end();
      };
      send();
    },
    written: () => written,
    ended: promise,
  };
}

/** Waits until a count stands still over many turns of the event loop: whoever could go on would have. */
async function settles(count: () => number): Promise<number> {
  for (let still = 0, last = count(); still < 2_000; still += 1) {
    await turn();
    if (count() !== last) [still, last] = [0, count()];
  }
  return count();
}

describe('a stream of ten thousand events', () => {
  const origin = busyOrigin(10_000);
  scenario('waits for a reader that does not read, and is whole for one that does', origin.behave, async (world) => {
    const response = await openStream(world, 'JSONRPC');
    const before = process.memoryUsage().arrayBuffers;
    const held = await settles(origin.written);
    // The kernel's buffers on both sides of two connections, and what Node's streams may hold; forty megabytes are on offer.
    assert.ok(held < 30_000_000, `the origin wrote ${held} bytes that nobody read`);
    assert.ok(process.memoryUsage().arrayBuffers - before < 8_000_000, 'Cardea holds no more than some chunks');
    assert.ok(await world.metric(/^cardea_forward_streams\{agent="weather"\} 1$/));
    let events = 0;
    let bytes = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      for (const byte of chunk) if (byte === 0x0a) events += 0.5;
    }
    assert.deepEqual([events, bytes, response.complete], [10_000, origin.written(), true]);
    assert.ok(await world.metric(/^cardea_forward_streams\{agent="weather"\} 0$/));
    const passed = await world.metric(/^cardea_forward_bytes_total\{agent="weather",direction="response"\}/);
    assert.equal(Number(passed?.split(' ')[1]), bytes);
  });
});

describe('a long message', () => {
  test('waits for an agent that does not read', async () => {
    const { promise: reading, resolve: read } = Promise.withResolvers<void>();
    let received = 0;
    const world = await startThrough((request, response) => {
      void reading.then(() => request.on('data', (chunk: Buffer) => void (received += chunk.length)));
      request.on('end', () => response.end('{}'));
    });
    try {
      const request = http.request(world.base + PATHS.JSONRPC, {
        agent: false,
        method: 'POST',
        headers: { 'A2A-Version': '1.0', 'Content-Type': 'application/json' },
      });
      const head = '{"jsonrpc":"2.0","id":"r-1","method":"SendMessage","params":{"m":"';
      const chunk = Buffer.alloc(64 * 1024, 'x');
      let written = head.length;
      request.write(head);
      const before = process.memoryUsage().arrayBuffers;
      const write = (): void => {
        for (let more = true; more && written < 64_000_000; written += chunk.length) more = request.write(chunk);
      };
      request.on('drain', write);
      write();
      const sent = await settles(() => written);
      assert.ok(sent < 40_000_000, `Cardea took ${sent} bytes that nobody read`);
      assert.ok(process.memoryUsage().arrayBuffers - before < 8_000_000, 'Cardea holds no more than some chunks');
      read();
      await settles(() => written);
      request.end('"}}');
      const [response] = (await once(request, 'response')) as [http.IncomingMessage];
      assert.equal(response.statusCode, 200);
      assert.equal(received, written + 3);
    } finally {
      await world.stop();
    }
  });
});

describe('a kill while a stream runs', () => {
  for (const binding of ['JSONRPC', 'HTTP+JSON'] as const) {
    for (const scope of ['all', 'agent:weather', 'origin:127.0.0.1']) {
      const origin = quietOrigin();
      scenario(`${scope} over ${binding} ends both sides, and the reader is told`, origin.behave, async (world) => {
        const response = await openStream(world, binding);
        const [first] = (await once(response, 'data')) as [Buffer];
        assert.equal(first.toString(), 'data: {"n":1}\n\n');
        const reading = readOut(response);
        await kill(world, scope);
        const { text, whole } = await reading;
        await origin.ended;
        assert.equal(whole, true, 'the last event is the end');
        const [, type = '', json = ''] = /^(?:event: (\w+)\n)?data: (.*)\n\n$/.exec(text) ?? [];
        const { id, error } = JSON.parse(json) as {
          id?: string;
          error: { data?: readonly { reason: string }[]; details?: readonly { reason: string }[] };
        };
        assert.equal((error.data ?? error.details)?.[0]?.reason, 'KILLED');
        assert.deepEqual([type, id], binding === 'JSONRPC' ? ['', 'r-1'] : ['error', undefined]);
      });
    }
  }

  const middle = quietOrigin('data: {"n":1');
  scenario('in the middle of an event breaks the connection off', middle.behave, async (world) => {
    const response = await openStream(world, 'JSONRPC');
    await once(response, 'data');
    const reading = readOut(response);
    await kill(world, 'agent:weather');
    assert.deepEqual(await reading, { text: '', whole: false });
    await middle.ended;
  });

  const busy = busyOrigin(50_000);
  scenario('does not wait for a reader that does not read', busy.behave, async (world) => {
    const response = await openStream(world, 'JSONRPC');
    await settles(busy.written);
    const written = busy.written();
    await kill(world, 'agent:weather');
    await busy.ended;
    assert.equal(busy.written(), written, 'not an event more');
    assert.equal((await readOut(response)).whole, false);
  });

  const two = quietOrigin();
  scenario('over HTTP/2', two.behave, async (world) => {
    const session = http2.connect(world.base);
    const stream = session.request({ ':method': 'POST', ':path': PATHS.JSONRPC, 'a2a-version': '1.0' });
    stream.on('error', () => undefined);
    stream.end(CALL);
    await once(stream, 'data');
    let rest = '';
    stream.on('data', (chunk: Buffer) => void (rest += chunk.toString()));
    const closed = once(stream, 'close');
    await kill(world, 'agent:weather');
    await closed;
    await two.ended;
    assert.match(rest, /KILLED/);
    session.destroy();
  });

  test('before its head is there refuses it, and the agent is let go', async () => {
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    const world = await startThrough((_request, response) => {
      response.once('close', () => leave());
      arrive();
    });
    try {
      const asked = world.post(PATHS.JSONRPC, CALL, { 'A2A-Version': '1.0' });
      await arrived;
      await kill(world, 'agent:weather');
      const got = await asked;
      assert.equal(got.status, 503);
      assert.match(got.body, /KILLED/);
      await left;
    } finally {
      await world.stop();
    }
  });
});

describe('a reader that leaves', () => {
  const origin = quietOrigin();
  scenario("ends the agent's side, though it is silent", origin.behave, async (world) => {
    const response = await openStream(world, 'HTTP+JSON');
    await once(response, 'data');
    response.destroy();
    await origin.ended;
    while ((await world.metric(/^cardea_forward_streams\{agent="weather"\} 0$/)) === undefined) await turn();
  });

  test('before the head is there does so too', async () => {
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    const world = await startThrough((_request, response) => {
      response.once('close', () => leave());
      arrive();
    });
    try {
      const request = http.request(world.base + PATHS['HTTP+JSON'], {
        method: 'POST',
        agent: false,
        headers: { 'A2A-Version': '1.0' },
      });
      request.on('error', () => undefined).end(CALL);
      await arrived;
      request.destroy();
      await left;
    } finally {
      await world.stop();
    }
  });
});

describe('silence', () => {
  const origin = quietOrigin();
  scenario(
    'ends a stream after limits.streamIdle, and movement does not',
    origin.behave,
    async (world) => {
      const response = await openStream(world, 'JSONRPC');
      await once(response, 'data');
      const reading = readOut(response);
      await world.clock.advance(59_000);
      await turn();
      assert.ok(await world.metric(/^cardea_forward_streams\{agent="weather"\} 1$/));
      await world.clock.advance(1_000);
      assert.equal((await reading).whole, false);
      await origin.ended;
    },
    { config: 'limits: { streamIdle: 60s }' },
  );
});

describe('more calls than limits.forwardConcurrency', () => {
  const origin = quietOrigin();
  scenario(
    'wait, and beyond as many again are refused',
    origin.behave,
    async (world) => {
      const first = await openStream(world, 'JSONRPC');
      await once(first, 'data');
      // One of the two waits for the first; whichever came second is answered at once.
      const both = [openStream(world, 'JSONRPC'), openStream(world, 'JSONRPC')];
      const refused = await Promise.race(both);
      assert.deepEqual([refused.statusCode, refused.headers['retry-after']], [503, '1']);
      assert.match((await readOut(refused)).text, /OVERLOADED/);
      first.destroy();
      const statuses = (await Promise.all(both)).map(({ statusCode }) => statusCode);
      assert.deepEqual(new Set(statuses), new Set([200, 503]));
      for (const each of await Promise.all(both)) each.destroy();
    },
    { config: 'limits: { forwardConcurrency: 1 }' },
  );
});
