import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { type Got, World, ask } from '../support/world.ts';

/** A session of the console at a whole daemon, through what ends it. */

const OLD = 'the-admin-token-of-yesterday-0123456789';
const NEW = 'the-admin-token-of-today-0123456789abcd';

let folder: string;
let token: string;
let world: World;
before(() => {
  folder = fs.mkdtempSync(path.join(tmpdir(), 'cardea-console-'));
  token = path.join(folder, 'token');
});
after(() => fs.rmSync(folder, { recursive: true, force: true }));
afterEach(() => world.stop());

async function start(): Promise<void> {
  fs.writeFileSync(token, OLD, { mode: 0o600 });
  world = await World.start({ config: `admin: { token: "file:${token}" }` });
}

const url = (target: string): string => `http://${world.daemon.started.admin[0]}${target}`;

const json = (): http.OutgoingHttpHeaders => ({ origin: url(''), 'content-type': 'application/json' });

const signIn = (proof: object): Promise<Got> =>
  ask(url('/console/session'), { method: 'POST', headers: json() }, JSON.stringify(proof));

async function enter(): Promise<http.OutgoingHttpHeaders> {
  const { headers, body } = await signIn({ token: OLD });
  const { key } = JSON.parse(body) as { readonly key: string };
  return { cookie: headers['set-cookie']?.[0]?.split(';', 1)[0] ?? '', 'cardea-console-key': key };
}

async function makeLink(): Promise<string> {
  const got = await ask(url('/console/links'), { method: 'POST', headers: { authorization: `Bearer ${OLD}` } });
  return new URL((JSON.parse(got.body) as { readonly url: string }).url).hash.slice('#code='.length);
}

/** Reads the events until they end. */
function watch(headers: http.OutgoingHttpHeaders): Promise<{ readonly end: Promise<unknown> }> {
  return new Promise((resolve, reject) => {
    const request = http.get(url('/events'), { agent: false, headers }, (response) => {
      const end = once(response, 'end');
      response.once('data', () => resolve({ end }));
      response.resume();
    });
    request.on('error', reject);
  });
}

describe('another admin token', () => {
  test('ends every session that the old one opened, their events, and its links', async () => {
    await start();
    const session = await enter();
    const code = await makeLink();
    const stream = await watch(session);
    assert.equal((await ask(url('/agents'), { headers: session })).status, 200);
    fs.writeFileSync(token, NEW);
    assert.equal((await world.daemon.reload('SIGHUP')).ok, true);
    await stream.end;
    assert.equal((await ask(url('/agents'), { headers: session })).status, 401);
    assert.equal((await signIn({ code })).status, 401);
    assert.equal((await signIn({ token: OLD })).status, 401);
    assert.equal((await signIn({ token: NEW })).status, 200);
  });
});

describe('a reload that keeps the token', () => {
  test('keeps the sessions', async () => {
    await start();
    const session = await enter();
    assert.equal((await world.daemon.reload('SIGHUP')).ok, true);
    assert.equal((await ask(url('/agents'), { headers: session })).status, 200);
  });
});

describe('what the console orders', () => {
  test('is in force, and written down with who ordered it', async () => {
    await start();
    const session = { ...json(), ...(await enter()) };
    const body = JSON.stringify({ scope: 'agent:weather', reason: 'a test' });
    const killed = await ask(url('/kill'), { method: 'POST', headers: session }, body);
    const { id, by } = JSON.parse(killed.body) as { readonly id: string; readonly by: string };
    assert.equal(by, 'console');
    assert.equal((await world.card()).code, 'killed');
    // Node frames no body of a DELETE by itself.
    const framed = { ...session, 'transfer-encoding': 'chunked' };
    const lifted = await ask(url(`/kill/${id}`), { method: 'DELETE', headers: framed }, '{"reason":"over"}');
    assert.equal(lifted.status, 200);
    assert.equal((await world.card()).status, 200);
    const receipts = (await ask(url('/receipts'), { headers: session })).body;
    for (const action of ['sign-in', 'kill', 'lift']) assert.ok(receipts.includes(`"action":"${action}"`), action);
    assert.equal(receipts.match(/"by":"console"/g)?.length, 2);
    assert.doesNotMatch(world.log.join('\n') + receipts, new RegExp(OLD));
  });
});
