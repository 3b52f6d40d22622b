import { type AdminCall, REASON_FLAG, adminCommand, membersOf } from './admin-command.ts';
import { reasonBody } from './refresh.ts';
import { cell } from './terminal.ts';

const FLAGS = { reason: REASON_FLAG } as const;

/** `cardea reload`: adopts the configuration as it is written now. */
export const reloadCommand = adminCommand({
  name: 'reload',
  operands: '',
  count: { least: 0, most: 0 },
  summary: 'Adopts the configuration as it is written now, or keeps the old one',
  help: 'As SIGHUP does. A configuration with a problem changes nothing; "cardea check" says what is wrong.',
  flags: FLAGS,
  run: runReload,
});

async function runReload({ ask, flags, fail, show }: AdminCall<typeof FLAGS>): Promise<number> {
  const reply = await ask('POST', '/reload', reasonBody(flags.reason));
  if (reply.status !== 200) return fail(reply);
  show(reply, () => `adopted ${cell(membersOf(reply.text)['digest'])}\n`);
  return 0;
}
