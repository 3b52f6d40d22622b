import { type AdminCall, NEEDED_REASON, adminCommand, membersOf } from './admin-command.ts';
import { cell } from './terminal.ts';

const FLAGS = {
  soft: { takes: null, doc: 'Makes stale instead: served while its origin is asked, as far as the rules allow.' },
  reason: NEEDED_REASON,
} as const;

/** `cardea purge`: throws stored answers away. */
export const purgeCommand = adminCommand({
  name: 'purge',
  operands: 'TAG…',
  count: { least: 1, most: 100 },
  summary: 'Throws away what is stored under tags, or makes it stale',
  help: `A tag is agent:NAME, origin:HOST, kid:ID, tenant:ID, principal:ID or all. What is on its way is not put back.

  cardea purge agent:weather origin:idp.example.com --soft --reason "new card"`,
  flags: FLAGS,
  run: runPurge,
});

async function runPurge({ ask, operands, flags, fail, show }: AdminCall<typeof FLAGS>): Promise<number> {
  const reply = await ask('POST', '/purge', { tags: operands, soft: flags.soft, reason: flags.reason ?? '' });
  if (reply.status !== 200) return fail(reply);
  const { purged } = membersOf(reply.text);
  show(reply, () => `${cell(purged)} ${flags.soft ? 'made stale' : 'thrown away'}\n`);
  return 0;
}
