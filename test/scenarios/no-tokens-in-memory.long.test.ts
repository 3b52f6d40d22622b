import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Started } from '../../src/daemon/places.ts';
import { ask2 } from '../support/listening.ts';
import { type TestIssuer, createIssuer } from '../support/issuer.ts';
import { type OriginServer, startOrigin } from '../support/origin-server.ts';
import { type Got, answers, ask } from '../support/world.ts';
import { cardOf } from './attacked-world.ts';
import { TokenSearch } from './token-search.ts';

/*
 * A hundred thousand extended cards of a thousand principals at a hundred agents are held; each principal has shown its token in every way
 * in which one comes in. Then no part of any token is anywhere: not in the log, the metrics, the receipts and the files of the state folder,
 * not in a heap snapshot of the daemon and its ledger's thread, and not in the bytes of any buffer that is alive.
 */

const PRINCIPALS = 1_000;
const AGENTS = 100;
const ISSUER = 'https://idp.test';

let folder = '';
let idp: TestIssuer;
let origin: OriginServer;
let child: ChildProcess;
let started: Started;
const aUser = `user-${crypto.randomUUID()}`;
const tokens: string[] = [];
const connections: (() => void)[] = [];

before(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'cardea-memory-'));
  idp = await createIssuer(ISSUER, Date.now);
  origin = await startOrigin((request, response) => {
    if (request.url === '/jwks.json') return answers(JSON.stringify(idp.jwks))(request, response);
    // The card of one agent is the same for everybody.
    const agent = /^\/(a\d+)\//.exec(request.url ?? '')?.[1] ?? '';
    const fields = { 'Cache-Control': 'max-age=600' };
    if (/Bearer refused/.test(request.headers.authorization ?? ''))
      return void response.writeHead(401, { 'WWW-Authenticate': 'Bearer' }).end();
    answers(cardOf(`${origin.url}/${agent}`, `of ${agent}`), fields)(request, response);
  });
  const local = 'unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32]';
  const agents = Array.from(
    { length: AGENTS },
    (_, at) =>
      `  a${at}: { card: "${origin.url}/a${at}/card.json", extended: { audience: agents, opaque: allow }, ${local} }`,
  );
  const config = `
listen: { agents: "127.0.0.1:0", ops: "127.0.0.1:0", admin: "127.0.0.1:0" }
state: ${path.join(folder, 'state')}
agents:
${agents.join('\n')}
origins: [{ match: "${origin.url}", content: none, ${local} }]
principals: { issuers: [{ issuer: "${ISSUER}", audience: [cardea], jwks: "${origin.url}/jwks.json" }] }
cache: { prefetch: false, maxBytes: 2GiB }
log: { level: debug, hits: true }
`;
  const program = fileURLToPath(new URL('heap-daemon.ts', import.meta.url));
  child = fork(program, [config, path.join(folder, 'log')], { execArgv: ['--heap-snapshot-string-limit=100000'] });
  const [message] = (await once(child, 'message')) as [{ done: Started }];
  started = message.done;
});
after(async () => {
  for (const close of connections) close();
  child.kill();
  await origin.close();
  rmSync(folder, { recursive: true });
});

async function order(does: string, more: object = {}): Promise<Record<string, unknown>> {
  child.send({ does, ...more });
  const [{ done, failed }] = (await once(child, 'message')) as [{ done?: Record<string, unknown>; failed?: string }];
  if (done === undefined) throw new Error(failed);
  return done;
}

const at = (name: string): string => `/agents/${name}/extendedAgentCard`;
const tokenOf = async (who: number): Promise<string> =>
  who % 5 === 0
    ? `opaque-${crypto.randomUUID()}-${crypto.randomUUID()}`
    : idp.token({
        sub: who === 1 ? aUser : `user-${who}-${crypto.randomUUID()}`,
        aud: ['agents'],
        iat: Math.floor(Date.now() / 1_000) - 60,
      });

/** Every principal gets one card; each has shown its token in one of the ways that there are. */
async function everybodyAsks(): Promise<void> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 4 });
  const session = http2.connect(`http://${started.agents[0]}`);
  for (let who = 0; who < PRINCIPALS; who += 20) {
    const turn = await Promise.all(Array.from({ length: 20 }, (_, more) => tokenOf(who + more)));
    tokens.push(...turn);
    await Promise.all(
      turn.map(async (token, more) => {
        const authorization = `Bearer ${token}`;
        const headers = { 'A2A-Version': '1.0', Authorization: authorization };
        const proxy = more % 4 < 2 ? {} : { 'Proxy-Authorization': authorization };
        const got =
          more % 2 === 0
            ? await ask(`http://${started.agents[0]}${at('a0')}`, { agent, headers: { ...headers, ...proxy } })
            : await ask2(session, { ':path': at('a0'), ...headers, ...proxy });
        assert.equal(got.status, 200, got.body);
      }),
    );
  }
  // They stay open: what a connection waits with is looked at too.
  connections.push(
    () => session.close(),
    () => agent.destroy(),
  );
}

/** What goes wrong with a token: each is refused somewhere, and its token with it. */
async function othersAreRefused(): Promise<void> {
  const good = tokens.at(-1) ?? '';
  const refused = [
    `refused-${crypto.randomUUID()}-${crypto.randomUUID()}`,
    await idp.token({ aud: ['agents'], exp: 1, jti: crypto.randomUUID() }),
    await idp.token({ aud: ['other'], jti: crypto.randomUUID() }),
    `${good.slice(0, -8)}AAAAAAAA`,
    `${await idp.token({ jti: crypto.randomUUID() })}.more.parts`,
    `broken.${crypto.randomUUID()}.${crypto.randomUUID()}`,
  ];
  tokens.push(...refused);
  const base = `http://${started.agents[0]}`;
  for (const token of refused) {
    const headers = { 'A2A-Version': '1.0', Authorization: `Bearer ${token}` };
    await ask(base + at('a3'), { headers });
    await ask(`${base}${at('a3')}?access_token=${token}`, {
      headers: { ...headers, Cookie: `t=${token}`, 'X-Odd': token },
    });
    const rpc = JSON.stringify({ jsonrpc: '2.0', id: token, method: 'GetExtendedAgentCard', params: { token } });
    await ask(
      `${base}/agents/a3`,
      { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' } },
      rpc,
    );
    await ask(`${base}/logout`, { method: 'POST', headers });
    await ask(`${base}/agents/${token.slice(0, 40)}/x`, { headers });
    await ask(`http://${started.admin[0]}/agents`, { headers });
  }
  // Somebody leaves in the middle.
  const gone = http
    .request(base + at('a4'), { agent: false, headers: { Authorization: `Bearer ${good}` } })
    .on('error', () => undefined);
  gone.end();
  await once(gone, 'socket');
  gone.destroy();
}

const admin = (target: string, body?: object): Promise<Got> => {
  const token = readFileSync(path.join(folder, 'state', 'admin-token'), 'utf8').trim();
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const method = body === undefined ? 'GET' : 'POST';
  return ask(
    `http://${started.admin[0]}${target}`,
    { method, headers },
    body === undefined ? '' : JSON.stringify(body),
  );
};

test('no token is anywhere once its request is over', async () => {
  await everybodyAsks();
  await othersAreRefused();
  const to = path.join(folder, 'memory');
  // Its thread rests soon after the last call, and a heap as large as what is filled in takes longer to look through.
  await admin('/receipts?limit=1');
  assert.deepEqual(await order('dump threads', { to }), { threads: 1 });
  assert.deepEqual(await order('fill', { agents: AGENTS }).then(({ entries, principals }) => [entries, principals]), [
    PRINCIPALS * AGENTS,
    PRINCIPALS,
  ]);
  const metrics = await ask(`http://${started.ops[0]}/metrics`, {});
  assert.match(metrics.body, /cardea_cache_entries\{kind="extended"\} 100000/);
  const receipts = await admin('/receipts?limit=1000');
  // A decoy that is held, in each way that a text can be, shows that the search would find one.
  const decoy = `decoy-${crypto.randomUUID()}-${crypto.randomUUID()}`;
  await order('plant', { text: decoy });
  const { buffers } = await order('dump', { to });
  assert.ok(Number(buffers) > 0);
  await admin('/purge', { tags: [`principal:${ISSUER}#${aUser}`], reason: 'test' });
  assert.match(
    (await ask(`http://${started.ops[0]}/metrics`, {})).body,
    /cardea_cache_entries\{kind="extended"\} 99900/,
  );
  await order('drain');
  const search = new TokenSearch([...tokens, decoy]);
  const memory = readdirSync(folder).filter((name) => name.startsWith('memory'));
  const state = readdirSync(path.join(folder, 'state')).map((name) => path.join('state', name));
  const found = new Map<string, readonly string[]>([
    ['metrics', search.find(Buffer.from(metrics.body))],
    ['receipts', search.find(Buffer.from(receipts.body))],
    ...['log', ...state, ...memory].map((name): [string, readonly string[]] => {
      const bytes = readFileSync(path.join(folder, name));
      return [name, name.endsWith('.heap') ? search.findInSnapshot(bytes) : search.find(bytes)];
    }),
  ]);
  for (const name of ['memory.heap', 'memory.buffers'])
    assert.ok(found.get(name)?.includes(decoy), `the search does not find what is planted in ${name}`);
  const leaks = [...found].flatMap(([where, which]) =>
    which.filter((token) => token !== decoy).map((token) => `${where}: ${token.slice(0, 60)}`),
  );
  assert.deepEqual(leaks, []);
});
