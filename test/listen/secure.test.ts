import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http2 from 'node:http2';
import https from 'node:https';
import type http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import tls from 'node:tls';
import type { Peer } from '../../src/kernel/peer.ts';
import { nameOfHolder } from '../../src/kernel/peer.ts';
import { altNames } from '../../src/listen/peer.ts';
import type { ListenerTls } from '../../src/listen/secure.ts';
import { type Identity, makeAuthority } from '../support/certificates.ts';
import { type Listening, answer, ask2, listening } from '../support/listening.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'cardea-tls-'));
after(() => rmSync(folder, { recursive: true }));

const authority = makeAuthority();
const stranger = makeAuthority('Another CA');

function write(name: string, text: string): string {
  writeFileSync(path.join(folder, name), text);
  return path.join(folder, name);
}

function filesOf(name: string, identity: Identity, more: Partial<ListenerTls> = {}): ListenerTls {
  const cert = write(`${name}.pem`, identity.cert);
  return { cert, key: write(`${name}.key`, identity.key), clientCa: null, crl: null, ...more };
}

const serverFor = (): Identity => authority.issue({ names: ['localhost', '127.0.0.1'] });

/** One GET over HTTP/1.1 on a connection of its own; the error's code where none is to be had. */
async function get(port: number, options: https.RequestOptions = {}): Promise<number | string> {
  const request = https.get({ port, host: '127.0.0.1', ca: authority.cert, agent: false, ...options });
  try {
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    response.resume();
    await once(response, 'end');
    return response.statusCode ?? 0;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

function session(port: number, options: http2.SecureClientSessionOptions = {}): http2.ClientHttp2Session {
  const opened = http2.connect(`https://127.0.0.1:${port}`, { ca: authority.cert, ...options });
  return opened.on('error', () => undefined);
}

describe('a listener with TLS', () => {
  const identity = serverFor();
  const tlsFiles = filesOf('server', identity);
  let on: Listening = undefined as never;
  before(async () => {
    on = await listening(() => answer(200), { tls: tlsFiles, principal: 'planner' });
  });
  after(() => on.close());

  test('answers HTTP/1.1, under an https base', async () => {
    assert.equal(await get(on.port), 200);
    assert.equal(on.asks.at(-1)?.base, `https://127.0.0.1:${on.port}`);
  });
  test('answers HTTP/2 that was agreed on in the handshake', async () => {
    const opened = session(on.port);
    assert.equal((await ask2(opened, { ':path': '/x' })).status, 200);
    assert.equal(opened.alpnProtocol, 'h2');
    opened.close();
  });
  test('tells whom it is for', async () => {
    await get(on.port);
    assert.deepEqual(on.asks.at(-1)?.peer, { principal: 'planner', certificate: null });
  });
  test('checks the host as any other', async () => {
    assert.equal(await get(on.port, { headers: { host: 'evil.test' }, checkServerIdentity: () => undefined }), 421);
  });
  test('speaks no TLS before 1.2', async () => {
    const code = await get(on.port, { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' });
    assert.match(String(code), /EPROTO|PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|NO_PROTOCOLS/);
  });
  test('takes the preface of HTTP/2 for no HTTP where HTTP/2 was not agreed on', async () => {
    const socket = tls.connect({ port: on.port, host: '127.0.0.1', ca: authority.cert });
    await once(socket, 'secureConnect');
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    assert.match(text, /^HTTP\/1\.1 400 /);
  });
  test('survives what is no TLS', async () => {
    const raw = await on.connect();
    await raw.send('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await raw.ended();
    assert.doesNotMatch(raw.text, /HTTP/);
    assert.equal(await get(on.port), 200);
  });
  test('shows a renewed certificate to whoever comes next, and keeps the old one while its files are broken', async () => {
    const shown = async (): Promise<string> => {
      const socket = tls.connect({ port: on.port, host: '127.0.0.1', ca: authority.cert });
      await once(socket, 'secureConnect');
      const { fingerprint256 } = socket.getPeerCertificate();
      socket.destroy();
      return fingerprint256;
    };
    const first = await shown();
    write('server.pem', 'no certificate');
    await assert.rejects(on.listener.renew(), /^Error: listener agents: tls: its files make no TLS identity/);
    assert.equal(await shown(), first);
    filesOf('server', serverFor());
    assert.equal(await shown(), first);
    await on.listener.renew();
    assert.notEqual(await shown(), first);
  });
  test('does not open where a file is missing', async () => {
    const missing = { ...tlsFiles, key: path.join(folder, 'none') };
    await assert.rejects(
      listening(() => answer(200), { tls: missing }),
      /^Error: listener agents: tls\.key: .*none cannot be read/,
    );
  });
  test('drains with a client that never finishes its handshake', async () => {
    const own = await listening(() => answer(200), { tls: tlsFiles });
    await own.connect();
    await own.close();
  });
});

describe('a listener that asks for certificates', () => {
  const good = authority.issue({ names: ['planner.example', 'spiffe://example.org/planner'] });
  const revoked = authority.issue({ names: ['gone.example'] });
  const foreign = stranger.issue({ names: ['planner.example'] });
  let on: Listening = undefined as never;
  before(async () => {
    const clientCa = write('clients.pem', authority.cert);
    const crl = write('crl.pem', authority.revoke([revoked.serial]));
    on = await listening(() => answer(200), { tls: filesOf('asking', serverFor(), { clientCa, crl }) });
  });
  after(() => on.close());
  const peer = (): Peer | undefined => on.asks.at(-1)?.peer;

  for (const [name, shown] of [
    ['no certificate', {}],
    ['one of another authority', { cert: foreign.cert, key: foreign.key }],
    ['one that is revoked', { cert: revoked.cert, key: revoked.key }],
  ] as const) {
    test(`lets nobody in with ${name}`, async () => {
      const asked = on.asks.length;
      assert.match(String(await get(on.port, shown)), /ALERT|ECONNRESET|SSL|EPIPE/);
      assert.equal(on.asks.length, asked);
    });
  }
  test('knows who is there, on each protocol, once for all requests of a connection', async () => {
    assert.equal(await get(on.port, good), 200);
    const overOne = peer();
    assert.deepEqual(overOne?.certificate?.names, ['DNS:planner.example', 'URI:spiffe://example.org/planner']);
    assert.match(overOne?.certificate?.fingerprint ?? '', /^[0-9a-f]{64}$/);
    const opened = session(on.port, good);
    await ask2(opened, {});
    const first = peer();
    await ask2(opened, {});
    assert.equal(peer(), first);
    assert.deepEqual(first, overOne);
    opened.close();
  });
  test('resumes no session, so that a certificate is looked at every time', async () => {
    let ticket: Buffer | undefined;
    const options = { port: on.port, host: '127.0.0.1', ca: authority.cert, ...good } as const;
    const first = tls.connect({ ...options, maxVersion: 'TLSv1.2' });
    first.on('session', (given: Buffer) => (ticket = given));
    await once(first, 'secureConnect');
    first.destroy();
    const second = tls.connect({
      ...options,
      maxVersion: 'TLSv1.2',
      ...(ticket === undefined ? {} : { session: ticket }),
    });
    await once(second, 'secureConnect');
    assert.equal(second.isSessionReused(), false);
    second.destroy();
  });
});

describe('names in a certificate', () => {
  const cases: readonly (readonly [text: string, names: readonly string[]])[] = [
    ['', []],
    ['DNS:a.example', ['DNS:a.example']],
    ['DNS:a.example, URI:spiffe://x/y', ['DNS:a.example', 'URI:spiffe://x/y']],
    ['IP Address:127.0.0.1, DNS:a', ['IP Address:127.0.0.1', 'DNS:a']],
    // Node quotes what could be read as two.
    ['DNS:"a.example, DNS:admin.example"', ['DNS:a.example, DNS:admin.example']],
    ['URI:"spiffe://x/\\"y, URI:z", DNS:a', ['URI:spiffe://x/"y, URI:z', 'DNS:a']],
  ];
  for (const [text, names] of cases) test(JSON.stringify(text), () => assert.deepEqual(altNames(text), names));

  const holders: readonly (readonly [names: readonly string[], subject: string, name: string])[] = [
    [['DNS:a', 'URI:spiffe://x/y'], 'CN=c', 'URI:spiffe://x/y'],
    [['IP Address:127.0.0.1', 'DNS:a'], 'CN=c', 'DNS:a'],
    [['IP Address:127.0.0.1'], 'O=o\nCN=c', 'CN=c'],
    [[], 'O=o', 'sha256:ab'],
  ];
  for (const [names, subject, name] of holders)
    test(`its holder is ${name}`, () => assert.equal(nameOfHolder({ names, subject, fingerprint: 'ab' }), name));
});
