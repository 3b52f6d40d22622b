import { strongEtag } from '../http/answer.ts';
import { fieldValue } from '../http/fields.ts';
import type { ChangeClass } from '../kernel/change.ts';
import type { Admission, Entry, Verdict } from '../kernel/entry.ts';
import { type PolicyDigest, type ReceiptId, type Tag, tag } from '../kernel/ids.ts';
import type { VerdictReceipt } from '../kernel/receipt.ts';
import { accepted, type Outcome, refuse, refused } from '../kernel/refusal.ts';
import type { AgentRule } from '../policy/rules.ts';
import type { Clock, Ledger, Store } from '../ports.ts';
import type { IsInForce } from './in-force.ts';
import type { Judge } from './judge.ts';
import type { Reviews } from './reviews.ts';
import { standingOf } from './standing.ts';
import type { Trust } from './trust.ts';
import { type Codings, plainOf } from './with-codings.ts';

/**
 * Judges a stored card under today's policy and keys: the entry with its new verdict, or undefined where it may not be served. A
 * verdict reached under another policy is never served.
 */
export type JudgeAgain = (entry: Entry, agent: AgentRule) => Promise<Entry | undefined>;

interface Doors {
  readonly store: Store;
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly trust: Trust;
  readonly judge: Judge;
  readonly codings: Pick<Codings, 'keep'>;
  readonly isInForce: IsInForce;
  readonly reviews: Reviews;
}

/** Whoever asks for one entry under one policy shares one judgement, which stands until the policy or the keys change. */
export function createJudgeAgain(doors: Doors): JudgeAgain {
  const known = new WeakMap<Entry, { readonly policy: PolicyDigest; readonly judged: Promise<Entry | undefined> }>();
  const judge: JudgeAgain = (entry, agent) => {
    const { policy } = doors.trust.basis(agent);
    const before = known.get(entry);
    if (before?.policy === policy) return before.judged;
    const judged = judgeOnce(doors, entry, agent);
    known.set(entry, { policy, judged });
    return judged;
  };
  return async (entry, agent) => {
    const judged = await judge(entry, agent);
    if (judged !== undefined) return judged;
    // What stands refused for want of keys may be asked for while its origin is down: then nothing else would fetch them.
    await doors.trust.renew(agent);
    return judge(entry, agent);
  };
}

async function judgeOnce(doors: Doors, entry: Entry, agent: AgentRule): Promise<Entry | undefined> {
  const { store, judge, ledger } = doors;
  const id = ledger.issue();
  const outcome = await standing(doors, await judgeStored(judge, entry, agent), { id, agent });
  ledger.record(receiptOf(doors, entry, outcome, { id, agent }));
  if (outcome.ok) {
    const judged = doors.codings.keep(withReceipt(outcome.value.entry, id));
    return (await store.put(judged)) ? judged : undefined;
  }
  // Keys that are away say nothing against the card, nor do rules that are gone: it is not served, and it is still there.
  if (outcome.refusal.code !== 'keys-unavailable' && doors.isInForce(agent)) await store.drop(entry);
  return undefined;
}

interface Judging {
  readonly id: ReceiptId;
  readonly agent: AgentRule;
}

/** A stored card as it was judged, and what kinds of change brought it. */
interface Judged {
  readonly entry: Entry;
  readonly changes: readonly ChangeClass[];
}

/** What may be admitted may not therefore be served: it must be the card in force. */
async function standing(
  { reviews, clock }: Doors,
  judged: Outcome<Entry>,
  { id, agent }: Judging,
): Promise<Outcome<Judged>> {
  if (!judged.ok) return judged;
  const { admission } = judged.value;
  if (admission === null) throw new Error(`entry ${judged.value.key} is no card`);
  const occasion = { receipt: id, policy: admission.policy, at: clock.now() };
  const stands = await standingOf(reviews, { ...judged.value, admission }, { agent, occasion });
  if (!stands.ok) return stands;
  const { review, changes } = stands.value;
  return accepted({ entry: { ...judged.value, admission: { ...admission, review } }, changes });
}

/** "`receipt` names the record that admitted what is served": from now on it is that of this verdict. */
const withReceipt = (entry: Entry, receipt: ReceiptId): Entry => ({
  ...entry,
  admission: entry.admission === null ? null : { ...entry.admission, receipt },
});

function receiptOf(
  { clock, trust }: Doors,
  entry: Entry,
  outcome: Outcome<Judged>,
  { id, agent }: Judging,
): VerdictReceipt {
  const admission = outcome.ok ? outcome.value.entry.admission : null;
  return {
    kind: 'verdict',
    id,
    at: clock.now(),
    agent: agent.name,
    variant: entry.variant,
    digest: admission?.digest ?? entry.admission?.digest ?? null,
    verdict: admission?.verdict ?? null,
    review: admission?.review ?? null,
    changes: outcome.ok ? outcome.value.changes : [],
    outcome: outcome.ok ? 'accepted' : 'refused',
    code: outcome.ok ? null : outcome.refusal.code,
    why: outcome.ok ? null : outcome.refusal.detail,
    policy: admission?.policy ?? trust.basis(agent).policy,
  };
}

/** Gives a stored card the verdict that it has today. Nothing is stored or dropped. */
export async function judgeStored(judge: Judge, entry: Entry, agent: AgentRule): Promise<Outcome<Entry>> {
  const { admission } = entry;
  if (admission === null) throw new Error(`entry ${entry.key} is no card`);
  if (agent.card.uncovered === 'refuse' && (admission.verdict.dropped ?? []).length > 0) return refused(uncovered());
  const contentType = fieldValue(entry.fields, 'content-type');
  const { outcome, policy } = await judge({ body: entry.body, url: entry.url, contentType }, agent);
  if (!outcome.ok) return outcome;
  const { body, digest, facts, warnings } = outcome.value;
  const verdict = withDropped(outcome.value.verdict, admission);
  return accepted({
    ...(body === entry.body ? entry : plainOf(entry)),
    body,
    etag: body === entry.body ? entry.etag : strongEtag(body),
    admission: { ...admission, digest, verdict, facts, warnings, policy },
    tags: [...entry.tags.filter((each) => !each.startsWith('kid:')), ...kidTags(verdict)],
  });
}

/** What is stored has lost the members that the signature does not cover, so that it looks whole: the card that came was not. */
function withDropped(verdict: Verdict, { verdict: first }: Admission): Verdict {
  if (verdict.signature !== 'verified' || first.dropped === undefined) return verdict;
  const form = verdict.kid === first.kid && first.form !== undefined ? { form: first.form } : {};
  return { ...verdict, ...form, dropped: [...new Set([...first.dropped, ...(verdict.dropped ?? [])])] };
}

const kidTags = ({ kid }: Verdict): readonly Tag[] => (kid === undefined ? [] : [tag(`kid:${kid}`)]);

const uncovered = () =>
  refuse('signature-invalid', 'Members of the card are outside its signature, and the agent has uncovered: refuse.');
