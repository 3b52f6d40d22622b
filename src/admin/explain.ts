import { type Kill, scopeCovers } from '../kernel/kill.ts';
import type { Receipt } from '../kernel/receipt.ts';
import type { EpochMs } from '../kernel/units.ts';
import type { AdminPorts, AgentView, Described, PendingView, ReviewView } from './ports.ts';

/** Everything that decides what a caller gets for one target, in the order in which it decides. */
export interface Explanation {
  readonly target: string;
  readonly agent: string | null;
  readonly rule: string | null;
  readonly url: string | null;
  /** One sentence each; the last one is what a caller gets. */
  readonly because: readonly string[];
  readonly kills: readonly Kill[];
  readonly status: AgentView | null;
  /** What was taken, what waits and what was decided; null where no agent is meant. */
  readonly review: ReviewView | null;
  /** The latest, newest first. */
  readonly receipts: readonly Receipt[];
}

const LATEST = 5;

/** Explains what an agent's name or a URL comes to; undefined for what is neither. */
export async function explain(ports: AdminPorts, target: string): Promise<Explanation | undefined> {
  const described = ports.describe(target);
  if (described === undefined) return undefined;
  const { agent, rule, url } = described;
  const status = agent === null ? null : (ports.agent(agent) ?? null);
  const kills = ports.kills.active().filter(({ scope }) => scopeCovers(scope, described.tags));
  const review = agent === null ? null : (ports.reviews.of(agent) ?? null);
  const found = agent === null ? undefined : await ports.ledger.query({ agent, limit: LATEST });
  return {
    target,
    agent,
    rule,
    url,
    because: reasons(described, { status, review }, kills, ports.clock.now()),
    kills,
    status,
    review,
    receipts: found?.ok === true ? found.value.receipts : [],
  };
}

function reasons(
  described: Described,
  { status, review }: Pick<Explanation, 'status' | 'review'>,
  kills: readonly Kill[],
  now: EpochMs,
): readonly string[] {
  const lines = [described.rule === null ? 'No rule of the configuration covers it.' : `${described.rule} covers it.`];
  if (described.refusal !== null) return [...lines, `Refused: ${described.refusal.code}. ${described.refusal.detail}`];
  const [kill] = kills;
  if (kill !== undefined) {
    const lift = `cardea lift ${kill.id} --reason …`;
    return [...lines, `Stopped: ${kill.scope}, by ${kill.by}: ${kill.reason}. To lift: ${lift}`];
  }
  if (status === null) return [...lines, 'Nothing is stopped; each request is decided by the rule.'];
  lines.push(...registryReasons(status, now));
  return [...lines, ...(review === null ? [] : reviewReasons(review, now)), ...cardReasons(status, review, now)];
}

/** What its registry says, since when, and why it is not where the registry says. */
function registryReasons({ registry, urls }: AgentView, now: EpochMs): readonly string[] {
  if (registry === null) return [];
  const { name, id, status, action, said, at, misplaced } = registry;
  const age = at === 0 ? 'it was never had' : `had ${seconds(now - at)} ago`;
  const word = said === status ? status : `${status} (${said})`;
  const place =
    misplaced === null ? [] : [`The place that it names is not used: ${misplaced.code}. ${misplaced.detail}`];
  const where = urls.length === 0 ? ['It names no place for its card.'] : [];
  return [`The registry ${name} says of ${id}: ${word}; the rule makes it ${action}; ${age}.`, ...place, ...where];
}

/** What is in force and why, and what is not taken and why not. */
function reviewReasons({ inForce, pending, suspended }: ReviewView, now: EpochMs): readonly string[] {
  const lines = inForce.map(({ digest, by, variant }) => `In force${forWhom(variant)}: ${digest}, ${BY[by]}.`);
  for (const { digest, why, changes, until, variant } of pending) {
    const classes = [...new Set(changes.filter(({ action }) => action !== 'allow').map((change) => change.class))];
    const what = classes.length === 0 ? '' : ` (${classes.join(', ')})`;
    const end = inForce.length === 0 ? '' : `; what is in force is served for ${seconds(until - now)} more`;
    lines.push(`Not taken${forWhom(variant)}: ${digest}, ${WHY[why]}${what}${end}.`);
  }
  return suspended === null ? lines : [...lines, suspended];
}

function forWhom(variant: string): string {
  if (variant === 'extended') return ', an extended card';
  return variant === 'any' ? '' : ` for callers of A2A ${variant}`;
}
const BY = { person: 'approved by a person', pin: 'approved by a pin', policy: 'taken by the rule' } as const;
const WHY = {
  held: 'it waits for review',
  blocked: 'the rule blocks it',
  'first-use': 'the first card waits for review',
} as const;

const HELD_BY_REVIEW = 'The card in force is served while another one waits: cardea review.';
const HELD_BY_REGISTRY = 'The card in force is served; its registry lets no other one be taken.';
const isPublic = ({ variant }: PendingView): boolean => variant !== 'extended';

function cardReasons(
  { state, freshUntil, staleSince, setback }: AgentView,
  review: ReviewView | null,
  now: EpochMs,
): readonly string[] {
  const failed =
    setback === null
      ? []
      : [`The last fetch failed: ${setback.code}. ${setback.detail} Tried again in ${seconds(setback.retryAt - now)}.`];
  switch (state) {
    case 'fresh':
      return [...failed, `Its card is served: fresh for ${seconds(freshUntil - now)}.`];
    case 'stale':
      return [...failed, `Its card is served: stale for ${seconds(now - staleSince)}, within what the rules allow.`];
    case 'expired':
      return [...failed, 'Its card is older than the rules allow: the origin must answer first.'];
    case 'missing':
      return [...failed, 'No accepted card of it is held: the origin must answer first.'];
    case 'held':
      return [...failed, review?.pending.some(isPublic) === false ? HELD_BY_REGISTRY : HELD_BY_REVIEW];
    case 'revoked':
      return [...failed, 'It is stopped by what its registry says.'];
    case 'killed':
      return [...failed, 'It is stopped by the kill switch.'];
  }
}

const seconds = (duration: number): string => `${Math.max(0, Math.round(duration / 1_000))} s`;
