import type { AgentName, Tag } from '../kernel/ids.ts';
import type { Refusal } from '../kernel/refusal.ts';
import { type ActiveStop, killed, killOf } from './kills.ts';

/** What a request is about, as far as policy looks at it. */
export interface Subject {
  readonly agent: AgentName | null;
  /** Everything that a kill of it could name; empty where it is about nothing in particular. */
  readonly tags: readonly Tag[];
}

/**
 * Decides whether a request goes on to the cache: undefined, or why not. The order is fixed: kill `all`, principal,
 * visibility, scoped kills, registries. It matters: what stops everything must not depend on who asks, and a scoped kill must not tell a
 * caller of an agent that it may not see.
 */
export function decide(kills: readonly ActiveStop[], subject: Subject): Refusal | undefined {
  const { agent, tags } = subject;
  const everything = decideForAll(kills, agent);
  if (everything !== undefined) return everything;
  const scoped = killOf(kills, tags);
  return scoped === undefined ? undefined : killed(scoped, agent);
}

/** The first step alone, before anybody has looked at who asks. */
export function decideForAll(kills: readonly ActiveStop[], agent: AgentName | null): Refusal | undefined {
  const everything = killOf(kills, NOTHING);
  return everything === undefined ? undefined : killed(everything, agent);
}

const NOTHING: readonly Tag[] = [];
