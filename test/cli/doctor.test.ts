import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { doctorCommand } from '../../src/cli/doctor.ts';
import type { Answered, Asked, Finding } from '../../src/cli/findings.ts';
import { clockFinding, originFindings } from '../../src/cli/findings.ts';
import { runCommand } from '../../src/cli/help.ts';
import { examineBy } from '../../src/examine.ts';
import { createSystemClock } from '../../src/observe/system-clock.ts';
import { makeAuthority } from '../support/certificates.ts';
import { type Behave, type OriginServer, startOrigin } from '../support/origin-server.ts';
import { CARD, answers, fails } from '../support/world.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'cardea-doctor-'));
const open: OriginServer[] = [];
after(async () => {
  await Promise.all(open.map((origin) => origin.close()));
  rmSync(folder, { recursive: true });
});

/** An origin that is there until the tests have ended. */
async function originThat(behave: Behave, options: Parameters<typeof startOrigin>[1] = {}): Promise<OriginServer> {
  const origin = await startOrigin(behave, options);
  open.push(origin);
  return origin;
}

const doctor = doctorCommand(examineBy({ clock: createSystemClock(), log: { write: () => undefined } }));

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the doctor over a configuration, on a terminal or into a file. */
async function run(config: string, { flags = [] as readonly string[], terminal = false } = {}): Promise<Ran> {
  const file = path.join(folder, 'cardea.yaml');
  writeFileSync(file, config);
  const written = { out: '', err: '' };
  const code = await runCommand([doctor], {
    argv: ['doctor', '--config', file, ...flags],
    env: {},
    cwd: folder,
    stdout: Object.assign({ write: (more: string) => (written.out += more) }, { isTTY: terminal }),
    stderr: Object.assign({ write: (more: string) => (written.err += more) }, { isTTY: terminal }),
    readFile,
  });
  return { code, ...written };
}

async function findings(config: string): Promise<readonly Finding[]> {
  const { out } = await run(config, { flags: ['--json'] });
  return (JSON.parse(out) as { findings: readonly Finding[] }).findings;
}

const LOCAL = 'unsafeAddresses: [127.0.0.1/32]';
const agentAt = ({ url }: OriginServer, more = ''): string =>
  `state: memory\nagents:\n  weather: { origin: "${url}", unsafeCleartext: true, ${LOCAL}${more} }\n`;

/** Asks a doctor about one origin that behaves like this. */
async function visit(behave: Behave): Promise<Ran> {
  return run(agentAt(await originThat(behave)));
}

const html =
  (body: string, fields: http.OutgoingHttpHeaders): Behave =>
  (_request, response) => {
    response.writeHead(200, fields);
    response.end(body);
  };

describe('cardea doctor', () => {
  test('says what works, and ends with 0', async () => {
    const { code, out } = await visit(answers(CARD));
    assert.equal(code, 0, out);
    for (const line of [
      /^ok {3}configuration: .*cardea\.yaml is valid$/m,
      /^look disk state: nothing outlives a restart/m,
      /^ok {3}dns weather: resolves to 127\.0\.0\.1$/m,
      /^ok {3}origin weather: its card is accepted$/m,
      /^ok {3}clock 127\.0\.0\.1:\d+: tells the same time$/m,
      /^everything that was looked at works$/m,
    ])
      assert.match(out, line);
  });

  test('names a URL that only this machine reaches', async () => {
    const { out } = await visit(answers(CARD));
    assert.match(
      out,
      /^look dns weather: 127\.0\.0\.1 means something on this machine or in this network alone\n +In a Pod/m,
    );
  });

  const LOGIN = '<!DOCTYPE html><title>Sign in</title>';
  const FAILING: readonly (readonly [string, Behave, RegExp])[] = [
    [
      'a login page by its type',
      html(LOGIN, { 'Content-Type': 'text/html' }),
      /with an HTML page instead of a card: a login page or a portal/,
    ],
    [
      'a login page that says it is JSON',
      html(LOGIN, { 'Content-Type': 'application/json' }),
      /an HTML page instead of a card/,
    ],
    ['one that wants credentials', fails(401, { 'WWW-Authenticate': 'Bearer' }), /answers 401: it wants credentials/],
    ['one without a card', fails(404), /answers 404: there is no card/],
    ['one that fails', fails(503), /origin-status: /],
    [
      'one that answers something else',
      answers('{"hello":1}'),
      /FAIL origin weather: (card-invalid|unsupported-version): /,
    ],
    [
      'a redirect to a login elsewhere',
      fails(302, { Location: 'https://login.example.com/authorize' }),
      /FAIL origin weather: .*login\.example\.com.*\n +Is it a redirect to a login\?/,
    ],
  ];
  for (const [what, behave, line] of FAILING) {
    test(`names ${what}`, async () => {
      const { code, out } = await visit(behave);
      assert.equal(code, 1);
      assert.match(out, line);
      assert.match(out, /^1 thing to mend$/m);
    });
  }

  test('names a private CA as such, and accepts it once it is written down', async () => {
    const authority = makeAuthority();
    const origin = await originThat(answers(CARD), { tls: authority.issue({ names: ['127.0.0.1'] }) });
    const ca = path.join(folder, 'ca.pem');
    writeFileSync(ca, authority.cert);
    const config = `state: memory\nagents:\n  weather: { origin: "${origin.url.replace('http:', 'https:')}", ${LOCAL} }\n`;
    const without = await run(config);
    assert.equal(without.code, 1);
    assert.match(
      without.out,
      /FAIL tls weather: .*\n +A private CA, or a proxy that opens TLS, signed it: .* tls\.ca of this agent/,
    );
    const withIt = await run(config.replace(LOCAL, `${LOCAL}, tls: { ca: ${ca} }`));
    assert.match(withIt.out, /^ok {3}tls weather: the certificate holds$/m);
    assert.equal(withIt.code, 0, withIt.out);
  });

  test('names a name that does not resolve', async () => {
    const found = await findings('state: memory\nagents: { weather: { origin: "https://no-such-host.invalid" } }\n');
    const dns = found.find(({ area, level }) => area === 'dns' && level === 'fail');
    assert.match(dns?.found ?? '', /no-such-host\.invalid/);
    assert.match(dns?.mend ?? '', /only a laptop or a VPN resolves/);
  });

  test('names a clock that is wrong', async () => {
    const origin = await originThat((request, response) => {
      response.setHeader('Date', new Date(Date.now() - 3_600_000).toUTCString());
      answers(CARD)(request, response);
    });
    const { code, out } = await run(agentAt(origin));
    assert.equal(code, 1);
    assert.match(out, /FAIL clock 127\.0\.0\.1:\d+: this clock is 3\d{3} s ahead of the origin's/);
  });

  test('names keys that cannot be had', async () => {
    const origin = await originThat(answers(CARD));
    const keys = `keys: { example: { jwks: "https://no-such-host.invalid/jwks.json" } }\n`;
    const { code, out } = await run(keys + agentAt(origin, ', keys: [example]'));
    assert.equal(code, 1);
    assert.match(out, /^FAIL keys example: its keys cannot be had$/m);
  });

  test('looks at nothing else before the configuration holds', async () => {
    const { code, out } = await run('agents: { weather: { orign: "https://a.example" } }\n');
    assert.equal(code, 1);
    assert.match(out, /FAIL configuration: .*cardea\.yaml:1:\d+ agents\.weather\.orign: .*did you mean origin/);
    assert.doesNotMatch(out, /disk|dns/);
  });

  test('finds a state folder that cannot be made, and a kill file that is there', async () => {
    writeFileSync(path.join(folder, 'KILL'), '');
    const found = await findings(`state: ${folder}/KILL/state\nkill: { file: ${folder}/KILL }\nagents: {}\n`);
    assert.ok(found.some(({ area, level }) => area === 'disk' && level === 'fail'));
    assert.ok(found.some(({ area, found: what }) => area === 'disk' && what.startsWith('the kill file is there')));
  });

  test('leaves nothing in the state folder', async () => {
    const state = mkdtempSync(path.join(folder, 'state-'));
    const found = await findings(`state: ${state}\nagents: {}\n`);
    assert.match(found.find(({ area }) => area === 'disk')?.found ?? '', /^can be written; \d+ MiB are free$/);
    assert.deepEqual(readdirSync(state), []);
  });

  test('is coloured and shows its progress on a terminal alone', async () => {
    const origin = await originThat(answers(CARD));
    const shown = await run(agentAt(origin), { terminal: true });
    const piped = await run(agentAt(origin));
    assert.ok(shown.out.includes('\u001b[32mok  \u001b[39m'));
    assert.match(shown.err, /asking for the card of weather …/);
    assert.ok(!piped.out.includes('\u001b'));
    assert.equal(piped.err, '');
  });
});

describe('what an answer means', () => {
  const answered: Answered = {
    kind: 'answered',
    status: 200,
    finalUrl: 'https://a.example/card',
    contentType: 'application/json',
    start: '{',
    ahead: 0,
  };
  const asked: Asked = {
    agent: 'a',
    url: 'https://a.example/card',
    addresses: ['192.0.2.1'],
    answer: answered,
    refused: null,
  };

  test('a good one: three that work, nothing to mend', () => {
    assert.deepEqual(
      originFindings(asked).map(({ area, level, mend }) => [area, level, mend]),
      [
        ['dns', 'ok', null],
        ['tls', 'ok', null],
        ['origin', 'ok', null],
      ],
    );
  });

  test('each that is not good says what to change', () => {
    for (const code of ['dns-failed', 'tls-failed', 'redirect-refused', 'origin-timeout', 'address-forbidden']) {
      const found = originFindings({ ...asked, answer: { kind: 'refused', code, detail: 'why' } });
      const failed = found.filter(({ level }) => level === 'fail');
      assert.equal(failed.length, 1, code);
      assert.ok((failed[0]?.mend ?? '').length > 20, code);
    }
  });

  const clocks: readonly (readonly [string, readonly number[], Finding['level'] | undefined])[] = [
    ['no origin told the time', [], undefined],
    ['59 s', [59_999], 'ok'],
    ['60 s', [60_000], 'look'],
    ['under five minutes behind', [-299_999], 'look'],
    ['five minutes', [300_000], 'fail'],
    ['one wrong origin beside a good one', [9_000_000, -1_000], 'ok'],
  ];
  for (const [name, ahead, level] of clocks) {
    test(`the clock: ${name}`, () => {
      const all = ahead.map((each) => ({ ...asked, answer: { ...answered, ahead: each } }));
      assert.equal(clockFinding(all)?.level, level);
    });
  }
});

test('the command is one that the program has', () => {
  assert.match(readFileSync(path.resolve(import.meta.dirname, '../../src/commands.ts'), 'utf8'), /doctorCommand\(/);
});
