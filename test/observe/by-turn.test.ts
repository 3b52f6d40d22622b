import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ms } from '../../src/kernel/units.ts';
import { byTurn } from '../../src/observe/by-turn.ts';
import { FakeClock } from '../support/fake-clock.ts';

function start() {
  const written: string[] = [];
  const turns: (() => void)[] = [];
  const clock = new FakeClock();
  const lines = byTurn({ write: (text) => void written.push(text) }, { clock, atEndOfTurn: (run) => turns.push(run) });
  const endTurn = (): void => turns.splice(0).forEach((run) => run());
  return { lines, written, turns, endTurn, clock };
}

test('the lines of one turn are one write, in their order', async () => {
  const { lines, written, turns, endTurn, clock } = start();
  lines.write('a\n');
  lines.write('b\n');
  assert.deepEqual(written, []);
  assert.equal(turns.length, 1);
  endTurn();
  await clock.advance(ms(20));
  lines.write('c\n');
  endTurn();
  assert.deepEqual(written, ['a\nb\n', 'c\n']);
});

test('those of turns that follow closely are one write, 20 ms after the one before', async () => {
  const { lines, written, turns, endTurn, clock } = start();
  lines.write('a\n');
  endTurn();
  for (const line of ['b\n', 'c\n']) {
    lines.write(line);
    endTurn();
  }
  assert.equal(turns.length, 0);
  await clock.advance(ms(19));
  assert.deepEqual(written, ['a\n']);
  await clock.advance(ms(1));
  assert.deepEqual(written, ['a\n', 'b\nc\n']);
  lines.write('d\n');
  await clock.advance(ms(20));
  assert.deepEqual(written, ['a\n', 'b\nc\n', 'd\n']);
  await clock.advance(ms(20));
  lines.write('e\n');
  endTurn();
  assert.deepEqual(written.at(-1), 'e\n', 'after a pause without lines the next one does not wait');
});

test('what was flushed in a pause is not written again, and nothing is lost behind it', async () => {
  const { lines, written, endTurn, clock } = start();
  lines.write('a\n');
  endTurn();
  lines.write('b\n');
  lines.flush();
  await clock.advance(ms(20));
  lines.write('c\n');
  endTurn();
  assert.deepEqual(written, ['a\n', 'b\n', 'c\n']);
});

test('what waits can be written before the end, once', () => {
  const { lines, written, endTurn } = start();
  lines.write('a\n');
  lines.flush();
  lines.flush();
  endTurn();
  assert.deepEqual(written, ['a\n']);
});

test('a long turn heaps nothing up', () => {
  const { lines, written, endTurn } = start();
  lines.write('x'.repeat(65_536));
  assert.equal(written.length, 0);
  lines.write('y');
  assert.deepEqual(
    written.map((text) => text.length),
    [65_537],
  );
  lines.write('z');
  endTurn();
  assert.deepEqual(written.at(-1), 'z');
});

test('lines are made when they are written, in their order, and before the end at the latest', async () => {
  const { lines, written, turns, endTurn, clock } = start();
  const made: string[] = [];
  const say = (text: string): void =>
    lines.soon(() => {
      made.push(text);
      lines.write(`${text}\n`);
    });
  say('a');
  say('b');
  assert.deepEqual([made, turns.length], [[], 1]);
  endTurn();
  assert.deepEqual(written, ['a\nb\n']);
  say('c');
  assert.deepEqual(made, ['a', 'b'], 'in the pause');
  await clock.advance(ms(20));
  assert.deepEqual(written, ['a\nb\n', 'c\n']);
  say('d');
  lines.flush();
  await clock.advance(ms(40));
  endTurn();
  assert.deepEqual(written, ['a\nb\n', 'c\n', 'd\n'], 'once');
});

test('no more than 64 wait to be made', () => {
  const { lines, written } = start();
  for (let count = 0; count < 64; count += 1) lines.soon(() => lines.write('x'));
  assert.deepEqual(written, []);
  lines.soon(() => lines.write('y'));
  assert.deepEqual(written, [`${'x'.repeat(64)}y`]);
});
