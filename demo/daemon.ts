import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

/** The command as a user has it. */
export const LAUNCHER = fileURLToPath(new URL('../bin/cardea', import.meta.url));

/** The start line, as far as the demo reads it. */
export interface Started {
  readonly agents: readonly [string];
  readonly ops: readonly [string];
  readonly pid: number;
}

/** Starts the daemon as a user would and waits for its start line. */
export async function startDaemon(file: string): Promise<{ readonly daemon: ChildProcess; readonly started: Started }> {
  const child = spawn(LAUNCHER, ['serve', '--config', file], { stdio: ['ignore', 'pipe', 'inherit'] });
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`cardea ended with ${String(code)} before it had started`);
  });
  const first = await Promise.race([startLine(child.stdout), failed]);
  failed.catch(() => undefined); // its later exit is handled where the demo ends
  child.stdout.resume();
  return { daemon: child, started: first };
}

async function startLine(output: Readable): Promise<Started> {
  for await (const line of createInterface({ input: output })) {
    if (line.includes('"msg":"started"')) return JSON.parse(line) as Started;
  }
  throw new Error('cardea printed no start line');
}
