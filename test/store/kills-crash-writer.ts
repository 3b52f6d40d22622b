import { writeSync } from 'node:fs';
import { tag } from '../../src/kernel/ids.ts';
import { epochMs } from '../../src/kernel/units.ts';
import { createSystemClock } from '../../src/observe/system-clock.ts';
import { openKills } from '../../src/store/kills.ts';

/* A process that stops one thing after the other and lifts every other one, until it is killed, and says what was acknowledged. */

const [, , folder = '', round = ''] = process.argv;
const { book } = await openKills(folder, createSystemClock());
// Straight to the descriptor: what a stream holds back was never said.
const say = (line: string): void => void writeSync(1, `${line}\n`);
say('ready');
for (let n = 0; ; n += 1) {
  const id = `${round}-${n}`;
  const error = await book.put({ id, scope: tag(`tenant:${id}`), reason: 'x', by: 'admin', at: epochMs(n) });
  if (error !== null) process.exit(3);
  say(`killed ${id}`);
  if (n % 2 === 0) continue;
  say(`lifting ${id}`);
  if ((await book.remove(id)) !== null) process.exit(3);
  say(`lifted ${id}`);
}
