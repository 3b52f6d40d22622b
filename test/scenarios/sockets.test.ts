import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ADMIN_COMMANDS } from '../../src/cli/admin-commands.ts';
import { runCommand } from '../../src/cli/help.ts';
import { startDaemon } from '../../src/daemon.ts';
import { CARD, CARD_PATH, type Got, World, ask } from '../support/world.ts';
import { validConfig } from '../support/config.ts';

const LISTENERS = ['agents', 'ops', 'admin', 'weather'] as const;

describe('a daemon whose listeners are sockets', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'cardea-'));
  const socket = (name: string): string => path.join(folder, `${name}.sock`);
  const state = path.join(folder, 'state');
  let world: World | undefined;
  before(async () => {
    const at = (name: string): string => `${name}: "unix:${socket(name)}"`;
    world = await World.start({
      listen: `{ ${at('agents')}, ${at('ops')}, ${at('admin')} }`,
      agent: `listen: "unix:${socket('weather')}"`,
      state,
    });
  });
  after(async () => {
    await world?.stop();
    for (const name of LISTENERS) assert.ok(!existsSync(socket(name)), `${name} is left behind`);
    rmSync(folder, { recursive: true });
  });

  const get = (name: string, target: string, options: http.RequestOptions = {}, body = ''): Promise<Got> =>
    ask(`http://localhost${target}`, { socketPath: socket(name), ...options }, body);
  const order = (method: string, target: string, what: object): Promise<Got> => {
    const body = JSON.stringify(what);
    const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length };
    return get('admin', target, { method, headers }, body);
  };

  test('names them where it says that it has started', () => {
    const note: unknown = JSON.parse(readFileSync(path.join(state, 'daemon.json'), 'utf8'));
    assert.deepEqual(note, { ...world?.daemon.started });
    assert.deepEqual(world?.daemon.started.admin, [`unix:${socket('admin')}`]);
    assert.deepEqual(world?.daemon.started.listeners, { weather: `unix:${socket('weather')}` });
  });
  test('lets nobody in but its user and group', () => {
    for (const name of LISTENERS) assert.equal(statSync(socket(name)).mode & 0o777, 0o660, name);
  });
  test('serves a card on each of the two that serve cards', async () => {
    assert.equal((await get('agents', CARD_PATH)).body, CARD);
    assert.equal((await get('weather', '/.well-known/agent-card.json')).body, CARD);
    const { agents } = JSON.parse((await get('agents', '/agents')).body) as { agents: { card: string }[] };
    assert.equal(agents[0]?.card, `http://localhost${CARD_PATH}`);
  });
  test('answers probes, and administrators without a token', async () => {
    assert.equal((await get('ops', '/livez')).status, 200);
    assert.equal((await get('admin', '/agents')).status, 200);
    assert.equal(world?.daemon.token, null);
    assert.ok(!existsSync(path.join(state, 'admin-token')), 'a token was made that nobody asks for');
  });
  test('notes that it was the socket by which somebody stopped it', async () => {
    const killed = await order('POST', '/kill', { scope: 'agent:weather', reason: 'test' });
    const kill = JSON.parse(killed.body) as { id: string; by: string };
    assert.equal(kill.by, 'socket');
    assert.equal((await get('agents', CARD_PATH)).code, 'killed');
    assert.equal((await order('DELETE', `/kill/${kill.id}`, { reason: 'test' })).status, 200);
  });
  test('is found by its commands', async () => {
    for (const line of [
      `status --state ${state}`,
      `status --admin unix:${socket('admin')}`,
      `health --state ${state}`,
    ]) {
      const said = { out: '', err: '' };
      const code = await runCommand(ADMIN_COMMANDS, {
        argv: line.split(' '),
        env: {},
        cwd: folder,
        stdout: { write: (more) => (said.out += more) },
        stderr: { write: (more) => (said.err += more) },
        readFile,
      });
      assert.equal(code, 0, said.err);
      if (line.startsWith('status')) assert.match(said.out, /weather/);
    }
  });
  test('does not start beside a second one', async () => {
    const text = `listen: { agents: "unix:${socket('agents')}", ops: "127.0.0.1:0", admin: "127.0.0.1:0" }\nstate: memory\n`;
    const given = { clock: world?.clock ?? assert.fail(), log: { write: () => undefined } };
    const config = await validConfig(text);
    await assert.rejects(
      startDaemon(config, given, async () => config),
      /another program listens there/,
    );
    assert.equal((await get('agents', CARD_PATH)).status, 200);
  });
});
