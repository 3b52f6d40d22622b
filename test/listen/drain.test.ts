import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { describe, test } from 'node:test';
import type { Answer } from '../../src/kernel/answer.ts';
import { answer, ask2, listening } from '../support/listening.ts';

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const never = new Promise<void>(() => undefined);
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** What was accepted is answered; what was not is refused by the system, before it was sent. */
describe('draining', { timeout: 60_000 }, () => {
  test('with nothing open is over at once', async () => {
    const on = await listening(() => answer(200));
    await on.listener.drain(never);
  });

  test('answers what is under way, says that the connection ends, and ends it', async () => {
    const held = Promise.withResolvers<Answer>();
    const on = await listening(() => held.promise);
    const socket = await on.connect();
    await socket.send(get('/slow'));
    const stream = ask2(on.session(), { ':path': '/slow2' });
    while (on.asks.length < 2) await turn();
    const drained = on.listener.drain(never);
    held.resolve(answer(200, 'done'));
    const [response] = await socket.responses(1);
    assert.equal(response?.body, 'done');
    assert.equal(response?.fields.get('connection'), 'close');
    assert.equal((await stream).body, 'done');
    await drained;
    await socket.ended();
    await assert.rejects(on.connect(), { code: 'ECONNREFUSED' });
  });

  test('lets connections that are idle bring the request that is on its way', async () => {
    const on = await listening(() => answer(200, 'x'));
    const kept = await on.connect();
    await kept.send(get('/1'));
    await kept.responses(1);
    const silent = await on.connect();
    const session = on.session();
    await once(session, 'connect');
    while (session.remoteSettings.maxConcurrentStreams !== 128) await turn();
    const drained = on.listener.drain(never);
    const stream = ask2(session, {});
    await kept.send(get('/2'));
    await silent.send(get('/3'));
    assert.equal((await kept.responses(2))[1]?.fields.get('connection'), 'close');
    assert.equal((await silent.responses(1))[0]?.fields.get('connection'), 'close');
    assert.equal((await stream).status, 200);
    await drained;
  });

  test('ends what stays idle or silent', async () => {
    const on = await listening(() => answer(200, 'x'), { farewell: 30, linger: 30 });
    const kept = await on.connect();
    await kept.send(get('/1'));
    await kept.responses(1);
    const silent = await on.connect();
    const session = on.session();
    await once(session, 'connect');
    const gone = once(session, 'goaway');
    await on.listener.drain(never);
    await Promise.all([kept.ended(), silent.ended(), gone]);
  });

  test('a slow request is still found by its limit', async () => {
    const on = await listening(() => answer(200), { headTimeout: 100, farewell: 20 });
    const socket = await on.connect();
    await socket.send('GET / HTTP/1.1\r\nHost: loc');
    await turn();
    await on.listener.drain(never);
    assert.match(socket.text, /^HTTP\/1\.1 408 /);
  });

  test('the hard stop cuts what is left, in either protocol', async () => {
    const on = await listening(() => new Promise<Answer>(() => undefined));
    const socket = await on.connect();
    await socket.send(get('/'));
    const stream = ask2(on.session(), {});
    const half = await on.connect();
    await half.send('PRI * HT');
    while (on.asks.length < 2) await turn();
    const stop = Promise.withResolvers<void>();
    const drained = on.listener.drain(stop.promise);
    stop.resolve();
    await drained;
    await Promise.all([socket.ended(), half.ended(), stream]);
    assert.equal(socket.text, '');
  });

  test('under load loses nothing that was accepted', async () => {
    const on = await listening(async () => {
      await turn();
      return answer(200, 'whole');
    });
    let answered = 0;
    const lost: string[] = [];
    const drained = Promise.withResolvers<void>();
    const client = async (): Promise<void> => {
      const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
      for (;;) {
        const outcome = await fetchOnce(on.port, agent);
        if (outcome === 'ECONNREFUSED') return;
        if (outcome === 'whole') answered += 1;
        else lost.push(outcome);
        if (answered === 1_000) on.listener.drain(never).then(drained.resolve, drained.reject);
      }
    };
    const streams = async (): Promise<void> => {
      const session = on.session();
      while (!session.closed && !session.destroyed) {
        const { body, error } = await ask2(session, {});
        if (body === 'whole') answered += 1;
        // A stream that came behind GOAWAY was not accepted, and its client is told so.
        else if (body !== '' || error === undefined) lost.push(error ?? 'half');
        if (answered === 1_000) on.listener.drain(never).then(drained.resolve, drained.reject);
      }
    };
    await Promise.all([...Array.from({ length: 16 }, client), ...Array.from({ length: 4 }, streams)]);
    await drained.promise;
    assert.deepEqual(lost, []);
    assert.equal(on.asks.length, answered);
  });
});

function fetchOnce(port: number, agent: http.Agent): Promise<string> {
  return new Promise((resolve) => {
    const request = http.get({ host: '127.0.0.1', port, agent }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => {
        body += chunk.toString();
      });
      response.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
      response.on('end', () => resolve(body));
    });
    request.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
  });
}
