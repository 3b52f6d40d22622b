import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { World } from '../support/world.ts';

const SCRIPT = path.resolve(import.meta.dirname, '../../deploy/kustomize/example/base/agent.mjs');
const meet = async (base: string): Promise<string> =>
  (await promisify(execFile)(process.execPath, [SCRIPT, '--once'], { env: { PEER: base } })).stdout;

test('the sample agent finds its peer through Cardea, and does not fall over where it cannot', async () => {
  const world = await World.start();
  try {
    assert.match(await meet(`${world.base}/agents/weather/`), /^Weather 1\.0\.0 \(unsigned/);
    assert.match(await meet(`${world.base}/agents/stranger/`), /^no card: unknown-agent: /);
  } finally {
    await world.stop();
  }
  assert.match(await meet(`${world.base}/agents/weather/`), /^Cardea does not answer: /);
});
