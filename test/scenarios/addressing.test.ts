import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import type http from 'node:http';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { DefaultAgentCardResolver } from '@a2a-js/sdk/client';
import { JOINS } from '../support/sdk.ts';
import { CARD, type Got, World, ask } from '../support/world.ts';

/** Every form in which a client can name an agent, by every SDK's way to join a URL, on every kind of address. */

const folder = mkdtempSync(path.join(tmpdir(), 'cardea-'));
const SOCKET = path.join(folder, 'agents.sock');
const OWN_SOCKET = path.join(folder, 'weather.sock');
const WELL_KNOWN = '/.well-known/agent-card.json';

let worlds: readonly World[] = [];
const world = (): World => worlds[0] ?? assert.fail();
const onSocket = (): World => worlds[1] ?? assert.fail();

before(async () => {
  const loopback = 'unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32]';
  const origin: Parameters<typeof World.start>[0] = {
    origin(request, response) {
      const isCard = request.url === WELL_KNOWN || request.url === `/team/agent${WELL_KNOWN}`;
      response.writeHead(isCard ? 200 : 404, {
        'Content-Type': 'application/json',
        'Content-Length': isCard ? CARD.length : 0,
      });
      response.end(isCard ? CARD : '');
    },
    config: `origins: [{ match: "$ORIGIN", content: card, ${loopback} }]`,
  };
  const ports = { agents: '[::]:0', ops: '127.0.0.1:0', admin: '127.0.0.1:0' };
  worlds = [
    await World.start({
      ...origin,
      listen: JSON.stringify(ports),
      agent: 'hosts: [weather.internal], listen: "[::]:0"',
    }),
    await World.start({
      ...origin,
      listen: JSON.stringify({ ...ports, agents: `unix:${SOCKET}` }),
      agent: `hosts: [weather.internal], listen: "unix:${OWN_SOCKET}"`,
    }),
  ];
});
after(async () => {
  for (const each of worlds) await each.stop();
  rmSync(folder, { recursive: true });
});

const portOf = (address: string | undefined): number => Number(address?.replace(/^.*:/, ''));
const agentsPort = (): number => portOf(world().daemon.started.agents[0]);
const ownPort = (): number => portOf(world().daemon.started.listeners['weather']);
const originHost = (): string => new URL(world().origin.url).host;

/** A way for a client to send a request whose URL its SDK has made. */
type Send = (url: string) => Promise<Got>;
const direct: Send = (url) => ask(url, {});
/** As a resolver of the client's machine would do it: the name is in Host, the connection goes to loopback. */
const byName: Send = (url) => {
  const { host, port, pathname } = new URL(url);
  return ask(`http://127.0.0.1:${port}${pathname}`, { headers: { Host: host } });
};
const over =
  (socketPath: string): Send =>
  (url) =>
    ask(url, { socketPath });
/** HTTP_PROXY: the whole URL is the target, and the connection goes to the proxy. */
const byProxy =
  (to: () => http.RequestOptions): Send =>
  (url) =>
    ask('http://127.0.0.1/', { ...to(), path: url, headers: { Host: new URL(url).host } });
const proxyPort = (): http.RequestOptions => ({ host: '127.0.0.1', port: agentsPort() });

/** What a base URL is worth whose last segment was dropped: `lost` where nothing is left of it, so that nothing can be. */
interface Form {
  readonly name: string;
  readonly base: () => string;
  readonly send: Send;
  readonly lost: 'unknown-agent' | 'origin-status' | 'none';
}

const HOSTS = ['127.0.0.1', '[::1]', 'localhost'] as const;
const at = (host: string, port: () => number, below: () => string) => (): string =>
  `http://${host}:${port()}${below()}`;
const unnamed = (): string => `/origins/http/${originHost()}/team/agent`;

const FORMS: readonly Form[] = [
  ...HOSTS.flatMap((host): readonly Form[] => [
    {
      name: `a base path on ${host}`,
      base: at(host, agentsPort, () => '/agents/weather'),
      send: direct,
      lost: 'unknown-agent',
    },
    {
      name: `a card without a name on ${host}`,
      base: at(host, agentsPort, unnamed),
      send: direct,
      lost: 'origin-status',
    },
    { name: `a port of its own on ${host}`, base: at(host, ownPort, () => ''), send: direct, lost: 'none' },
  ]),
  { name: 'a name of its own', base: at('weather.internal', agentsPort, () => ''), send: byName, lost: 'none' },
  { name: 'its name on its own port', base: at('weather.internal', ownPort, () => ''), send: byName, lost: 'none' },
  { name: 'a proxy, with a name', base: () => world().origin.url, send: byProxy(proxyPort), lost: 'none' },
  {
    name: 'a proxy, without',
    base: () => `${world().origin.url}/team/agent`,
    send: byProxy(proxyPort),
    lost: 'origin-status',
  },
  {
    name: 'a base path on a socket',
    base: () => 'http://localhost/agents/weather',
    send: over(SOCKET),
    lost: 'unknown-agent',
  },
  { name: 'a socket of its own', base: () => 'http://localhost', send: over(OWN_SOCKET), lost: 'none' },
  { name: 'a name of its own on a socket', base: () => 'http://weather.internal', send: over(SOCKET), lost: 'none' },
  {
    name: 'a card without a name on a socket',
    base: () => `http://localhost/origins/http/${new URL(onSocket().origin.url).host}/team/agent`,
    send: over(SOCKET),
    lost: 'origin-status',
  },
  {
    name: 'a proxy on a socket',
    base: () => `${onSocket().origin.url}/team/agent`,
    send: byProxy(() => ({ socketPath: SOCKET })),
    lost: 'origin-status',
  },
];

describe('every form, every SDK, with and without a trailing slash', () => {
  for (const { name, base, send, lost } of FORMS) {
    for (const [join, joined] of Object.entries(JOINS)) {
      for (const slash of ['', '/']) {
        const isLost = join.startsWith('JavaScript') && slash === '' && lost !== 'none';
        test(`${name}, ${join}, base ${slash === '' ? 'without' : 'with'} "/": ${isLost ? lost : 'the card'}`, async () => {
          const got = await send(joined(base() + slash));
          if (isLost) assert.equal(got.code, lost, got.body);
          else assert.equal(got.body, CARD);
          if (lost === 'unknown-agent' && isLost) assert.match(got.body, /trailing \\"\/\\"/);
        });
      }
    }
  }
});

describe("the official JavaScript client's resolver", () => {
  const resolve = (base: string) => new DefaultAgentCardResolver().resolve(base);
  test('finds the card in each form that needs no help of its HTTP client', async () => {
    for (const { base, send } of FORMS) {
      if (send !== direct) continue;
      assert.equal((await resolve(`${base()}/`)).name, 'Weather');
    }
  });
  test('loses the last segment of a base without "/"', () =>
    assert.rejects(resolve(`http://127.0.0.1:${agentsPort()}/agents/weather`), /404/));
});

describe('what is asked for in another way', () => {
  const raw = async (head: string): Promise<string> => {
    const socket = net.connect(agentsPort(), '127.0.0.1');
    socket.end(`${head}\r\n\r\n`);
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    return text;
  };

  test('Host plays no part in absolute-form', async () => {
    for (const host of ['evil.test', 'localhost', originHost()])
      assert.match(
        await raw(`GET ${world().origin.url}${WELL_KNOWN} HTTP/1.1\r\nHost: ${host}\r\nConnection: close`),
        /^HTTP\/1\.1 200 /,
      );
    assert.match(await raw(`GET ${world().origin.url}${WELL_KNOWN} HTTP/1.1\r\nConnection: close`), /^HTTP\/1\.1 400 /);
  });
  test('absolute-form of this listener is its own path', async () => {
    const authorities = [
      'localhost',
      'LOCALHOST',
      `localhost:${agentsPort()}`,
      `127.0.0.1:${agentsPort()}`,
      '127.0.0.1',
    ];
    for (const authority of authorities) {
      const answer = await raw(`GET http://${authority}/agents HTTP/1.1\r\nHost: evil.test\r\nConnection: close`);
      assert.match(answer, /"name":"weather"/, authority);
    }
  });
  test('and of another port on this machine is not', async () => {
    const answer = await raw(`GET http://localhost:1/agents HTTP/1.1\r\nHost: localhost:1\r\nConnection: close`);
    assert.match(answer, /origin-not-allowed/);
  });
  test('a stranger is refused by name, and so is one that looks like somebody', async () => {
    assert.match(
      await raw('GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\nConnection: close'),
      /^HTTP\/1\.1 403 [^]*"code":"origin-not-allowed"/,
    );
  });
  test('an operators’ and an administrators’ listener are no proxies', async () => {
    const { ops, admin } = world().daemon.started;
    for (const address of [ops[0], admin[0], `127.0.0.1:${ownPort()}`]) {
      const got = await byProxy(() => ({ host: '127.0.0.1', port: portOf(address) }))(
        `${world().origin.url}${WELL_KNOWN}`,
      );
      // Loopback is an address of theirs, and the port of Host is no part of the check.
      assert.notEqual(got.body, address?.endsWith(`:${ownPort()}`) ? '' : CARD);
      const foreign = await byProxy(() => ({ host: '127.0.0.1', port: portOf(address) }))(
        `http://evil.test${WELL_KNOWN}`,
      );
      assert.equal(foreign.status, 421, address);
    }
  });
  test('CONNECT is refused with what is served instead', async () => {
    const answer = await raw('CONNECT weather.example.com:443 HTTP/1.1\r\nHost: weather.example.com:443');
    assert.match(answer, /^HTTP\/1\.1 405 /);
    assert.match(answer, /\r\nAllow: GET, HEAD, POST\r\n/i);
    assert.match(answer, /"code":"method-not-allowed"[^]*http:\/\//);
  });
  test('a name of an agent is no Host of the operators', async () => {
    const port = portOf(world().daemon.started.ops[0]);
    assert.equal((await ask(`http://127.0.0.1:${port}/livez`, { headers: { Host: 'weather.internal' } })).status, 421);
  });
});
