import { type AdminCall, adminCommand, isRecord, listOf, membersOf } from './admin-command.ts';
import { cell, instant, plainText, table, widthOf } from './terminal.ts';

const FLAGS = {
  agent: { takes: 'AGENT', doc: 'Those of one agent.' },
  since: { takes: 'TIME', doc: 'Those since 2026-11-30T12:00:00Z, or of the last 15m, 2h, 7d.' },
  limit: { takes: 'COUNT', doc: 'How many, newest first; 100 unless said.' },
  verify: { takes: null, doc: 'Checks the chain: a cut or an edit shows.' },
} as const;

/** `cardea receipts`: what was fetched, judged, decided, stopped and refused. */
export const receiptsCommand = adminCommand({
  name: 'receipts',
  operands: '',
  count: { least: 0, most: 0 },
  summary: 'Lists receipts, or checks that none was cut out or edited',
  help: 'Callers are named by hashes that only this state folder can link.\n\n  cardea receipts --agent weather --since 1h\n  cardea receipts --verify',
  flags: FLAGS,
  exits: '0 listed, or the chain is whole · 1 refused, or the chain is broken · 2 called wrongly · 3 no daemon answers',
  run: (call) => (call.flags.verify ? runVerify(call) : runList(call)),
});

async function runList({ ask, flags, io, fail, show }: AdminCall<typeof FLAGS>): Promise<number> {
  const query = new URLSearchParams();
  for (const name of ['agent', 'since', 'limit'] as const) {
    const value = flags[name];
    if (value !== null) query.set(name, value);
  }
  const reply = await ask('GET', `/receipts?${query.toString()}`);
  if (reply.status !== 200) return fail(reply);
  show(reply, () => {
    const receipts = listOf(reply.text, 'receipts');
    if (receipts.length === 0) return 'no receipts\n';
    return table([['TIME', 'KIND', 'AGENT', 'OUTCOME', 'ABOUT', 'RECEIPT'], ...receipts.map(receiptRow)], widthOf(io));
  });
  return 0;
}

/** One receipt in six columns, whatever its kind. */
export function receiptRow(receipt: Readonly<Record<string, unknown>>): readonly string[] {
  const { kind, at, agent, id } = receipt;
  return [instant(at), cell(kind), cell(agent), ...outcomeOf(receipt), cell(id)];
}

function outcomeOf(receipt: Readonly<Record<string, unknown>>): readonly [outcome: string, about: string] {
  const { outcome, code, why, trail, action, scope, about, digest, reason, count } = receipt;
  switch (receipt['kind']) {
    case 'exchange':
      return [cell(code ?? outcome), cell(why ?? (isRecord(trail) ? trail['finalUrl'] : undefined))];
    case 'verdict':
      return [cell(code ?? outcome), cell(why ?? digest)];
    case 'review':
      return [cell(action), `${cell(digest)} ${cell(reason)}`];
    case 'switch':
      return [cell(action), `${cell(scope)} ${cell(reason)}`];
    case 'registry':
      return [
        cell(receipt['status']),
        cell(why ?? `${String(receipt['registry'])}: ${String(receipt['said'])}, ${String(action)}`),
      ];
    case 'change':
      return [cell(action), Array.isArray(about) ? about.map(cell).join(' ') : '-'];
    default:
      return [cell(code), count === undefined ? '-' : `${cell(count)} times`];
  }
}

async function runVerify({ ask, fail, show }: AdminCall<typeof FLAGS>): Promise<number> {
  const reply = await ask('GET', '/receipts/verify');
  if (reply.status !== 200) return fail(reply);
  const { whole, checked, pruned, head, breaks } = membersOf(reply.text);
  show(reply, () => {
    if (whole === true)
      return `whole: ${cell(checked)} receipts, ${cell(pruned)} pruned before them, head ${cell(head)}\n`;
    const lines = Array.isArray(breaks) ? breaks.map((line) => `  ${plainText(String(line))}\n`) : [];
    return `broken:\n${lines.join('')}`;
  });
  return whole === true ? 0 : 1;
}
