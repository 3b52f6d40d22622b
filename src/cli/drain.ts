import { type AdminCall, REASON_FLAG, adminCommand } from './admin-command.ts';
import { reasonBody } from './refresh.ts';

const FLAGS = { reason: REASON_FLAG } as const;

/** `cardea drain`: ends the daemon after what it has accepted. */
export const drainCommand = adminCommand({
  name: 'drain',
  operands: '',
  count: { least: 0, most: 0 },
  summary: 'Ends the daemon once what was accepted is finished',
  help: 'As SIGTERM does.',
  flags: FLAGS,
  run: runDrain,
});

async function runDrain({ ask, flags, fail, show }: AdminCall<typeof FLAGS>): Promise<number> {
  const reply = await ask('POST', '/drain', reasonBody(flags.reason));
  if (reply.status !== 202) return fail(reply);
  show(reply, () => 'draining\n');
  return 0;
}
