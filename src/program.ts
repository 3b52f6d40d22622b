import { readFile } from 'node:fs/promises';
import pino from 'pino';
import type { ValidConfig } from './cli/check.ts';
import { runCommand } from './cli/help.ts';
import { serveCommand } from './cli/serve.ts';
import { type World, startDaemon } from './daemon.ts';
import { collectGarbage, collectYoung, favourMemory, youngBytes } from './daemon/garbage.ts';
import { favourMemoryWhileGrowing } from './daemon/growth.ts';
import type { HeldSignal } from './daemon/held-signals.ts';
import { consoleNotice } from './daemon/places.ts';
import { processNotices } from './daemon/process-notices.ts';
import type { Load } from './daemon/reload.ts';
import { collectAtRest, LARGEST_HEAP } from './daemon/rest.ts';
import { byTurn } from './observe/by-turn.ts';
import { createSystemClock } from './observe/system-clock.ts';

const clock = createSystemClock();
/** One-shot commands speak for themselves: their pipeline logs nothing. */
const quiet: World = { clock, log: { write: () => undefined } };

/**
 * Runs what the command line asks for; resolves to the exit code.
 * @param early signals that a daemon obeys and that may have come already.
 */
export async function runProgram(early: readonly HeldSignal[]): Promise<number> {
  // A daemon keeps what it loads for as long as it runs: the other commands are loaded where one of them, or the help, is asked for.
  const others = process.argv[2] === 'serve' ? [] : (await import('./commands.ts')).commandsIn(quiet);
  const serving = serveCommand((config, load) => serve(config, load, early));
  return runCommand([serving, ...others], {
    argv: process.argv.slice(2),
    env: process.env,
    cwd: process.cwd(),
    stdout: process.stdout,
    stderr: process.stderr,
    readFile,
  });
}

/** Runs the daemon under this process's signals until it has drained. */
async function serve(config: ValidConfig, load: Load, early: readonly HeldSignal[]): Promise<number> {
  // What reading a large configuration has left is collected while nobody waits: later it would take a second from those who do.
  if (process.memoryUsage().heapUsed > LARGEST_HEAP) collectGarbage();
  // Synchronous, and flushed at the end: the last lines before it are the ones that explain it.
  const log = byTurn(pino.destination({ dest: 1, sync: true }), { clock, atEndOfTurn: setImmediate });
  process.once('exit', log.flush);
  const stop = signalled(['SIGTERM', 'SIGINT']);
  const daemon = await startDaemon(config, { clock, log }, load);
  log.flush();
  process.stdout.write(`${JSON.stringify(daemon.started)}\n`);
  for (const notice of [...processNotices(process), ...consoleNotice(daemon.started, config.settings)])
    daemon.observer.record(notice);
  // Nothing keeps it, so this is the one time that it can be read.
  if (daemon.token !== null) process.stdout.write(`${JSON.stringify({ msg: 'admin token', token: daemon.token })}\n`);
  const obey = (signal: NodeJS.Signals): void => {
    if (signal === 'SIGUSR2') daemon.stopAll(signal);
    else void daemon.reload('SIGHUP');
  };
  for (const signal of early) signal.deliverTo(obey);
  const stopCollecting = collectAtRest({
    clock,
    used,
    heapBytes: () => process.memoryUsage().heapUsed,
    collect: collectGarbage,
    youngBytes,
    collectYoung,
  });
  const stopLooking = favourMemoryWhileGrowing({ clock, stored: () => daemon.storedBytes(), favourMemory });
  const why = await Promise.race([stop, daemon.drained.then(() => null)]);
  if (why !== null) daemon.observer.record({ kind: 'notice', level: 'info', msg: `${why}: draining` });
  stopCollecting();
  stopLooking();
  await daemon.drain();
  return 0;
}

/** The CPU time of this process, in ms. */
function used(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Resolves to the first of the signals; a second one ends the process at once. */
function signalled(signals: readonly ('SIGTERM' | 'SIGINT')[]): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of signals) {
      process.once(signal, () => {
        for (const each of signals) process.once(each, () => process.exit(1));
        resolve(signal);
      });
    }
  });
}
