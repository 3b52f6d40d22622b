import { type AdminCall, NEEDED_REASON, REASON_FLAG, adminCommand, listOf, membersOf } from './admin-command.ts';
import { cell } from './terminal.ts';

const APPROVE_FLAGS = {
  reason: REASON_FLAG,
  print: { takes: null, doc: 'Decides nothing here; prints the line for a file of pins (review.pins).' },
} as const;
const REJECT_FLAGS = { reason: NEEDED_REASON } as const;

/** `cardea approve`: lets a card in that waits. */
export const approveCommand = adminCommand({
  name: 'approve',
  operands: 'AGENT|URL DIGEST',
  count: { least: 2, most: 2 },
  summary: 'Puts a card in force that waits for review',
  help: `It names exactly one content: "cardea review AGENT" shows its digest. It is on the disk before it takes effect, outlives a restart,
and holds for this daemon. With --print nothing is decided here: the line it prints belongs into the file that review.pins
names, which approves wherever it is mounted.

  cardea approve weather sha256:0f4c… --reason "looked at the new wording"
  cardea approve weather sha256:0f4c… --print`,
  flags: APPROVE_FLAGS,
  exits: '0 in force, or printed · 1 refused · 2 called wrongly · 3 no daemon answers',
  run: (call) => (call.flags.print ? printPin(call) : decide(call, 'approve', 'in force')),
});

/** `cardea reject`: never takes a card. */
export const rejectCommand = adminCommand({
  name: 'reject',
  operands: 'AGENT|URL DIGEST',
  count: { least: 2, most: 2 },
  summary: 'Never takes a card that waits for review; the one in force stays',
  help: `The same content is not offered again, also after a restart. Whoever thinks again may approve it while the origin still has it.

  cardea reject weather sha256:0f4c… --reason "it asks for passwords"`,
  flags: REJECT_FLAGS,
  run: (call) => decide(call, 'reject', 'rejected'),
});

type Deciding = Pick<AdminCall<typeof REJECT_FLAGS>, 'ask' | 'operands' | 'fail' | 'show'> & {
  readonly flags: { readonly reason: string | null };
};

async function decide(call: Deciding, action: 'approve' | 'reject', done: string): Promise<number> {
  const [agent = '', digest = ''] = call.operands;
  const reply = await call.ask('POST', `/agents/${encodeURIComponent(agent)}/${action}`, {
    digest,
    reason: call.flags.reason ?? '',
  });
  if (reply.status !== 200) return call.fail(reply);
  call.show(reply, () => `${cell(agent)}: ${cell(membersOf(reply.text)['digest'])} is ${done}\n`);
  return 0;
}

/** A URL holds what YAML may read otherwise. */
const keyText = (agent: string): string => (agent.includes(':') ? JSON.stringify(agent) : agent);

/** Only what the daemon knows is printed: a digest that was mistyped would approve nothing, and nobody would notice. */
async function printPin({ ask, operands, io, fail, flags }: AdminCall<typeof APPROVE_FLAGS>): Promise<number> {
  const [agent = '', digest = ''] = operands;
  const reply = await ask('GET', `/agents/${encodeURIComponent(agent)}`);
  if (reply.status !== 200) return fail(reply);
  const review = JSON.stringify(membersOf(reply.text)['review'] ?? {});
  const known = [...listOf(review, 'pending'), ...listOf(review, 'history')].some((each) => each['digest'] === digest);
  if (!known) {
    io.stderr.write(`cardea approve: ${cell(agent)} neither offers nor has had ${cell(digest)}\n`);
    return 1;
  }
  if (flags.json) io.stdout.write(`${JSON.stringify({ [agent]: [digest] })}\n`);
  else io.stdout.write(`${keyText(agent)}: ["${digest}"]${flags.reason === null ? '' : ` # ${cell(flags.reason)}`}\n`);
  return 0;
}
