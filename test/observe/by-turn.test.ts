import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byTurn } from '../../src/observe/by-turn.ts';

function start() {
  const written: string[] = [];
  const turns: (() => void)[] = [];
  const lines = byTurn({ write: (text) => void written.push(text) }, (run) => turns.push(run));
  const endTurn = (): void => turns.splice(0).forEach((run) => run());
  return { lines, written, turns, endTurn };
}

test('the lines of one turn are one write, in their order', () => {
  const { lines, written, turns, endTurn } = start();
  lines.write('a\n');
  lines.write('b\n');
  assert.deepEqual(written, []);
  assert.equal(turns.length, 1);
  endTurn();
  lines.write('c\n');
  endTurn();
  assert.deepEqual(written, ['a\nb\n', 'c\n']);
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
