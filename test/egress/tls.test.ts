import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, describe, test } from 'node:test';
import type { TLSSocket, TlsOptions } from 'node:tls';
import { type Authority, makeAuthority } from '../support/certificates.ts';
import { startOrigin } from '../support/origin-server.ts';
import { orderFor, rig, ruleFor, scripted } from './harness.ts';

const HOST = 'agents.example.test';
const authority = makeAuthority();

interface Setting {
  readonly names?: readonly string[];
  readonly from?: Date;
  readonly until?: Date;
  readonly issuer?: Authority;
  readonly server?: TlsOptions;
  readonly http2?: boolean;
  /** What is asked; HOST unless said otherwise. */
  readonly host?: string;
}

function folderOf(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'cardea-tls-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  return { write };
}

async function start(
  t: TestContext,
  { names = [HOST], from, until, issuer = authority, server, http2 = false, host = HOST }: Setting = {},
) {
  const sni: (string | false | null)[] = [];
  const versions: string[] = [];
  const identity = issuer.issue({ names, ...(from && { from }), ...(until && { until }) });
  const origin = await startOrigin(
    (request, response) => {
      const socket = request.socket as TLSSocket & { servername?: string | false };
      sni.push(socket.servername ?? null);
      versions.push(request.httpVersion);
      response.end('{"tls":true}');
    },
    { tls: { ...identity, ...server }, http2 },
  );
  t.after(() => origin.close());
  const { write } = folderOf(t);
  const ca = write('ca.pem', authority.cert);
  const url = `https://${host}:${origin.port}/`;
  const rule = ruleFor([url], { tls: { ca } });
  const { fetcher, clock } = rig({ resolver: scripted({ [host]: [['127.0.0.1']] }) });
  t.after(() => fetcher.close());
  return { origin, url, rule, fetcher, clock, write, ca, sni, versions, identity };
}

const DAY = 86_400_000;

describe('TLS to an origin', () => {
  test('SSRF-TLS-13 a certificate for the name: SNI is that name, in lower case', async (t) => {
    const { fetcher, url, rule, sni } = await start(t);
    const result = await fetcher.fetch(orderFor(url.replace('agents', 'AGENTS'), { rule }));
    assert.ok(result.ok, JSON.stringify(result));
    assert.deepEqual(sni, [HOST]);
  });
  const REFUSED: Readonly<Record<string, readonly [Setting, RegExp]>> = {
    'SSRF-TLS-1 the wrong name': [{ names: ['evil.test'] }, /not for agents\.example\.test/],
    'SSRF-TLS-3 not yet valid': [{ from: new Date(Date.now() + DAY) }, /not valid yet/],
    expired: [{ until: new Date(Date.now() - DAY) }, /expired/],
    'SSRF-TLS-5 a wildcard two labels up': [{ names: ['*.example.test'], host: 'a.b.example.test' }, /not for a\.b/],
    'SSRF-TLS-5 a wildcard over a whole domain': [{ names: ['*.test'], host: 'a.example.test' }, /not for a\.example/],
    'SSRF-TLS-7 an address and a certificate for a name': [{ host: '127.0.0.1' }, /not for 127\.0\.0\.1/],
    'another authority': [{ issuer: makeAuthority('Other CA') }, /agents\.weather\.tls\.ca/],
    'SSRF-TLS-11 TLS 1.1 alone': [
      { server: { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } },
      /handshake/,
    ],
  };
  for (const [name, [setting, why]] of Object.entries(REFUSED)) {
    test(`${name}: no request is sent`, async (t) => {
      const { fetcher, url, rule, origin } = await start(t, setting);
      const result = await fetcher.fetch(orderFor(url, { rule }));
      assert.ok(!result.ok);
      assert.equal(result.refusal.code, 'tls-failed');
      assert.match(result.refusal.detail, why);
      assert.deepEqual(origin.asked, []);
    });
  }
  test('SSRF-TLS-9 NODE_TLS_REJECT_UNAUTHORIZED=0 changes nothing', async (t) => {
    const { fetcher, url, rule, origin } = await start(t, { names: ['evil.test'] });
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    t.after(() => delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']);
    const result = await fetcher.fetch(orderFor(url, { rule }));
    assert.ok(!result.ok);
    assert.equal(result.refusal.code, 'tls-failed');
    assert.deepEqual(origin.asked, []);
  });
  test('an address with a certificate for it: verified by its IP entry, no SNI', async (t) => {
    const { fetcher, url, rule, sni } = await start(t, { names: ['127.0.0.1'], host: '127.0.0.1' });
    const result = await fetcher.fetch(orderFor(url, { rule }));
    assert.ok(result.ok, JSON.stringify(result));
    assert.ok(!sni[0]);
  });
  test('without tls.ca the private authority is not trusted', async (t) => {
    const { fetcher, url, rule } = await start(t);
    const result = await fetcher.fetch(orderFor(url, { rule: { ...rule, tls: null } }));
    assert.ok(!result.ok);
    assert.equal(result.refusal.code, 'tls-failed');
  });
  test('cleartext behind an https URL is a TLS failure', async (t) => {
    const plain = await startOrigin((_request, response) => void response.end());
    t.after(() => plain.close());
    const { fetcher } = rig();
    const url = `https://127.0.0.1:${plain.port}/`;
    const result = await fetcher.fetch(orderFor(url));
    assert.ok(!result.ok);
    assert.equal(result.refusal.code, 'tls-failed');
  });
});

describe('files of an identity', () => {
  test('a client certificate: refused without, served with', async (t) => {
    const made = await start(t, { server: { requestCert: true, rejectUnauthorized: true, ca: authority.cert } });
    const refusedWithout = await made.fetcher.fetch(orderFor(made.url, { rule: made.rule }));
    assert.ok(!refusedWithout.ok);
    assert.equal(refusedWithout.refusal.code, 'tls-failed');
    assert.match(refusedWithout.refusal.detail, /agents\.weather\.tls\.cert/);
    const client = authority.issue({ names: ['client'] });
    const tls = { ca: made.ca, cert: made.write('client.pem', client.cert), key: made.write('client.key', client.key) };
    const result = await made.fetcher.fetch(orderFor(made.url, { rule: { ...made.rule, tls } }));
    assert.ok(result.ok, JSON.stringify(result));
  });
  test('a changed CA file counts for the next exchange, kept connections included', async (t) => {
    const { fetcher, url, rule, write } = await start(t);
    assert.ok((await fetcher.fetch(orderFor(url, { rule }))).ok);
    write('ca.pem', makeAuthority('Another CA').cert);
    const result = await fetcher.fetch(orderFor(url, { rule }));
    assert.ok(!result.ok);
    assert.equal(result.refusal.code, 'tls-failed');
  });
  test('a revoked certificate is refused by tls.crl, another one is not', async (t) => {
    const made = await start(t);
    const other = authority.issue({ names: ['x'] });
    const rule = (name: string, serial: Buffer) => ({
      ...made.rule,
      tls: { ca: made.ca, crl: made.write(name, authority.revoke([serial])) },
    });
    assert.ok((await made.fetcher.fetch(orderFor(made.url, { rule: rule('a.pem', other.serial) }))).ok);
    const result = await made.fetcher.fetch(orderFor(made.url, { rule: rule('b.pem', made.identity.serial) }));
    assert.ok(!result.ok);
    assert.equal(result.refusal.code, 'tls-failed');
    assert.match(result.refusal.detail, /revoked/);
  });
  for (const [name, text] of [
    ['missing', null],
    ['nonsense', 'no certificate'],
  ] as const) {
    test(`a CA file that is ${name} refuses before anything is dialled`, async (t) => {
      const { fetcher, url, rule, write, origin } = await start(t);
      const cert = text === null ? '/nowhere/client.pem' : write('client.pem', text);
      const result = await fetcher.fetch(orderFor(url, { rule: { ...rule, tls: { ...rule.tls, cert } } }));
      assert.ok(!result.ok);
      assert.equal(result.refusal.code, 'tls-failed');
      assert.match(result.refusal.detail, /tls/);
      assert.equal(origin.connections(), 0);
    });
  }
});

describe('HTTP/2 where the origin prefers it', () => {
  test('one connection carries several exchanges at once, streams too', async (t) => {
    const { fetcher, url, rule, origin, versions } = await start(t, { http2: true });
    const first = await fetcher.fetch(orderFor(url, { rule }));
    assert.ok(first.ok, JSON.stringify(first));
    const more = await Promise.all([1, 2, 3].map(() => fetcher.fetch(orderFor(url, { rule }))));
    assert.ok(more.every((result) => result.ok && Buffer.from(result.response.body).toString() === '{"tls":true}'));
    const stream = await fetcher.open(orderFor(url, { rule }));
    assert.ok(stream.ok);
    const chunks: Uint8Array[] = [];
    for await (const chunk of stream.response.body) chunks.push(chunk);
    assert.equal(Buffer.concat(chunks).toString(), '{"tls":true}');
    assert.deepEqual(new Set(versions), new Set(['2.0']));
    assert.equal(origin.connections(), 1);
  });
});
