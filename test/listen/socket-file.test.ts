import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readlinkSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { bind } from '../../src/listen/bind.ts';
import { leaveStaleSocket } from '../support/stale-socket.ts';
import { type Listening, answer, ask2, listening } from '../support/listening.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'cardea-'));
after(() => rmSync(folder, { recursive: true }));

const at = (name: string): string => path.join(folder, name);
const place = (name: string) => ({ name: 'agents', address: { kind: 'unix', path: at(name) } }) as const;
const cannot = (name: string, why: RegExp): Promise<void> =>
  assert.rejects(bind(net.createServer(), place(name)), (error: Error) => {
    assert.match(error.message, /^listener agents: cannot open unix:/);
    assert.match(error.message, why);
    return true;
  });

describe('opening a socket', () => {
  test('gives it to its user and group alone, whatever the umask, and takes it away at the end', async () => {
    for (const umask of [0, 0o022, 0o077]) {
      const usual = process.umask(umask);
      const server = net.createServer();
      try {
        assert.deepEqual(await bind(server, place('mode')), place('mode').address);
        assert.equal(process.umask(), umask);
      } finally {
        process.umask(usual);
      }
      assert.equal(statSync(at('mode')).mode & 0o777, 0o660);
      server.close();
      await once(server, 'close');
      assert.ok(!existsSync(at('mode')));
    }
  });
  test('takes the place of one that a crash has left', async () => {
    await leaveStaleSocket(at('stale'));
    assert.ok(statSync(at('stale')).isSocket());
    const server = net.createServer((socket) => socket.end('new'));
    await bind(server, place('stale'));
    const [said] = (await once(net.connect(at('stale')), 'data')) as [Buffer];
    assert.equal(said.toString(), 'new');
    server.close();
  });
  test('leaves one alone that somebody listens on', async () => {
    const server = net.createServer();
    await bind(server, place('live'));
    await cannot('live', /another program listens there/);
    assert.ok(existsSync(at('live')));
    server.close();
  });
  test('never takes away what is no socket', async () => {
    writeFileSync(at('file'), 'kept');
    symlinkSync(at('elsewhere'), at('link'));
    await cannot('file', /what stands there is no socket/);
    await cannot('link', /what stands there is no socket/);
    assert.ok(existsSync(at('file')));
    assert.equal(readlinkSync(at('link')), at('elsewhere'));
  });
  test('says what is wrong with its folder', async () => {
    await cannot('none/x', /its folder is not there; make it first/);
    await cannot('file/x', /a part of its path is no folder/);
  });
});

describe('a listener on a socket', () => {
  let on: Listening | undefined;
  const socketPath = at('listener');
  before(async () => {
    on = await listening(() => answer(200), { address: { kind: 'unix', path: socketPath } });
  });
  after(() => on?.close());

  const raw = async (head: string): Promise<string> => {
    const socket = net.connect(socketPath);
    socket.end(head);
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    return text;
  };
  const asked = () => on?.asks.at(-1);

  test('answers HTTP/1.1 for every host, since no web page can dial it', async () => {
    for (const host of ['localhost', 'evil.test', '10.0.0.1:80']) {
      assert.match(await raw(`GET /x HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`), /^HTTP\/1\.1 200 /);
      assert.equal(asked()?.base, `http://${host}`);
    }
  });
  test('answers a request that names no host', async () => {
    assert.match(await raw('GET /x HTTP/1.1\r\nConnection: close\r\n\r\n'), /^HTTP\/1\.1 200 /);
    assert.deepEqual([asked()?.host, asked()?.base], ['', 'http://localhost']);
  });
  test('refuses two hosts, and what is no host', async () => {
    for (const lines of ['Host: a\r\nHost: a', 'Host: a b', 'Host: a/b'])
      assert.match(await raw(`GET /x HTTP/1.1\r\n${lines}\r\nConnection: close\r\n\r\n`), /^HTTP\/1\.1 400 /);
  });
  test('answers Node’s own client', async () => {
    const request = http.get({ socketPath, path: '/y' });
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    response.resume();
    assert.equal(response.statusCode, 200);
  });
  test('answers HTTP/2 with prior knowledge', async () => {
    const session = http2.connect('http://localhost', { createConnection: () => net.connect(socketPath) });
    assert.equal((await ask2(session, { ':path': '/z' })).status, 200);
    assert.equal(asked()?.target, '/z');
    session.close();
  });
});
