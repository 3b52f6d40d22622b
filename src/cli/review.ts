import { type AdminCall, adminCommand, listOf, membersOf } from './admin-command.ts';
import { type ShownChange, changeView } from './change-view.ts';
import { cell, instant, plainText, table, widthOf } from './terminal.ts';

const FLAGS = {} as const;

/** `cardea review`: what waits for a person, and what there is to decide. */
export const reviewCommand = adminCommand({
  name: 'review',
  operands: '[AGENT|URL]',
  count: { least: 0, most: 1 },
  summary: 'Shows the changed cards that wait for you, and what changed in them',
  help: `Without an agent it lists what waits. With one, or with the URL of a card without a name, it shows every change beside what was, class by class, the words that differ
marked: widened and narrowed, new cues for a model, skills that may be taken for others. docs/review.md explains them.

  cardea review
  cardea review weather
  cardea review https://forecast.agents.example.com/.well-known/agent-card.json`,
  flags: FLAGS,
  run: runReview,
});

type Row = Readonly<Record<string, unknown>>;

async function runReview(call: AdminCall<typeof FLAGS>): Promise<number> {
  const [agent] = call.operands;
  return agent === undefined ? listWaiting(call) : showAgent(call, agent);
}

async function showAgent({ ask, io, fail, show }: AdminCall<typeof FLAGS>, agent: string): Promise<number> {
  const reply = await ask('GET', `/agents/${encodeURIComponent(agent)}/change`);
  if (reply.status !== 200) return fail(reply);
  show(reply, () => {
    const waiting = listOf(reply.text, 'pending');
    if (waiting.length === 0) return 'nothing waits\n';
    const { suspended, firstUse } = membersOf(reply.text);
    const note = typeof suspended === 'string' ? `${plainText(suspended)}\n\n` : '';
    return note + waiting.map((each) => pendingView(each, { agent, firstUse }, io)).join('\n');
  });
  return 0;
}

interface Whose {
  readonly agent: string;
  readonly firstUse: unknown;
}

function pendingView(pending: Row, { agent, firstUse }: Whose, io: AdminCall<typeof FLAGS>['io']): string {
  const { variant, digest, url, since, until, inForce, why, changes, card } = pending;
  const callers =
    variant === 'any' ? '' : variant === 'extended' ? ', an extended card' : ` for callers of A2A ${cell(variant)}`;
  const lines = [
    `${cell(agent)}${callers}: ${cell(digest)}`,
    `from ${cell(url)}, waits since ${instant(since)}`,
    inForce === null
      ? 'nothing is in force, so that nothing is served'
      : `in force is ${cell(inForce)}, until ${instant(until)}`,
  ];
  const shown: readonly ShownChange[] = Array.isArray(changes)
    ? changes.filter((each) => typeof each === 'object')
    : [];
  const content = inForce === null && shown.length === 0 ? [{ class: 'identity', pointer: '', after: card }] : shown;
  return `${lines.map((line) => `${line}\n`).join('')}\n${changeView(content, io)}\n${decision(why, { agent, firstUse }, digest)}`;
}

/** What can be done about it. */
function decision(why: unknown, { agent, firstUse }: Whose, digest: unknown): string {
  if (why === 'blocked')
    return `the rule of ${cell(agent)} blocks a change in it: only the configuration can let it in\n`;
  if (why === 'first-use' && firstUse === 'pinned')
    return `firstUse is pinned: cardea approve ${cell(agent)} ${cell(digest)} --print\n`;
  return `cardea approve ${cell(agent)} ${cell(digest)} --reason "…"\ncardea reject ${cell(agent)} ${cell(digest)} --reason "…"\n`;
}

async function listWaiting({ ask, io, fail, show }: AdminCall<typeof FLAGS>): Promise<number> {
  const reply = await ask('GET', '/changes');
  if (reply.status !== 200) return fail(reply);
  show(reply, () => {
    const waiting = listOf(reply.text, 'pending');
    return waiting.length === 0 ? 'nothing waits\n' : waitingTable(waiting, widthOf(io));
  });
  return 0;
}

function waitingTable(waiting: readonly Row[], width: number): string {
  const head = ['AGENT', 'A2A', 'WHY', 'SINCE', 'CHANGES', 'DIGEST'];
  const rows = waiting.map(({ agent, variant, why, since, classes, digest }) => [
    cell(agent),
    cell(variant),
    cell(why),
    instant(since),
    cell(Array.isArray(classes) ? classes.join(',') : null),
    cell(digest),
  ]);
  return table([head, ...rows], width);
}
