import { setTimeout as pause } from 'node:timers/promises';
import { type AdminCall, adminCommand, isRecord, listOf } from './admin-command.ts';
import type { Io } from './command.ts';
import { cell, instant, paint, span, table, widthOf } from './terminal.ts';

const FLAGS = { watch: { takes: null, doc: 'Shows it again every two seconds until you stop it.' } } as const;

const EVERY = 2_000;

/** `cardea status`: how every agent's card stands, and what is stopped. */
export const statusCommand = adminCommand({
  name: 'status',
  operands: '',
  count: { least: 0, most: 0 },
  summary: 'Shows how every card stands, and what is stopped',
  help: '  cardea status --watch',
  flags: FLAGS,
  run: runStatus,
});

async function runStatus(call: AdminCall<typeof FLAGS>): Promise<number> {
  const code = await showStatus(call);
  if (!call.flags.watch) return code;
  for (;;) {
    await pause(EVERY);
    if (!call.flags.json) call.io.stdout.write('\u001b[H\u001b[2J'); // from the top of a cleared screen
    await showStatus(call);
  }
}

async function showStatus({ ask, flags, io, fail }: AdminCall<typeof FLAGS>): Promise<number> {
  const agents = await ask('GET', '/agents');
  if (agents.status !== 200) return fail(agents);
  const kills = await ask('GET', '/kill');
  if (kills.status !== 200) return fail(kills);
  const shown = { agents: listOf(agents.text, 'agents'), kills: listOf(kills.text, 'kills') };
  if (flags.json) io.stdout.write(`${JSON.stringify(shown)}\n`);
  else io.stdout.write(killLines(shown.kills, io) + agentTable(shown.agents, Date.now(), widthOf(io)));
  return 0;
}

type Row = Readonly<Record<string, unknown>>;

const killLines = (kills: readonly Row[], io: Io): string =>
  kills
    .map(
      ({ id, scope, by, at, reason }) =>
        `${paint('red', 'STOPPED', io)} ${cell(scope)} by ${cell(by)} since ${instant(at)}: ${cell(reason)} (${cell(id)})\n`,
    )
    .join('');

function agentTable(agents: readonly Row[], now: number, width: number): string {
  if (agents.length === 0) return 'no agents\n';
  const hasRegistry = agents.some(({ registry }) => isRecord(registry));
  const head = ['AGENT', 'STATE', 'FOR', 'SIGNATURE', 'VERSION', 'A2A', 'LAST SUCCESS', 'LAST FAILURE'];
  const rows = agents.map((agent) => {
    const { agent: name, state, signature, version, protocolVersion, lastSuccess, setback } = agent;
    const failure = isRecord(setback) ? `${cell(setback['code'])}: ${cell(setback['detail'])}` : '-';
    return [
      cell(name),
      cell(state),
      stateFor(agent, now),
      cell(signature),
      cell(version),
      cell(protocolVersion),
      instant(lastSuccess),
      failure,
      ...(hasRegistry ? [registryCell(agent['registry'], now)] : []),
    ];
  });
  return table([[...head, ...(hasRegistry ? ['REGISTRY'] : [])], ...rows], width);
}

/** What an agent's registry says of it, and how long ago it was had. */
function registryCell(registry: unknown, now: number): string {
  if (!isRecord(registry)) return '-';
  const { name, id, status, at } = registry;
  const had = typeof at === 'number' && at > 0 ? `${span(Math.max(0, now - at))} ago` : 'never had';
  return `${cell(status)}, ${had} (${cell(name)} ${cell(id)})`;
}

/** How long the state will last, or has lasted. */
function stateFor({ state, freshUntil, staleSince }: Row, now: number): string {
  if (state === 'fresh' && typeof freshUntil === 'number' && freshUntil > now) return span(freshUntil - now);
  if (typeof staleSince === 'number' && staleSince > 0 && (state === 'stale' || state === 'expired'))
    return span(now - staleSince);
  return '-';
}
