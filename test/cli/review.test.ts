import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ADMIN_COMMANDS } from '../../src/cli/admin-commands.ts';
import { runCommand } from '../../src/cli/help.ts';
import { readFrom } from '../support/config.ts';
import { BASE, MOVED, Reviewing, SENDS, seen } from '../scenarios/review-world.ts';

let at: Reviewing;
before(async () => {
  at = await Reviewing.start(BASE);
  await at.world.card();
});
after(() => at.world.stop());

/** Runs a command line against the daemon of this test. */
async function run(line: string): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  let [out, err] = ['', ''];
  const admin = String(at.world.daemon.started.admin[0]);
  const files = new Map([['/srv/token', new TextEncoder().encode(String(at.world.daemon.token))]]);
  const code = await runCommand(ADMIN_COMMANDS, {
    argv: [...line.split(' '), '--admin', admin, '--token-file', 'token'],
    env: { COLUMNS: '90' },
    cwd: '/srv',
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
    readFile: readFrom(files),
  });
  await at.world.quiet();
  return { code, out, err };
}

describe('a review in the terminal', () => {
  test('nothing waits', async () => {
    assert.deepEqual(await run('review'), { code: 0, out: 'nothing waits\n', err: '' });
    assert.deepEqual(await run('review weather'), { code: 0, out: 'nothing waits\n', err: '' });
    const unknown = await run('review stranger');
    assert.deepEqual([unknown.code, unknown.err.includes('unknown-agent')], [1, true]);
  });

  test('what waits is listed, shown within the width, and what to type', async () => {
    await at.offers(SENDS);
    const listed = await run('review');
    assert.match(listed.out, /^AGENT +A2A +WHY +SINCE +CHANGES +DIGEST\nweather +any +held +\S+Z +skill-text +sha256:/);
    const { out } = await run('review weather');
    assert.match(out, /^weather: sha256:[0-9a-f]{64}\n/);
    assert.match(out, /skill-text\n {2}\/skills\/0\/description {2}\(new: sends; action: hold\)\n/);
    assert.match(out, /\[-place\.-\]/);
    assert.match(out, /cardea approve weather sha256:\w+ --reason "…"/);
    const body = out.split('\n').filter((line) => !/sha256|^from/.test(line));
    assert.ok(
      body.every((line) => line.length <= 90),
      out,
    );
    assert.match((await run('explain weather')).out, /Not taken: sha256:\w+, it waits for review \(skill-text\)/);
  });

  test('the line for the pins, and nothing is decided by it', async () => {
    const digest = /sha256:[0-9a-f]{64}/.exec((await run('review weather')).out)?.[0] ?? '';
    assert.deepEqual(await run(`approve weather ${digest} --print --reason read`), {
      code: 0,
      out: `weather: ["${digest}"] # read\n`,
      err: '',
    });
    assert.equal((await run(`approve weather sha256:${'0'.repeat(64)} --print`)).code, 1);
    assert.match(seen(await at.world.card()), /^held /);
  });

  test('a decision needs a reason and a digest that is offered', async () => {
    const digest = /sha256:[0-9a-f]{64}/.exec((await run('review weather')).out)?.[0] ?? '';
    assert.match((await run(`approve weather ${digest}`)).err, /reason must say why/);
    assert.match(
      (await run(`approve weather sha256:${'0'.repeat(64)} --reason x`)).err,
      /conflict: weather does not offer/,
    );
    assert.equal((await run(`approve weather ${digest} --reason seen`)).out, `weather: ${digest} is in force\n`);
    assert.match(seen(await at.world.card()), /^approved /);
    assert.match((await run('explain weather')).out, /In force: sha256:\w+, approved by a person\./);
  });

  test('a stranger’s text moves no cursor, turns no line round and hides nothing', async () => {
    const hostile = '\u001b[2J\u001b]0;x\u0007\u202eevil\u200b\u2028\r\u009b31m';
    const skills = [{ ...BASE.skills[0], description: `Sends it ${hostile}`, tags: [hostile] }];
    const { securitySchemes } = {
      securitySchemes: { [hostile]: { apiKeySecurityScheme: { location: 'header', name: hostile } } },
    };
    await at.offers({ ...BASE, name: hostile, version: hostile, skills, securitySchemes });
    for (const line of ['review', 'review weather', 'explain weather', 'status', 'receipts']) {
      const { out, err } = await run(line);
      assert.doesNotMatch(out + err, /[\p{Cf}\p{Zl}\p{Zp}]|(?!\n)\p{Cc}/u, line);
    }
    assert.match((await run('review weather')).out, /\\u\{1b\}\[2J/);
    await at.offers(BASE);
  });

  test('a rejection, and what is suspended meanwhile', async () => {
    await at.offers(MOVED);
    const { out } = await run('review weather');
    assert.match(out, /^A change of endpoint waits for review/);
    const digest = /weather: (sha256:[0-9a-f]{64})/.exec(out)?.[1] ?? '';
    assert.equal((await run(`reject weather ${digest} --reason no`)).code, 0);
    assert.equal((await run('review')).out, 'nothing waits\n');
  });
});
