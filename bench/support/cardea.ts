import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type NodeName, nodeProgram } from './nodes.ts';
import { ROOT, SERVERS } from './places.ts';
import type { Scratch } from './scratch.ts';
import { type Running, start } from './server.ts';

/** Cardea as it is published: compiled, in a process of its own. */

export interface Cardea extends Running {
  /** Base URLs of its listeners. */
  readonly agents: string;
  readonly ops: string;
  readonly admin: string;
}

/** What makes an origin on loopback, over cleartext, one that may be dialled. */
export const REACH = 'unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32]';

/** Set for commands that another one runs, which has compiled the sources already. */
export const BUILT = 'BENCH_BUILT';

/** What the launchers give Node. */
export const FLAGS = ['--max-semi-space-size=16', '--no-allocation-site-pretenuring'] as const;
/** And what they put into its environment. */
export const ENVIRONMENT = { MALLOC_ARENA_MAX: '1' } as const;

/** Compiles the sources to dist/, once for a run. */
export function build(): void {
  if (process.env[BUILT] !== undefined) return;
  const { status } = spawnSync(process.execPath, [path.join(ROOT, 'scripts/build.mjs')], { stdio: 'inherit' });
  if (status !== 0) throw new Error('the sources do not compile');
}

/** Starts a daemon on free ports with these further lines of configuration; where its loop is watched, `ask` tells how late it is. */
export async function startCardea(
  config: string,
  node: NodeName,
  scratch: Scratch,
  { watchLoop = false } = {},
): Promise<Cardea> {
  const listen = 'listen: { agents: "127.0.0.1:0", ops: "127.0.0.1:0", admin: "127.0.0.1:0" }';
  const file = scratch.write(`cardea-${node}.yaml`, `${listen}\n${config}\n`);
  const watch = watchLoop ? ['--import', path.join(SERVERS, 'loop-delay.mjs')] : [];
  const line = [
    nodeProgram(node),
    ...FLAGS,
    ...watch,
    path.join(ROOT, 'dist/main.js'),
    'serve',
    '--config',
    file,
  ] as const;
  const running = await start(
    { line: [...line], env: ENVIRONMENT, awaits: '"msg":"started"', channel: watchLoop },
    scratch,
  );
  const said = JSON.parse(running.said) as Record<'agents' | 'ops' | 'admin', readonly string[]>;
  const base = (addresses: readonly string[]): string => `http://${addresses[0]}`;
  return { ...running, agents: base(said.agents), ops: base(said.ops), admin: base(said.admin) };
}

/** Waits until a daemon has come to rest after its start, as nearly every one has that is asked for something. */
export const rested = (): Promise<void> => pause(REST_MS);

/** It looks every 2 s; the first time it finds its start. */
const REST_MS = 6_000;

/** Where a named agent's card is. */
export const cardUrl = ({ agents }: Cardea, agent: string): string =>
  `${agents}/agents/${agent}/.well-known/agent-card.json`;
