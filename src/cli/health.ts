import { unreachable } from './admin-command.ts';
import { createAdminClient } from './admin-client.ts';
import { JSON_FLAG, parseArgs } from './args.ts';
import type { Command, Io } from './command.ts';
import { DAEMON_FLAGS, findOps } from './find-daemon.ts';
import { usageProblems } from './help.ts';

const FLAGS = {
  require: { takes: 'AGENT', doc: 'With ready: asks for a servable card of this agent too.' },
  config: DAEMON_FLAGS.config,
  state: DAEMON_FLAGS.state,
  ops: { takes: 'ADDRESS', doc: 'Where its listener for operators is; else as daemon.json says.' },
  json: JSON_FLAG,
} as const;

const PATHS: Readonly<Record<string, string>> = { live: '/livez', ready: '/readyz', startup: '/startupz' };

/** `cardea health`: what a probe asks, for images that have no curl. */
export const healthCommand: Command = {
  name: 'health',
  operands: '[live|ready|startup]',
  summary: 'Asks the daemon whether it lives, is ready, or has started',
  help: 'It needs no token. In a manifest: exec: { command: [cardea, health, live] }',
  flags: FLAGS,
  settings: false,
  exits: '0 yes · 1 no · 2 called wrongly · 3 no daemon answers',
  run: runHealth,
};

async function runHealth(io: Io): Promise<number> {
  const args = parseArgs(io.argv, { flags: FLAGS, settings: false, operands: { least: 0, most: 1 } });
  if (!args.ok) return usageProblems(healthCommand, args.problems, io);
  const [probe = 'ready'] = args.operands;
  const { require, json } = args.flags;
  if (!Object.hasOwn(PATHS, probe)) return usageProblems(healthCommand, [`${JSON.stringify(probe)} is no probe`], io);
  const query = require === null || probe !== 'ready' ? '' : `?require=${encodeURIComponent(require)}`;
  try {
    const address = await findOps({ ...args.flags, admin: null, 'token-file': null }, io);
    const { status, text } = await createAdminClient(address)('GET', `${PATHS[probe]}${query}`);
    const ok = status === 200;
    if (json) io.stdout.write(`${JSON.stringify({ probe, ok, said: text.trimEnd().split('\n') })}\n`);
    else (ok ? io.stdout : io.stderr).write(text);
    return ok ? 0 : 1;
  } catch (error) {
    return unreachable('health', error, io);
  }
}
