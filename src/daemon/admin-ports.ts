import { type AdminHandle, createAdmin } from '../admin/api.ts';
import type { EventFeed } from '../admin/events.ts';
import type { AdminPorts, AgentView, ConsolePorts, Described } from '../admin/ports.ts';
import type { AdminAuthority } from './authority.ts';
import type { ListenerSettings } from '../config/compile.ts';
import type { Listeners } from './listeners.ts';
import { type CountStored, previewOf } from './preview.ts';
import { registryPorts, registryView } from './registry-ports.ts';
import { createReviewPorts } from './review-ports.ts';
import { ruleOf } from './rule-of.ts';
import { effectiveValues } from '../config/effective.ts';
import type { Settings } from '../config/schema.ts';
import { CARD_REQUESTS } from '../discovery/card-request.ts';
import { type CardStatus, cardInUse, cardStatus } from '../discovery/card-status.ts';
import type { CardBook } from '../discovery/card-book.ts';
import type { Discovery } from '../discovery/discovery.ts';
import { agentTags, originTags } from '../discovery/key.ts';
import type { KillSwitch } from '../discovery/kill-switch.ts';
import type { Setback } from '../discovery/setbacks.ts';
import { fieldValue } from '../http/fields.ts';
import { mayBeStaleFor } from '../http/reuse.ts';
import type { Entry } from '../kernel/entry.ts';
import { fault } from '../kernel/faults.ts';
import { type AgentName, agentName } from '../kernel/ids.ts';
import { parseTarget } from '../kernel/origins.ts';
import { accepted, refuse, refused } from '../kernel/refusal.ts';
import { type EpochMs, epochMs, later } from '../kernel/units.ts';
import type { AgentRule } from '../policy/rules.ts';
import type { Clock, Evidence, Store } from '../ports.ts';

interface AdminParts {
  /** Those in force. */
  readonly settings: () => Settings;
  readonly clock: Clock;
  readonly ledger: Evidence;
  readonly store: Store;
  readonly discovery: Discovery;
  readonly killSwitch: KillSwitch;
  readonly events: EventFeed;
  readonly drain: () => void;
  readonly reload: AdminPorts['reload'];
  readonly console: ConsolePorts | null;
  readonly listeners: Pick<Listeners, 'count'>;
  readonly countStored: CountStored;
}

/** Makes the admin API for one listener: who has authority, and whether browsers come, depends on where it is. */
export const adminMaker =
  (parts: Omit<AdminParts, 'console'>, authority: AdminAuthority) =>
  (listener: ListenerSettings): AdminHandle =>
    createAdmin(createAdminPorts({ ...parts, console: authority.consoleAt(listener) }), authority.checkAt(listener));

/** What the admin API reaches of the daemon. */
function createAdminPorts(parts: AdminParts): AdminPorts {
  const { discovery, settings } = parts;
  return {
    clock: parts.clock,
    ledger: parts.ledger,
    kills: parts.killSwitch,
    events: parts.events,
    console: parts.console,
    reviews: createReviewPorts(parts),
    drain: parts.drain,
    preview: (scope) => previewOf(parts, scope),
    purge: (tags, soft) => discovery.purge(tags, soft),
    revoke: (order) => discovery.revoke(order),
    reload: parts.reload,
    config: () => ({ digest: discovery.rules().digest, settings: effectiveValues(settings()) }),
    agents: () => discovery.statuses().flatMap((status) => agentView(parts, status)),
    agent: (agent) => oneAgent(parts, agent),
    card: (agent) => servedCard(parts, agent),
    refresh: (agent) => refresh(parts, agent),
    ...registryPorts(discovery, () => discovery.statuses().flatMap((status) => agentView(parts, status))),
    describe: (target) => describe(parts, target),
  };
}

function agentView(parts: AdminParts, status: ReturnType<Discovery['statuses']>[number]): AgentView[] {
  const rule = ruleOf(parts.discovery, status.agent);
  return rule === undefined ? [] : [viewOf(parts, rule, status)];
}

function oneAgent(parts: AdminParts, agent: AgentName): AgentView | undefined {
  const rule = ruleOf(parts.discovery, agent);
  return rule && viewOf(parts, rule, cardStatus(parts.discovery.book, rule, parts.clock.now()));
}

function viewOf({ discovery }: AdminParts, rule: AgentRule, status: CardStatus): AgentView {
  const { book } = discovery;
  const setback = lastSetback(book, rule);
  const entry = cardInUse(book, rule);
  return {
    ...status,
    ...cardView(entry, status.freshUntil),
    urls: rule.cards,
    tags: agentTags(rule),
    registry: registryView(discovery, rule),
    setback: setback === undefined ? null : setbackView(setback),
  };
}

/** Each version that callers speak fails by itself. */
const lastSetback = (book: CardBook, rule: AgentRule): Setback | undefined =>
  Object.values(CARD_REQUESTS)
    .flatMap((request) => book.setback(rule, request) ?? [])
    .toSorted((one, other) => other.at - one.at)[0];

type CardView = Pick<AgentView, 'name' | 'verdict' | 'reviewed' | 'lifetime' | 'staleUntil'>;

const NO_CARD: CardView = { name: null, verdict: null, reviewed: null, lifetime: 0, staleUntil: epochMs(0) };

function cardView(entry: Entry | undefined, freshUntil: EpochMs): CardView {
  if (entry === undefined) return NO_CARD;
  const { admission, lifetime } = entry;
  const stale = mayBeStaleFor(entry);
  return {
    name: admission?.facts.name ?? null,
    verdict: admission?.verdict ?? null,
    reviewed: admission?.review ?? null,
    lifetime: lifetime.fresh,
    staleUntil: stale > 0 ? later(freshUntil, stale) : epochMs(0),
  };
}

const setbackView = ({ refusal, at, failures, retryAt }: Setback): AgentView['setback'] => ({
  code: refusal.code,
  detail: refusal.detail,
  remedy: fault(refusal.code).mend,
  at,
  failures,
  retryAt,
});

function servedCard(parts: AdminParts, agent: AgentName): ReturnType<AdminPorts['card']> {
  const { discovery } = parts;
  const rule = ruleOf(discovery, agent);
  if (rule === undefined || discovery.book.stopped(rule) !== undefined) return undefined;
  const entry =
    discovery.book.current(rule, CARD_REQUESTS['1.0']) ?? discovery.book.current(rule, CARD_REQUESTS.absent);
  if (entry === undefined) return undefined;
  return { body: entry.body, contentType: fieldValue(entry.fields, 'content-type') ?? 'application/json' };
}

async function refresh(parts: AdminParts, agent: AgentName): ReturnType<AdminPorts['refresh']> {
  const { discovery } = parts;
  const rule = ruleOf(discovery, agent);
  if (rule === undefined) return refused(refuse('unknown-agent', 'No agent of this name is configured.'));
  const { refreshed } = await discovery.book.update(rule, CARD_REQUESTS['1.0']);
  if (!refreshed.ok) return refused(refreshed.refusal);
  return accepted({ outcome: refreshed.outcome, digest: refreshed.entry.admission?.digest ?? null });
}

/** Says what a name or a URL is to the rules: an agent, a card, an origin, or nothing that may be had, and why. */
function describe({ discovery }: AdminParts, target: string): Described | undefined {
  const agent = discovery.rules().agents.get(agentName(target));
  if (agent !== undefined) return describedAgent(agent);
  if (!/^https?:\/\//i.test(target)) return undefined;
  const place = discovery.find(target);
  switch (place.is) {
    case 'card':
      return describedAgent(place.agent);
    case 'origin':
      return { agent: null, rule: place.rule.name, url: place.url, tags: originTags(place.url), refusal: null };
    case 'refused': {
      const parsed = parseTarget(target);
      const [url, tags] = parsed.ok ? [parsed.value.url, originTags(parsed.value.url)] : [null, []];
      return { agent: null, rule: place.rule?.name ?? null, url, tags, refusal: place.why(null) };
    }
  }
}

const describedAgent = (agent: AgentRule): Described => ({
  agent: agent.name,
  rule: agent.by?.name ?? `agents.${agent.name}`,
  url: agent.cards[0] ?? null,
  tags: agentTags(agent),
  refusal: null,
});
