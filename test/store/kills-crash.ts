import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { createSystemClock } from '../../src/observe/system-clock.ts';
import { openKills } from '../../src/store/kills.ts';
import { writeAndDie } from './write-and-die.ts';

const WRITER = fileURLToPath(new URL('kills-crash-writer.ts', import.meta.url));

/** What a process said before it was killed: which kills are surely in force, which surely lifted, and which one it was about. */
interface Said {
  readonly inForce: Set<string>;
  readonly lifted: Set<string>;
}

/** Kills a process that stops and lifts after each of `rounds`, and looks at what a start would find. Returns how much was acknowledged. */
export async function killsCrashRounds(folder: string, rounds: number): Promise<number> {
  const said: Said = { inForce: new Set(), lifted: new Set() };
  let acknowledged = 0;
  for (let round = 0; round < rounds; round += 1) {
    const lines = await writeAndDie(WRITER, folder, round);
    acknowledged += lines.length;
    for (const line of lines) note(said, line);
    await checkFolder(folder, said);
  }
  return acknowledged;
}

function note({ inForce, lifted }: Said, line: string): void {
  const [what, id = ''] = line.split(' ');
  if (what === 'killed') inForce.add(id);
  if (what === 'lifting') inForce.delete(id); // it may be either from here on
  if (what === 'lifted') lifted.add(id);
}

/** A start finds every kill that was acknowledged, none that was lifted, and never a record that it cannot believe. */
async function checkFolder(folder: string, { inForce, lifted }: Said): Promise<void> {
  const { book, notices } = await openKills(folder, createSystemClock());
  assert.deepEqual(notices, []);
  const found = new Set(book.active().map(({ id }) => id));
  for (const id of inForce) assert.ok(found.has(id), `${id} was acknowledged and is lost`);
  for (const id of lifted) assert.ok(!found.has(id), `${id} was lifted and is back`);
}
