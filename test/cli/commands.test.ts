import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { checkCommand } from '../../src/cli/check.ts';
import type { Command } from '../../src/cli/command.ts';
import { configCommand } from '../../src/cli/config.ts';
import { runCommand } from '../../src/cli/help.ts';
import { readFrom } from '../support/config.ts';

/** The part of config.schema.json that names the sections. */
interface Schema {
  readonly properties: Readonly<Record<string, unknown>>;
}

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const GOOD =
  'agents:\n  weather: { origin: https://weather.example }\n  planner: { card: https://planner.example/c }\n';

/** Fetches nothing: planner's card is refused. */
const check = checkCommand(async function* connect({ settings }) {
  for (const agent of settings.agents.keys()) {
    yield agent === 'planner'
      ? { agent, ok: false, line: 'card-invalid: no name' }
      : { agent, ok: true, line: 'Weather 1.0' };
  }
});

/** Runs a command line in `/srv`, where `cardea.yaml` holds the text. */
async function run(line: string, text: string, env: Record<string, string> = {}, isTTY = false): Promise<Ran> {
  const commands: readonly Command[] = [check, configCommand];
  const written = { out: '', err: '' };
  const code = await runCommand(commands, {
    argv: line.split(' ').filter((word) => word !== ''),
    env,
    cwd: '/srv',
    stdout: Object.assign({ write: (more: string) => (written.out += more) }, { isTTY }),
    stderr: Object.assign({ write: (more: string) => (written.err += more) }, { isTTY }),
    readFile: readFrom(new Map([['/srv/cardea.yaml', new TextEncoder().encode(text)]])),
  });
  return { code, ...written };
}

describe('cardea check', () => {
  test('colours and shows its progress on a terminal, unless asked for plain text', async () => {
    const shown = await run('check --connect', GOOD, {}, true);
    assert.ok(shown.out.includes('\u001b[32mok  \u001b[39m weather'), shown.out);
    assert.match(shown.err, /asking for the card of weather …/);
    for (const env of [{ NO_COLOR: '1' }, { TERM: 'dumb' }]) {
      const { out, err } = await run('check --connect', GOOD, env, true);
      assert.ok(!`${out}${err}`.includes('\u001b'));
    }
  });

  test('says that a configuration is valid', async () => {
    const { code, out, err } = await run('check', GOOD);
    assert.deepEqual([code, out, err], [0, '/srv/cardea.yaml: valid, 2 agents, 0 origins\n', '']);
  });
  test('says everything that is wrong and ends with 2', async () => {
    const { code, out, err } = await run('check', 'cache: { maxTl: 1h }\nlog: { hits: 3 }', { CARDEA_LOG_LEVELS: 'x' });
    assert.equal(
      err,
      `warning: CARDEA_LOG_LEVELS: no setting has this name; did you mean CARDEA_LOG_LEVEL?
cardea.yaml:1:10 cache.maxTl: unknown key; did you mean maxTtl?
cardea.yaml:2:14 log.hits: "3" is neither true nor false; write true or false
2 problems
`,
    );
    assert.deepEqual([code, out], [2, '']);
  });
  test('takes settings as flags, as serve does', async () => {
    const { code, err } = await run('check --cache-max-stale 5 --log-hits --listen-ops=127.0.0.1:8642', GOOD);
    assert.match(err, /--cache-max-stale: "5" is no duration; write 5s\n/);
    assert.match(err, /is taken by listen\.agents/);
    assert.equal(code, 2);
  });
  test('fetches every card where that is asked, and fails with any', async () => {
    const { code, out } = await run('check --connect', GOOD);
    assert.match(out, /\nok   weather: Weather 1\.0\nFAIL planner: card-invalid: no name\n$/);
    assert.equal(code, 2);
  });
  test('fetches nothing for a configuration that is wrong', async () => {
    const { code, out } = await run('check --connect', 'x: 1');
    assert.deepEqual([code, out], [2, '']);
  });
  test('says all of it as JSON', async () => {
    const sections = Object.keys((JSON.parse(readFileSync('config.schema.json', 'utf8')) as Schema).properties);
    const bad = await run('check --json', 'x: 1', { CARDEA_CACHE_MAX_TTL: '1' });
    assert.deepEqual(JSON.parse(bad.out), {
      ok: false,
      problems: [
        { variable: 'CARDEA_CACHE_MAX_TTL', message: '"1" is no duration; write 1s' },
        {
          file: 'cardea.yaml',
          line: 1,
          column: 1,
          path: 'x',
          message: `unknown key; known here: ${sections.join(', ')}`,
        },
      ],
      warnings: [],
    });
    assert.deepEqual([bad.code, bad.err], [2, '']);
    const good = await run('check --json --connect', GOOD.split('\n').slice(0, 2).join('\n'));
    const cards = [{ agent: 'weather', ok: true, line: 'Weather 1.0' }];
    assert.deepEqual(JSON.parse(good.out), { ok: true, file: '/srv/cardea.yaml', problems: [], warnings: [], cards });
    assert.equal(good.code, 0);
  });
});

describe('cardea config', () => {
  test('prints what is in force, each with where it came from', async () => {
    const text = 'cache: { maxTtl: 60m }\nagents: { a: { origin: https://a.example } }';
    const { code, out, err } = await run('config --log-level warn', text, { CARDEA_LIMITS_REDIRECTS: '0' });
    assert.deepEqual([code, err], [0, '']);
    assert.match(out, /^# \/srv\/cardea\.yaml\n/);
    for (const line of [
      '  maxTtl: 1h # cardea.yaml:1:18',
      '  maxStale: 1d # default',
      '  level: warn # --log-level',
      '  redirects: 0 # CARDEA_LIMITS_REDIRECTS',
      '    origin: https://a.example # cardea.yaml:2:24',
      'origins: [] # default',
    ]) {
      assert.ok(out.includes(`\n${line}\n`), `${line}\n\n${out}`);
    }
  });
  test('says the same as JSON', async () => {
    const text = 'listen: { names: [a.b] }\nagents: { a: { origin: https://a.example } }';
    const [json, yaml] = await Promise.all([run('config --json', text), run('config', text)]);
    const shown = JSON.parse(json.out);
    assert.deepEqual(shown.settings, parse(yaml.out));
    assert.equal(shown.file, '/srv/cardea.yaml');
    assert.equal(shown.sources['listen.names'], 'cardea.yaml:1:11');
    assert.equal(shown.sources['agents.a.origin'], 'cardea.yaml:2:24');
    assert.equal(shown.sources['cache.maxTtl'], 'default');
  });
  test('prints nothing for a configuration that is wrong', async () => {
    const { code, out, err } = await run('config', 'x: 1');
    assert.deepEqual([code, out], [2, '']);
    assert.match(err, /^cardea\.yaml:1:1 x: unknown key/);
  });
});

describe('called without knowing how', () => {
  for (const line of ['', 'help', '--help', '-h']) {
    test(`"cardea ${line}" teaches`, async () => {
      const { code, out, err } = await run(line, '');
      assert.deepEqual([code, err], [0, '']);
      assert.match(out, /Usage: cardea COMMAND/);
      assert.match(out, /\n {2}check {4}Says everything that is wrong with a configuration\n/);
    });
  }
  for (const line of ['check --help', 'help check', 'check --json -h']) {
    test(`"cardea ${line}" says what there is to know of check`, async () => {
      const { code, out } = await run(line, '');
      assert.equal(code, 0);
      assert.match(out, /^Usage: cardea check \[--config FILE\] \[--connect\] \[--json\]\n/);
      assert.match(out, /\nExit: 0 valid · 2 problems\n$/);
    });
  }
  const wrong: readonly (readonly [string, string])[] = [
    ['chekc', 'cardea: no command "chekc". Did you mean "cardea check"?\n'],
    ['help chekc', 'cardea: no command "chekc". Did you mean "cardea check"?\n'],
    ['frobnicate', 'cardea: no command "frobnicate". "cardea help" lists the commands.\n'],
    ['--config x', 'cardea: no command "--config". Did you mean "cardea config"?\n'],
  ];
  for (const [line, said] of wrong) {
    test(`"cardea ${line}" is an error that helps`, async () => {
      const { code, out, err } = await run(line, '');
      assert.deepEqual([code, out, err], [2, '', said]);
    });
  }
  test('every slip in the flags is said at once, with how it is called', async () => {
    const { code, err } = await run('check --conect x --json=1 --config', '');
    assert.equal(
      err,
      `cardea check: unknown flag --conect; did you mean --connect?
cardea check: --json takes no value
cardea check: --config needs a value
cardea check: unexpected "x"
Usage: cardea check [--config FILE] [--connect] [--json]
`,
    );
    assert.equal(code, 2);
  });
});
