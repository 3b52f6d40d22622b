import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { asksFor } from '../../demo/prompt.ts';

const QUESTION = 'Put it in force? [Y/n] ';

/** A terminal at which somebody types this; null for one that ends the input. */
async function typed(line: string | null, isTTY = true): Promise<{ readonly yes: boolean; readonly shown: string }> {
  const [input, output] = [new PassThrough(), new PassThrough()].map((stream) => Object.assign(stream, { isTTY }));
  assert.ok(input && output);
  const shown = text(output);
  const answering = asksFor(QUESTION, { input, output });
  if (line === null) input.end();
  else input.write(line);
  const yes = await answering;
  output.end();
  return { yes, shown: await shown };
}

describe('the question of the tour', () => {
  for (const [line, yes] of [
    ['\n', true],
    ['y\n', true],
    ['Yes\n', true],
    ['n\n', false],
    ['  No, never\n', false],
    [null, false],
  ] as const)
    test(`${JSON.stringify(line)} is ${yes ? 'yes' : 'no'}`, async () => {
      const asked = await typed(line);
      assert.equal(asked.yes, yes);
      assert.ok(asked.shown.includes(QUESTION));
    });
  test('is not asked where nobody is', async () => {
    const asked = await typed('n\n', false);
    assert.deepEqual([asked.yes, asked.shown], [true, '']);
  });
});
