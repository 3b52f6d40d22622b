import type { EventFeed } from '../admin/events.ts';
import type { AdminPorts, AgentView, Described } from '../admin/ports.ts';
import { createReviewPorts } from './review-ports.ts';
import { effectiveValues } from '../config/effective.ts';
import type { Settings } from '../config/schema.ts';
import { CARD_REQUESTS } from '../discovery/card-request.ts';
import type { Discovery } from '../discovery/discovery.ts';
import { agentTags, originTags } from '../discovery/key.ts';
import type { KillSwitch } from '../discovery/kill-switch.ts';
import { fieldValue } from '../http/fields.ts';
import { type AgentName, type Url, urlId } from '../kernel/ids.ts';
import { accepted, refuse, refused } from '../kernel/refusal.ts';
import type { AgentRule, OriginRule, Rules } from '../policy/rules.ts';
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
}

/** What the admin API reaches of the daemon. */
export function createAdminPorts(parts: AdminParts): AdminPorts {
  const { discovery, settings } = parts;
  return {
    clock: parts.clock,
    ledger: parts.ledger,
    kills: parts.killSwitch,
    events: parts.events,
    reviews: createReviewPorts(parts),
    drain: parts.drain,
    purge: (tags, soft) => discovery.purge(tags, soft),
    reload: parts.reload,
    config: () => ({ digest: discovery.rules().digest, settings: effectiveValues(settings()) }),
    agents: () => discovery.statuses().flatMap((status) => agentView(parts, status)),
    card: (agent) => servedCard(parts, agent),
    refresh: (agent) => refresh(parts, agent),
    describe: (target) => describe(discovery.rules(), target),
  };
}

function agentView({ discovery }: AdminParts, status: ReturnType<Discovery['statuses']>[number]): AgentView[] {
  const rule = discovery.rules().agents.get(status.agent);
  if (rule === undefined) return [];
  const setback = discovery.book.setback(rule, CARD_REQUESTS['1.0']);
  return [
    {
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
    },
  ];
}

function servedCard({ discovery }: AdminParts, agent: AgentName): ReturnType<AdminPorts['card']> {
  const rule = discovery.rules().agents.get(agent);
  if (rule === undefined || discovery.book.killed(rule) !== undefined) return undefined;
  const entry =
    discovery.book.current(rule, CARD_REQUESTS['1.0']) ?? discovery.book.current(rule, CARD_REQUESTS.absent);
  if (entry === undefined) return undefined;
  return { body: entry.body, contentType: fieldValue(entry.fields, 'content-type') ?? 'application/json' };
}

async function refresh({ discovery }: AdminParts, agent: AgentName): ReturnType<AdminPorts['refresh']> {
  const rule = discovery.rules().agents.get(agent);
  if (rule === undefined) return refused(refuse('unknown-agent', 'No agent of this name is configured.'));
  const { refreshed } = await discovery.book.update(rule, CARD_REQUESTS['1.0']);
  if (!refreshed.ok) return refused(refreshed.refusal);
  return accepted({ outcome: refreshed.outcome, digest: refreshed.entry.admission?.digest ?? null });
}

/** Finds what a name or a URL is to the rules: an agent, an agent's card, an origin that is allowed, or a stranger. */
export function describe(rules: Rules, target: string): Described | undefined {
  const agent = [...rules.agents.values()].find(
    ({ name, cards }) => name === target || cards.some((url) => url === target),
  );
  if (agent !== undefined) return describedAgent(agent);
  const url = /^https?:\/\//i.test(target) ? URL.parse(target) : null;
  if (url === null) return undefined;
  const shown = urlId(`${url.origin}${url.pathname}`);
  const rule = rules.origins.find((each) => matches(each, url));
  const tags = originTags(shown);
  if (rule !== undefined) return { agent: null, rule: rule.name, url: shown, tags, refusal: null };
  const refusal = refuse('origin-not-allowed', `No agent and no rule names ${url.origin}; write one to allow it.`);
  return { agent: null, rule: null, url: shown, tags, refusal };
}

const describedAgent = (agent: AgentRule): Described => ({
  agent: agent.name,
  rule: `agents.${agent.name}`,
  url: agent.cards[0] ?? (null satisfies Url | null),
  tags: agentTags(agent),
  refusal: null,
});

function matches({ match }: OriginRule, { protocol, hostname, port }: URL): boolean {
  const wanted = match.host.includes(':') ? `[${match.host}]` : match.host;
  const actual = port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
  return !match.wildcard && protocol === `${match.scheme}:` && hostname === wanted && actual === match.port;
}
