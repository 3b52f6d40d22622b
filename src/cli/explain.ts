import { type AdminCall, adminCommand, listOf, membersOf } from './admin-command.ts';
import { receiptRow } from './receipts.ts';
import { plainText, table, widthOf } from './terminal.ts';

const FLAGS = {} as const;

/** `cardea explain`: why a caller gets what it gets. */
export const explainCommand = adminCommand({
  name: 'explain',
  operands: 'AGENT|URL',
  count: { least: 1, most: 1 },
  summary: 'Says why an agent or a URL is answered as it is',
  help: 'The rule, what is stopped, how the card stands, the last failure and the latest receipts.\n\n  cardea explain weather',
  flags: FLAGS,
  run: runExplain,
});

async function runExplain({ ask, operands: [target = ''], io, fail, show }: AdminCall<typeof FLAGS>): Promise<number> {
  const reply = await ask('GET', `/explain?target=${encodeURIComponent(target)}`);
  if (reply.status !== 200) return fail(reply);
  show(reply, () => {
    const { because } = membersOf(reply.text);
    const lines = Array.isArray(because) ? because.map((line) => `${plainText(String(line))}\n`) : [];
    return lines.join('') + table(listOf(reply.text, 'receipts').map(receiptRow), widthOf(io));
  });
  return 0;
}
