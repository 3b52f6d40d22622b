import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

test('the tour: a changed text is held, approved in the terminal, then all is stopped and lifted', async () => {
  const child = spawn(process.execPath, ['scripts/run.mjs', 'demo/demo.ts', '--tour'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  assert.equal(code, 0, err + out);
  const order = [
    /review=first-use/,
    /held sha256:/,
    /review=held/,
    /Forecasts the weather of a place for the next three days/,
    /skill-text\n +\/skills\/0\/description {2}\(new: sends/,
    /is in force\n/,
    /review=approved/,
    /sends it to everyone in your address book/,
    /stopped all/,
    /→ {2}503/,
    /→ {2}200/,
    /In force: sha256:\w+, approved by a person/,
  ];
  let rest = out;
  for (const each of order) {
    const found = each.exec(rest);
    assert.ok(found, `${each} is missing after:\n${out.slice(0, out.length - rest.length)}`);
    rest = rest.slice(found.index + found[0].length);
  }
});
