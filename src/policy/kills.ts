import { type Kill, kindOfScope } from '../kernel/kill.ts';
import type { AgentName, Tag } from '../kernel/ids.ts';
import { type Refusal, refuse } from '../kernel/refusal.ts';
import { seconds } from '../kernel/units.ts';

/** Nobody knows when a kill is lifted: soon enough to notice, seldom enough for a stopped fleet. */
const ASK_AGAIN = seconds(30);

/** Finds a kill that covers something by its tags. */
export const killOf = (kills: readonly Kill[], tags: readonly Tag[]): Kill | undefined =>
  kills.find(({ scope }) => scope === 'all' || tags.includes(scope));

/** Refuses what a kill covers by its tags; undefined for what none does. */
export function refusedBy(kills: readonly Kill[], tags: readonly Tag[], agent: AgentName | null): Refusal | undefined {
  const kill = killOf(kills, tags);
  return kill === undefined ? undefined : killed(kill, agent);
}

/** Says that something is stopped; neither reason nor id goes to a caller: they are for whoever may lift it. */
export function killed({ scope }: Kill, agent: AgentName | null): Refusal {
  const kind = kindOfScope(scope);
  return refuse('killed', `Stopped by the kill switch (${kind}); only an administrator can lift it.`, {
    kill: kind,
    retryAfter: ASK_AGAIN,
    ...(agent === null ? {} : { agent }),
  });
}
