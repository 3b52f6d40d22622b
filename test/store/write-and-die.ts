import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Lets a process write until it has said some number of acknowledgements, then kills it where it stands; returns what it said. */
export async function writeAndDie(writer: string, folder: string, round: number): Promise<readonly string[]> {
  const child = spawn(process.execPath, [writer, folder, String(round)], { stdio: ['ignore', 'pipe', 'inherit'] });
  // Somewhere within a turn of writing, and in some rounds before the first has ended.
  const enough = Math.floor(Math.random() * 12);
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    if (said.split('\n').length - 2 >= enough) setTimeout(() => child.kill('SIGKILL'), Math.random() * 3);
  });
  const [, signal] = await once(child, 'close');
  assert.equal(signal, 'SIGKILL');
  return said.split('\n').filter((line) => line !== 'ready' && line !== '');
}
