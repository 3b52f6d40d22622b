import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { SERVER_CPU, WITH_SBIN, onCpu } from './machine.ts';
import type { Scratch } from './scratch.ts';

/** A program that runs as a process of its own. */
export interface Running {
  readonly pid: number;
  /** The first line that it wrote with the wanted text in it. */
  readonly said: string;
  /** Asks what is loaded into it beside its own, where there is a channel. */
  ask(order: string): Promise<unknown>;
  end(): Promise<void>;
}

/** How long a program may take to say that it runs, and to end: a hundred thousand agents take a while. */
const PATIENCE_MS = 180_000;

export interface Command {
  readonly line: readonly [string, ...string[]];
  /** What the line has in it by which it says that it runs. */
  readonly awaits?: string;
  /** Where a program listens that says nothing. */
  readonly port?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Whether a channel to it is wanted. */
  readonly channel?: boolean;
  /** The CPU to stay on, before all else there; null for an ordinary process. */
  readonly cpu?: number | null;
}

/** Starts a program and waits for its line. It is ended with the scratch folder, if not before. */
export async function start(command: Command, scratch: Scratch): Promise<Running> {
  const { awaits, port, env = {}, cpu = SERVER_CPU } = command;
  const [program, ...args] = cpu === null ? command.line : onCpu(cpu, command.line);
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe', command.channel === true ? 'ipc' : 'ignore'],
    env: { ...WITH_SBIN, ...env },
  });
  const errors: string[] = [];
  child.stderr?.on('data', (chunk: Buffer) => void errors.push(chunk.toString()));
  scratch.later(() => end(child));
  const said = await Promise.race([
    awaits === undefined ? listening(port ?? 0, child) : lineOf(child, awaits),
    timeUp(args.join(' '), errors),
  ]);
  child.stdout?.resume();
  const ask = async (order: string): Promise<unknown> => {
    const answered = once(child, 'message');
    child.send(order);
    return (await answered)[0];
  };
  return { pid: child.pid ?? 0, said, ask, end: () => end(child) };
}

/** Until somebody accepts connections, or the program is gone. */
async function listening(port: number, child: ChildProcess): Promise<string> {
  while (child.exitCode === null && child.signalCode === null) {
    if (await connects(port)) return '';
    await pause(50);
  }
  throw new Error(`${child.spawnargs.join(' ')} ended before it listened`);
}

function connects(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    const settle = (answer: boolean) => (): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', settle(true)).once('error', settle(false));
  });
}

async function lineOf(child: ChildProcess, awaits: string): Promise<string> {
  if (child.stdout === null) throw new Error('no output to read');
  for await (const line of createInterface({ input: child.stdout })) if (line.includes(awaits)) return line;
  throw new Error(`${child.spawnargs.join(' ')} ended before it ran`);
}

async function timeUp(program: string, errors: readonly string[]): Promise<never> {
  await pause(PATIENCE_MS, undefined, { ref: false });
  throw new Error(`${program} does not say that it runs: ${errors.join('').slice(-500)}`);
}

/** By SIGTERM, then by SIGKILL. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const ended = await Promise.race([gone, pause(PATIENCE_MS, null, { ref: false })]);
  if (ended !== null) return;
  child.kill('SIGKILL');
  await gone;
}
