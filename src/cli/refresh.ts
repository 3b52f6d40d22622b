import { type AdminCall, REASON_FLAG, adminCommand, membersOf } from './admin-command.ts';
import { cell } from './terminal.ts';

const FLAGS = { reason: REASON_FLAG } as const;

/** `cardea refresh`: asks an agent's origin now. */
export const refreshCommand = adminCommand({
  name: 'refresh',
  operands: 'AGENT',
  count: { least: 1, most: 1 },
  summary: "Fetches and judges an agent's card now",
  help: 'The stored card is served until the new one is accepted.\n\n  cardea refresh weather',
  flags: FLAGS,
  run: runRefresh,
});

async function runRefresh({
  ask,
  operands: [agent = ''],
  flags,
  fail,
  show,
}: AdminCall<typeof FLAGS>): Promise<number> {
  const reply = await ask('POST', `/agents/${encodeURIComponent(agent)}/refresh`, reasonBody(flags.reason));
  if (reply.status !== 200) return fail(reply);
  const { outcome, digest } = membersOf(reply.text);
  show(reply, () => `${cell(outcome)} ${cell(digest)}\n`);
  return 0;
}

/** A reason that may be left out. */
export const reasonBody = (reason: string | null): object => (reason === null ? {} : { reason });
