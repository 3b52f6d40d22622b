import { type AdminCall, NEEDED_REASON, adminCommand, membersOf } from './admin-command.ts';
import { cell } from './terminal.ts';

const FLAGS = { reason: NEEDED_REASON } as const;

/** `cardea kill`: stops something, at once and until a person lifts it. */
export const killCommand = adminCommand({
  name: 'kill',
  operands: 'SCOPE',
  count: { least: 1, most: 1 },
  summary: 'Stops everything, or one agent, origin, tenant, principal or key',
  help: `It is in force on every connection within 100 ms and outlives a restart. What is stopped is also thrown away; after a lift
it is fetched and judged again. SIGUSR2 to the daemon and the kill file stop everything too.

  cardea kill all --reason "cards look forged"
  cardea kill agent:weather --reason "…"      origin:HOST  tenant:ID  principal:ISSUER#SUBJECT  kid:ID`,
  flags: FLAGS,
  exits: '0 stopped · 1 refused, or stopped but not written down · 2 called wrongly · 3 no daemon answers',
  run: runKill,
});

async function runKill({
  ask,
  operands: [scope = ''],
  flags,
  io,
  fail,
  show,
}: AdminCall<typeof FLAGS>): Promise<number> {
  const reply = await ask('POST', '/kill', { scope, reason: flags.reason ?? '' });
  if (reply.status !== 200) return fail(reply);
  const { id, scope: stopped, persisted, error } = membersOf(reply.text);
  show(reply, () => `stopped ${cell(stopped)}; to lift it: cardea lift ${cell(id)} --reason "…"\n`);
  if (persisted === true) return 0;
  io.stderr.write(
    `cardea kill: it is in force, but a restart will forget it${error === undefined ? '' : `: ${cell(error)}`}\n`,
  );
  return error === undefined ? 0 : 1;
}
