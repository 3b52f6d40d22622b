import assert from 'node:assert/strict';
import net from 'node:net';
import { describe, test } from 'node:test';
import { bind } from '../../src/listen/bind.ts';
import { createFront } from '../../src/listen/front.ts';
import { FRONT_LIMITS } from '../../src/listen/limits.ts';
import { answer, listening } from '../support/listening.ts';

/** Handlers of a port that nobody asks anything. */
const NOBODY = {
  request: () => undefined,
  repeat: () => false,
  learn: () => undefined,
  refuse: () => undefined,
  unread: () => undefined,
};

describe('opening a listener', () => {
  test('on port 0 tells the real one', async () => {
    const on = await listening(() => answer(200));
    assert.ok(on.port > 0);
    await on.close();
  });

  const cannot = async (host: string, port: number, why: RegExp): Promise<void> => {
    const server = net.createServer();
    await assert.rejects(bind(server, { name: 'agents', address: { kind: 'tcp', host, port } }), why);
    server.close();
  };

  test('on a taken port says which listener, where, and what to change', async () => {
    const on = await listening(() => answer(200));
    const said = new RegExp(
      `^Error: listener agents: cannot open 127\\.0\\.0\\.1:${on.port}: the port is taken; .*another port`,
    );
    await cannot('127.0.0.1', on.port, said);
    await on.close();
  });
  test('on an address of another machine says so', () =>
    cannot('192.0.2.1', 0, /listener agents: cannot open 192\.0\.2\.1:0: this machine has no such address/));
  test('on an IPv6 address writes it so that its port can be read', () =>
    cannot('2001:db8::1', 0, /cannot open \[2001:db8::1\]:0: /));

  test('that fails leaves nothing behind, and tells nobody else', async () => {
    const on = await listening(() => answer(200));
    const troubles: Error[] = [];
    const limits = { connections: 1, ...FRONT_LIMITS };
    const front = createFront({ ...NOBODY, trouble: (error) => void troubles.push(error) }, limits);
    await assert.rejects(
      bind(front.server, { name: 'ops', address: { kind: 'tcp', host: '127.0.0.1', port: on.port } }),
    );
    await front.drain(Promise.resolve());
    assert.deepEqual(troubles, []);
    await on.close();
  });

  test('and running out of files later is told of, and ends nothing', async () => {
    const troubles: Error[] = [];
    const front = createFront(
      { ...NOBODY, trouble: (error) => void troubles.push(error) },
      { connections: 1, ...FRONT_LIMITS },
    );
    await bind(front.server, { name: 'ops', address: { kind: 'tcp', host: '127.0.0.1', port: 0 } });
    front.server.emit('error', new Error('accept EMFILE'));
    assert.equal(troubles.length, 1);
    await front.drain(Promise.resolve());
  });
});
