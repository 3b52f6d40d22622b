import type { Ask } from '../kernel/ask.ts';
import { type AgentName, agentName } from '../kernel/ids.ts';
import { parseTarget } from '../kernel/origins.ts';
import { type Outcome, accepted, refused } from '../kernel/refusal.ts';
import { type EpochMs, epochMs } from '../kernel/units.ts';
import type { ReceiptQuery } from '../ports.ts';
import { bad, shown } from './body.ts';

/** Reads the query members of a request: each once, and none but those that mean something. */
export function readQuery(ask: Ask, members: readonly string[]): Outcome<ReadonlyMap<string, string>> {
  const at = ask.target.indexOf('?');
  const found = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(at === -1 ? '' : ask.target.slice(at + 1))) {
    if (!members.includes(name))
      return refused(bad(`${shown(name)} is no query member here; known: ${members.join(', ')}.`));
    if (found.has(name)) return refused(bad(`${name} stands twice.`));
    found.set(name, value);
  }
  return accepted(found);
}

const USUAL_LIMIT = 100;
const LARGEST_LIMIT = 1_000;

/** Reads which receipts are wanted: `agent`, `since` (a time, or how long ago: `15m`), `before`, `limit`. */
export function receiptQuery(ask: Ask, now: EpochMs): Outcome<ReceiptQuery> {
  const query = readQuery(ask, ['agent', 'since', 'before', 'limit']);
  if (!query.ok) return query;
  const agent = query.value.get('agent');
  const since = query.value.get('since');
  const before = query.value.get('before');
  const limit = Number(query.value.get('limit') ?? USUAL_LIMIT);
  if (agent !== undefined && !isAgentName(agent)) return refused(bad(`agent: ${shown(agent)} is no name of an agent.`));
  const from = since === undefined ? undefined : readSince(since, now);
  if (since !== undefined && from === undefined) {
    return refused(bad('since must be a time such as 2026-11-30T12:00:00Z, or how long ago, such as 15m.'));
  }
  if (before !== undefined && !/^[1-9]\d{0,15}$/.test(before))
    return refused(bad('before must be the next of another page.'));
  if (!Number.isInteger(limit) || limit < 1 || limit > LARGEST_LIMIT) {
    return refused(bad(`limit must be 1 to ${LARGEST_LIMIT}.`));
  }
  return accepted({
    limit,
    ...(agent === undefined ? {} : { agent: agentName(agent) }),
    ...(from === undefined ? {} : { since: from }),
    ...(before === undefined ? {} : { before: Number(before) }),
  });
}

/** The name of an agent, or the URL of a card that has none, as it is used. */
function isAgentName(text: string): boolean {
  if (/^[a-z0-9-]{1,63}$/.test(text)) return true;
  const target = parseTarget(text);
  return target.ok && target.value.url === text;
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function readSince(text: string, now: EpochMs): EpochMs | undefined {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count !== undefined) return epochMs(now - Number(count) * (UNITS[unit] ?? 0));
  // With a zone: whose clock is meant must not be guessed.
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : epochMs(at);
}

/** Reads what stands for an agent in a path: its name, or the URL of a card that has none as `encodeURIComponent` writes it, and no other way. */
export function asAgent(written: string): AgentName {
  const url = URL.parse(`http://x/?${written}`)?.searchParams.keys().next().value ?? '';
  return agentName(written.includes('%') && encodeURIComponent(url) === written ? url : written);
}
