import { type AdminCall, adminCommand, membersOf } from './admin-command.ts';
import { cell } from './terminal.ts';

const FLAGS = {} as const;

/** `cardea console`: an address that signs a browser in. */
export const consoleCommand = adminCommand({
  name: 'console',
  operands: '',
  count: { least: 0, most: 0 },
  summary: 'Prints a link that opens the console in a browser, signed in',
  help: `The link signs in once, within five minutes; the admin token is not in it. From another machine, bring the port over first:

  ssh -L 8643:127.0.0.1:8643 HOST          then open the link here
  kubectl port-forward POD 8643            the same for a Pod`,
  flags: FLAGS,
  exits:
    '0 printed · 1 refused, or listen.admin is a socket, which no browser opens · 2 called wrongly · 3 no daemon answers',
  run: runConsole,
});

async function runConsole({ ask, fail, show }: AdminCall<typeof FLAGS>): Promise<number> {
  const reply = await ask('POST', '/console/links');
  if (reply.status !== 200) return fail(reply);
  show(reply, () => `${cell(membersOf(reply.text)['url'])}\n\nIt signs one browser in, within five minutes.\n`);
  return 0;
}
