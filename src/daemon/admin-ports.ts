import type { EventFeed } from '../admin/events.ts';
import type { AdminPorts, AgentView, ConsolePorts, Described } from '../admin/ports.ts';
import { createReviewPorts } from './review-ports.ts';
import { ruleOf } from './rule-of.ts';
import { effectiveValues } from '../config/effective.ts';
import type { Settings } from '../config/schema.ts';
import { CARD_REQUESTS } from '../discovery/card-request.ts';
import { type CardStatus, cardStatus } from '../discovery/card-status.ts';
import type { Discovery } from '../discovery/discovery.ts';
import { agentTags, originTags } from '../discovery/key.ts';
import type { KillSwitch } from '../discovery/kill-switch.ts';
import { fieldValue } from '../http/fields.ts';
import { type AgentName, agentName } from '../kernel/ids.ts';
import { parseTarget } from '../kernel/origins.ts';
import { accepted, refuse, refused } from '../kernel/refusal.ts';
import type { AgentRule } from '../policy/rules.ts';
import type { Clock, Evidence, Store } from '../ports.ts';

export interface AdminParts {
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
}

/** What the admin API reaches of the daemon. */
export function createAdminPorts(parts: AdminParts): AdminPorts {
  const { discovery, settings } = parts;
  return {
    clock: parts.clock,
    ledger: parts.ledger,
    kills: parts.killSwitch,
    events: parts.events,
    console: parts.console,
    reviews: createReviewPorts(parts),
    drain: parts.drain,
    purge: (tags, soft) => discovery.purge(tags, soft),
    revoke: (order) => discovery.revoke(order),
    reload: parts.reload,
    config: () => ({ digest: discovery.rules().digest, settings: effectiveValues(settings()) }),
    agents: () => discovery.statuses().flatMap((status) => agentView(parts, status)),
    agent: (agent) => oneAgent(parts, agent),
    card: (agent) => servedCard(parts, agent),
    refresh: (agent) => refresh(parts, agent),
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
  const setback = discovery.book.setback(rule, CARD_REQUESTS['1.0']);
  return {
    ...status,
    urls: rule.cards,
    tags: agentTags(rule),
    setback:
      setback === undefined
        ? null
        : {
            code: setback.refusal.code,
            detail: setback.refusal.detail,
            at: setback.at,
            failures: setback.failures,
            retryAt: setback.retryAt,
          },
  };
}

function servedCard(parts: AdminParts, agent: AgentName): ReturnType<AdminPorts['card']> {
  const { discovery } = parts;
  const rule = ruleOf(discovery, agent);
  if (rule === undefined || discovery.book.killed(rule) !== undefined) return undefined;
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
