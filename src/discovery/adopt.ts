import { agentName, type Tag, tag } from '../kernel/ids.ts';
import { coversOrigin } from '../kernel/origins.ts';
import { keepUnchanged } from '../policy/keep-unchanged.ts';
import { buildRoutes, type RouteTable } from '../policy/route.ts';
import { isBlockedByRegistry } from '../policy/registered.ts';
import type { AgentRule, OriginRule, Rules } from '../policy/rules.ts';
import type { Store } from '../ports.ts';
import type { CardBook } from './card-book.ts';
import { CARD_REQUESTS } from './card-request.ts';
import type { Extended } from './extended.ts';
import { agentCardKey, agentTags } from './key.ts';
import type { OwnCredentials } from './own-credentials.ts';
import type { Registries } from './registries.ts';
import type { Schedule } from './schedule.ts';
import type { Stops } from './stops.ts';
import type { Trust } from './trust.ts';

/** The rules in force, read anew wherever they are needed. */
export interface Snapshot {
  /** As they are configured. */
  given: Rules;
  /** The same with what registries say laid over them. */
  rules: Rules;
  routes: RouteTable;
}

interface Parts {
  readonly snapshot: Snapshot;
  readonly store: Store;
  readonly stops: Stops;
  readonly keys: Pick<Trust, 'prepare'>;
  readonly book: CardBook;
  readonly schedule: Schedule;
  /** What is held for callers: of an agent whose rule has changed in anything, nothing stays. */
  readonly extended: Pick<Extended, 'purge'>;
  readonly own: Pick<OwnCredentials, 'follow'>;
  readonly registries: Pick<Registries, 'follow' | 'place' | 'note'>;
  /** Cuts the answers that are being written under a tag. */
  readonly cut: (scope: Tag) => void;
}

/** Puts another snapshot in force, whole and between two requests. One at a time. */
export async function adoptRules(given: Rules, parts: Parts): Promise<void> {
  const { snapshot, keys, registries } = parts;
  const followKeys = await keys.prepare(keepUnchanged(snapshot.rules, given));
  // Nothing is awaited in between: a request sees the old rules or the new ones, and never some of each.
  followKeys();
  registries.follow(given);
  snapshot.given = given;
  await replaceRules(parts);
  tryAgain(parts);
}

/** Puts in force what registries say now, over the rules as they are configured: at once, up to the disk. */
export async function placeAgain(parts: Parts): Promise<void> {
  const { given, rules } = parts.snapshot;
  const next = keepUnchanged(rules, parts.registries.place(given));
  const isNews = [...next.agents.values()].some((agent) => rules.agents.get(agent.name) !== agent);
  if (isNews) await replaceRules(parts);
}

async function replaceRules(parts: Parts): Promise<void> {
  const { snapshot, book, schedule, registries } = parts;
  const before = snapshot.rules;
  const next = keepUnchanged(before, registries.place(snapshot.given));
  snapshot.rules = next;
  snapshot.routes = buildRoutes(next);
  parts.own.follow(next);
  registries.note(before, next);
  const leaving = leaveRules(before, next, parts);
  const changed = [...next.agents.values()].filter((agent) => before.agents.get(agent.name) !== agent);
  const reliving = changed.map((agent) => book.relive(agent));
  await Promise.all([leaving, ...reliving]);
  // All at once: one that waits for keys which cannot be had must not hold up the others.
  await Promise.all(changed.map((agent) => book.judgeStored(agent)));
  // Meanwhile others may have come into force.
  schedule.follow(snapshot.rules);
}

/**
 * Takes leave of rules that are gone: their fetches end, and nothing of an agent that was taken out, whose card lives elsewhere now,
 * or whose registry has revoked it, stays behind. A card whose rule has other settings stays, to be judged by them. Everything up to
 * the disk happens at once.
 */
async function leaveRules(before: Rules, next: Rules, parts: Parts): Promise<void> {
  const { stops, book, store, extended, cut } = parts;
  const replaced = [...before.agents.values()].filter((agent) => next.agents.get(agent.name) !== agent);
  for (const agent of replaced) stops.end(agentTags(agent));
  extended.purge(
    replaced.map(({ name }) => tag(`agent:${name}`)),
    false,
  );
  stops.endWhere((tags) => isWithdrawn(tags, before, next));
  const left = replaced.filter((agent) => !livesOn(agent, next));
  for (const agent of left) book.forget(agent);
  const tags = left.map(({ name }) => tag(`agent:${name}`));
  for (const each of tags) stops.endWatched(each);
  for (const { name } of left) {
    const today = next.agents.get(name);
    if (today === undefined || !isBlockedByRegistry(today)) continue;
    cut(tag(`agent:${name}`));
    stops.stop(tag(`agent:${name}`));
  }
  if (tags.length > 0) await store.purge(tags, false);
}

/** True where the agent is still configured, at the same URL, and its registry does not stop it. */
function livesOn(agent: AgentRule, next: Rules): boolean {
  const today = next.agents.get(agent.name);
  return today !== undefined && agentCardKey(today) === agentCardKey(agent) && !isBlockedByRegistry(today);
}

/** Streams of an origin that no rule lets any more are cut; one whose settings changed finishes what it began. */
function isWithdrawn(tags: readonly Tag[], before: Rules, next: Rules): boolean {
  const isOfAgent = (each: Tag): boolean =>
    each.startsWith('agent:') && next.agents.has(agentName(each.slice('agent:'.length)));
  if (tags.some(isOfAgent)) return false;
  const [, host, port] = tags.map((each) => /^origin:(.+):(\d+)$/.exec(each)).find((found) => found !== null) ?? [];
  if (host === undefined) return false;
  const reached = { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) };
  const covers = ({ match }: OriginRule): boolean => coversOrigin(match, { ...reached, scheme: match.scheme });
  return before.origins.some(covers) && !next.origins.some(covers);
}

/** What failed before may not fail now: certificates, addresses and permissions are what reloads are made for. */
function tryAgain({ snapshot: { rules }, book, schedule }: Parts): void {
  const agents = [...rules.agents.values()];
  const failing = new Set(agents.filter((agent) => book.setback(agent, CARD_REQUESTS['1.0']) !== undefined));
  book.forgive();
  if (rules.prefetch.enabled) schedule.wake((agent) => failing.has(agent));
}
