import type { JsonObject } from '../card/json.ts';
import { currentAge } from '../http/freshness.ts';
import type { ExtendedEntry } from '../kernel/extended-entry.ts';
import type { Review } from '../kernel/outcome.ts';
import { type Refusal, refuse } from '../kernel/refusal.ts';
import { type EpochMs, between, epochMs, later } from '../kernel/units.ts';
import type { Trust } from './trust.ts';
import type { ExtendedTarget } from './extended-refresh.ts';
import { callerTags } from './caller-tags.ts';
import { type ExtendedDecided, type ExtendedReviews, changesOf } from './extended-reviews.ts';
import type { Reviewed } from './gate.ts';
import { limited } from './meanwhile.ts';

/** An extended card at the gate. */
interface Candidate {
  readonly target: ExtendedTarget;
  readonly entry: ExtendedEntry;
  readonly before: ExtendedEntry | undefined;
  readonly view: () => JsonObject;
}

/** What the gate lets through: the card that came, or the one before it, or nothing. */
export type PassedExtended =
  | { readonly ok: true; readonly held: boolean; readonly entry: ExtendedEntry; readonly reviewed: Reviewed }
  | { readonly ok: false; readonly refusal: Refusal; readonly about: { readonly reviewed?: Reviewed } };

interface Parts {
  readonly extendedReviews: ExtendedReviews;
  readonly trust: Pick<Trust, 'basis'>;
}

/** Decides on an extended card. @param known false where the ledger cannot be read. */
export function passExtended({ extendedReviews, trust }: Parts, candidate: Candidate, known: boolean): PassedExtended {
  const { target, entry, before, view } = candidate;
  const { agent, caller } = target;
  const offer = { agent, entry, view, before, callerTags: callerTags(caller) };
  const decided = extendedReviews.offer(offer, known);
  if (!decided.ok) return { ok: false, refusal: decided.refusal, about: {} };
  const { value } = decided;
  const review: Review = value.taken ? value.review : 'held';
  const admission = { ...entry.admission, review };
  const reviewed = { admission, changes: changesOf(value), why: value.taken ? null : waits(value, target) };
  if (value.taken) return { ok: true, held: false, entry: { ...entry, admission }, reviewed };
  const served = isOfToday(before, target, trust) ? meanwhile(before, candidate, value) : undefined;
  return served === undefined
    ? { ok: false, refusal: refusalOf(value, target), about: { reviewed } }
    : { ok: true, held: true, entry: served, reviewed };
}

type Withheld = Extract<ExtendedDecided, { taken: false }>;

/** The card before it, of the same session, beside the same public card and under the same rules. */
const isOfToday = (
  before: ExtendedEntry | undefined,
  { agent, publicDigest }: ExtendedTarget,
  trust: Parts['trust'],
): before is ExtendedEntry =>
  before !== undefined && before.publicDigest === publicDigest && before.admission.policy === trust.basis(agent).policy;

/** As old as it is, asked about again at the pace of the newer one, and no longer than the rule allows; undefined where that is over. */
function meanwhile(before: ExtendedEntry, { target, entry }: Candidate, { ruling, since }: Withheld) {
  const { agent } = target;
  const now = entry.receivedAt;
  const rejected = ruling.why === 'rejected';
  const until = rejected ? epochMs(Number.POSITIVE_INFINITY) : later(since, agent.review.maxHold);
  if (now >= earliest(until, before.until)) return undefined;
  const age = currentAge(before, now);
  // Whoever says no has decided for the card before: then nothing waits any more.
  const standing = before.admission.review === 'held' ? ('allowed' as const) : before.admission.review;
  return {
    ...before,
    receivedAt: now,
    initialAge: age,
    generation: entry.generation,
    lifetime: limited(entry.lifetime, { age, left: between(now, until) }),
    admission: { ...before.admission, review: rejected ? standing : ('held' as const) },
  };
}

const earliest = (one: EpochMs, other: EpochMs): EpochMs => (one < other ? one : other);

const waits = ({ ruling }: Withheld, { agent }: ExtendedTarget): string =>
  ruling.why === 'rejected'
    ? 'The extended card was rejected.'
    : `The extended card waits for review: cardea review ${agent.name}.`;

function refusalOf(withheld: Withheld, target: ExtendedTarget): Refusal {
  return refuse(withheld.ruling.why === 'first-use' ? 'first-use-held' : 'change-held', waits(withheld, target));
}
