import { type AdminCall, NEEDED_REASON, adminCommand, membersOf } from './admin-command.ts';
import { cell } from './terminal.ts';

const FLAGS = { reason: NEEDED_REASON } as const;

/** `cardea lift`: ends one stop. */
export const liftCommand = adminCommand({
  name: 'lift',
  operands: 'ID',
  count: { least: 1, most: 1 },
  summary: 'Ends a stop',
  help: `Other stops stay. While the kill file is there nothing is lifted: take it away first. "cardea status" lists what is stopped.

  cardea lift 0a1b2c3d --reason "the key was replaced"`,
  flags: FLAGS,
  run: runLift,
});

async function runLift({ ask, operands: [id = ''], flags, io, fail, show }: AdminCall<typeof FLAGS>): Promise<number> {
  const reply = await ask('DELETE', `/kill/${encodeURIComponent(id)}`, { reason: flags.reason ?? '' });
  if (reply.status !== 200) return fail(reply);
  const { kill, scope, error } = membersOf(reply.text);
  show(reply, () => `lifted ${cell(scope ?? kill)}\n`);
  if (error === undefined) return 0;
  io.stderr.write(`cardea lift: it is lifted, but a restart will stop it again: ${cell(error)}\n`);
  return 1;
}
