import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Answer } from '../../src/kernel/answer.ts';
import { ADMIN_COMMANDS } from '../../src/cli/admin-commands.ts';
import { runCommand } from '../../src/cli/help.ts';
import { plainText, span, table } from '../../src/cli/terminal.ts';
import { epochMs } from '../../src/kernel/units.ts';
import { AdminWorld, TOKEN } from '../admin/admin-world.ts';
import { exchange } from '../store/ledger-world.ts';
import { type Listening, listening } from '../support/listening.ts';
import { readFrom } from '../support/config.ts';

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A daemon's admin API on a real socket, and the files by which commands find it. */
class Desk {
  readonly world = new AdminWorld();
  #admin: Listening | undefined;
  #ops: Listening | undefined;
  ready = true;

  async open(): Promise<this> {
    this.#admin = await listening(this.world.handle);
    this.#ops = await listening((ask) => this.#probe(ask.target));
    return this;
  }

  get address(): string {
    return `127.0.0.1:${this.#admin?.port}`;
  }

  async close(): Promise<void> {
    await this.#admin?.close();
    await this.#ops?.close();
  }

  /** Runs a command line in a folder whose state folder knows the daemon. */
  run(
    line: string,
    { env = {}, files = {} }: { env?: Record<string, string>; files?: Record<string, string> } = {},
  ): Promise<Ran> {
    const note = { admin: [this.address], ops: [`127.0.0.1:${this.#ops?.port}`] };
    const all = { '/srv/state/daemon.json': JSON.stringify(note), '/srv/state/admin-token': `${TOKEN}\n`, ...files };
    return run(line, env, all);
  }

  #probe(target: string): Answer {
    const ok = target === '/livez' || this.ready;
    const body = new TextEncoder().encode(ok ? 'ok\n' : `not ready\nasked ${target}\n`);
    return { status: ok ? 200 : 503, fields: [], body, trace: { kind: 'other', agent: null, result: 'hit' } };
  }
}

async function run(line: string, env: Record<string, string>, files: Readonly<Record<string, string>>): Promise<Ran> {
  const written = { out: '', err: '' };
  const encoded = Object.entries(files).map(([name, text]) => [name, new TextEncoder().encode(text)] as const);
  const words = [...line.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word);
  const code = await runCommand(ADMIN_COMMANDS, {
    argv: words,
    env,
    cwd: '/srv',
    stdout: { write: (more) => (written.out += more) },
    stderr: { write: (more) => (written.err += more) },
    readFile: readFrom(new Map(encoded)),
  });
  return { code, ...written };
}

describe('commands that talk to the daemon', () => {
  let desk = new Desk();
  before(async () => {
    desk = await new Desk().open();
  });
  after(() => desk.close());

  test('console prints a link that signs in once, and says why there is none', async () => {
    const { code, out } = await desk.run('console');
    assert.equal(code, 0);
    const [, url = ''] = /^(\S+)\n\nIt signs one browser in, within five minutes\.\n$/.exec(out) ?? [];
    assert.match(url, new RegExp(`^http://${desk.address}/console/#code=[\\w-]{43}$`));
    const shown = new URL(url).hash.slice('#code='.length);
    assert.equal(desk.world.door.signIn('code', shown).ok, true);
    assert.equal(desk.world.door.signIn('code', shown).ok, false);
    const json = JSON.parse((await desk.run('console --json')).out) as Record<string, unknown>;
    assert.deepEqual(Object.keys(json), ['url', 'expires']);
  });

  test('status shows what is stopped and how cards stand', async () => {
    desk.world.kills = [];
    await desk.run('kill agent:planner --reason "looks forged"');
    const { code, out } = await desk.run('status');
    assert.match(out, /^STOPPED agent:planner by admin since 2027-01-15T08:00:00Z: looks forged \(k0\)\nAGENT +STATE/);
    assert.match(out, /\nweather +fresh +\S+ +verified +1\.0\.0 +1\.0 +2027-01-15T08:00:00Z +-\n$/);
    assert.equal(code, 0);
    const json = JSON.parse((await desk.run('status --json')).out) as { agents: unknown[]; kills: unknown[] };
    assert.deepEqual([json.agents.length, json.kills.length], [1, 1]);
  });

  test('kill and lift', async () => {
    desk.world.kills = [];
    const killed = await desk.run('kill all --reason fire');
    assert.deepEqual([killed.code, killed.out], [0, 'stopped all; to lift it: cardea lift k0 --reason "…"\n']);
    const wrong = await desk.run('lift k9 --reason out');
    assert.deepEqual([wrong.code, wrong.err], [1, 'cardea lift: not-found: No kill of this id.\n']);
    assert.equal((await desk.run('lift ../k0 --reason out')).code, 1);
    assert.deepEqual(desk.world.kills.length, 1);
    const lifted = await desk.run('lift k0 --reason "the key was replaced"');
    assert.deepEqual([lifted.code, lifted.out, desk.world.kills], [0, 'lifted all\n', []]);
  });

  test('a stop that is not written down is in force, and says so', async () => {
    desk.world.persisted = false;
    const { code, err } = await desk.run('kill all --reason fire');
    desk.world.persisted = true;
    assert.equal(code, 1);
    assert.match(err, /in force, but a restart will forget it: disk full/);
  });

  test('a stop wants a reason and a scope', async () => {
    desk.world.kills = [];
    const reasonless = await desk.run('kill all');
    assert.equal(reasonless.code, 2);
    assert.match(
      reasonless.err,
      /^cardea kill: --reason REASON is missing\nUsage: cardea kill SCOPE --reason REASON \[/,
    );
    assert.equal((await desk.run('kill everything --reason x')).code, 1);
    assert.equal((await desk.run('kill --reason x')).code, 2);
    assert.deepEqual(desk.world.kills, []);
  });

  test('purge, refresh, reload and drain', async () => {
    desk.world.done.length = 0;
    assert.equal((await desk.run('purge agent:weather origin:a.example --soft --reason new')).out, '3 made stale\n');
    assert.equal((await desk.run('refresh weather')).out, 'stored -\n');
    assert.equal((await desk.run('refresh other')).code, 1);
    assert.equal((await desk.run('reload --reason "new file"')).out, 'adopted abc\n');
    assert.equal((await desk.run('drain')).out, 'draining\n');
    assert.deepEqual(desk.world.done, [
      'purge agent:weather origin:a.example softly',
      'refresh weather',
      'reload',
      'drain',
    ]);
  });

  test('receipts of every kind, one line each', async () => {
    desk.world.ledger.record(
      exchange('r-1', { code: 'origin-timeout', why: 'too\u001b[2J slow', at: epochMs(1_800_000_000_000) }),
    );
    const { code, out } = await desk.run('receipts --agent weather --limit 1');
    assert.equal(code, 0);
    assert.match(
      out,
      /^TIME +KIND +AGENT +OUTCOME +ABOUT +RECEIPT\n2027-\S+ +exchange +weather +origin-timeout +too\\u\{1b\}\[2J slow +r-1\n$/,
    );
    assert.equal((await desk.run('receipts --since tomorrow')).code, 1);
    assert.equal((await desk.run('receipts --verify')).code, 1);
    assert.match((await desk.run('receipts --json')).out, /^\{"receipts":\[/);
    const narrow = await desk.run('receipts', { env: { COLUMNS: '40' } });
    for (const line of narrow.out.split('\n')) assert.ok(line.length <= 40, line);
  });

  test('explain', async () => {
    desk.world.kills = [];
    const { code, out } = await desk.run('explain weather');
    assert.equal(code, 0);
    assert.match(out, /^agents\.weather covers it\.\nIts card is served: fresh for 60 s\.\n/);
    assert.equal((await desk.run('explain nothing')).code, 1);
  });

  test("health asks the operators' listener, without a token", async () => {
    const files = { '/srv/state/admin-token': '' };
    desk.ready = true;
    assert.deepEqual(await desk.run('health', { files }), { code: 0, out: 'ok\n', err: '' });
    desk.ready = false;
    assert.deepEqual(await desk.run('health ready --require weather'), {
      code: 1,
      out: '',
      err: 'not ready\nasked /readyz?require=weather\n',
    });
    assert.equal((await desk.run('health live --json')).out, '{"probe":"live","ok":true,"said":["ok"]}\n');
    assert.equal((await desk.run('health dead')).code, 2);
  });

  test('find the daemon by the folder of the configuration, by a flag, by the environment', async () => {
    const note = JSON.stringify({ admin: [desk.address] });
    const files = { '/var/c/daemon.json': note, '/var/c/admin-token': TOKEN };
    const configured = { ...files, '/etc/c.yaml': 'state: /var/c\n' };
    assert.equal((await run('status --config /etc/c.yaml', {}, configured)).code, 0);
    assert.equal((await run('status --state /var/c', {}, files)).code, 0);
    assert.equal((await run('status', { CARDEA_STATE: '/var/c' }, files)).code, 0);
    const named = await run(`status --admin ${desk.address} --token-file t`, {}, { '/srv/t': TOKEN });
    assert.equal(named.code, 0);
  });

  test('take token and address from the configuration where nothing is noted', async () => {
    const listen = `listen: { admin: "${desk.address}" }`;
    const byFile = {
      '/srv/cardea.yaml': `${listen}\nstate: memory\nadmin: { token: "file:/run/t" }\n`,
      '/run/t': TOKEN,
    };
    assert.equal((await run('status', {}, byFile)).code, 0);
    const byName = { '/srv/cardea.yaml': `${listen}\nstate: memory\nadmin: { token: "env:T" }\n` };
    assert.equal((await run('status', { T: TOKEN }, byName)).code, 0);
    const nowhere = await run('status', {}, byName);
    assert.equal(nowhere.code, 3);
    assert.match(nowhere.err, /no admin token can be read from the variable T/);
  });

  test('a broken configuration does not stand in the way of a stop', async () => {
    const { code } = await desk.run('kill all --reason fire', { files: { '/srv/cardea.yaml': 'agents: [' } });
    assert.equal(code, 0);
  });

  test('a wrong token is refused, and is in no output', async () => {
    const secret = 'hunter2-hunter2-hunter2-hunter2-hunter2';
    const { code, err, out } = await desk.run('status', { files: { '/srv/state/admin-token': secret } });
    assert.equal(code, 1);
    assert.match(err, /^cardea status: unauthorized: This is not the admin token\.\n$/);
    assert.ok(!(err + out).includes('hunter2'));
  });
});

describe('where no daemon answers', () => {
  const cases: readonly (readonly [name: string, line: string, files: Record<string, string>, said: RegExp])[] = [
    ['nothing is noted', 'status', {}, /no daemon is noted in \/srv\/state/],
    ['the note is no JSON', 'status', { '/srv/state/daemon.json': '{' }, /no daemon is noted/],
    ['the note names none', 'status', { '/srv/state/daemon.json': '{"admin":[]}' }, /no daemon is noted/],
    ['the address is none', 'status --admin here', { '/srv/state/admin-token': TOKEN }, /write ADDRESS:PORT/],
    ['nothing listens', 'status --admin 127.0.0.1:1', { '/srv/state/admin-token': TOKEN }, /no daemon runs there/],
    ['no socket is there', 'status --admin unix:/nowhere/x.sock', {}, /no daemon runs there/],
    ['no token can be read', 'status --admin 127.0.0.1:1', {}, /no admin token can be read/],
    ['health finds none', 'health', {}, /name its listener: --ops/],
  ];
  for (const [name, line, files, said] of cases) {
    test(name, async () => {
      const { code, err } = await run(line, {}, files);
      assert.match(err, said);
      assert.equal(code, 3);
    });
  }
});

describe('text for a terminal', () => {
  test('has no command of a stranger in it', () => {
    assert.equal(plainText('a\u001b]0;x\u0007b\u202e\n'), 'a\\u{1b}]0;x\\u{7}b\\u{202e}\\u{a}');
  });
  test('is cut where the terminal ends', () => {
    assert.equal(
      table(
        [
          ['a', 'bbb'],
          ['cc', 'd'],
        ],
        5,
      ),
      'a   …\ncc  d\n',
    );
    assert.equal(
      table(
        [
          ['a', 'bbb'],
          ['cc', 'd'],
        ],
        7,
      ),
      'a   bbb\ncc  d\n',
    );
  });
  test('says spans in the unit that fits', () => {
    const spans = [0, 119_000, 120_000, 7_199_000, 7_200_000, 172_799_000, 172_800_000].map(span);
    assert.deepEqual(spans, ['0s', '119s', '2m', '120m', '2h', '48h', '2d']);
  });
});
