import { type Kill, kindOfScope, scopeCovers } from '../kernel/kill.ts';
import type { RegistryStop } from '../kernel/registry.ts';
import type { FaultCode } from '../kernel/faults.ts';
import type { AgentName, Tag } from '../kernel/ids.ts';
import { type Refusal, refuse } from '../kernel/refusal.ts';
import { seconds } from '../kernel/units.ts';

/** What is stopped, whoever stops it: an administrator by a kill, or a registry. */
export type ActiveStop = Kill | RegistryStop;

/** Everything that is stopped now; the same list until that changes. */
export interface Stopped {
  active(): readonly ActiveStop[];
}

/** Nobody knows when a kill is lifted: soon enough to notice, seldom enough for a stopped fleet. */
const ASK_AGAIN = seconds(30);

/** Finds a kill that covers something by its tags. */
export const killOf = (kills: readonly ActiveStop[], tags: readonly Tag[]): ActiveStop | undefined =>
  kills.find(({ scope }) => scopeCovers(scope, tags));

/** Refuses what a kill covers by its tags; undefined for what none does. */
export function refusedBy(
  kills: readonly ActiveStop[],
  tags: readonly Tag[],
  agent: AgentName | null,
): Refusal | undefined {
  const kill = killOf(kills, tags);
  return kill === undefined ? undefined : killed(kill, agent);
}

/** Says that something is stopped; neither reason nor id of a kill goes to a caller: they are for whoever may lift it. */
export function killed(stop: ActiveStop, agent: AgentName | null): Refusal {
  const named = agent === null ? {} : { agent };
  if (isByRegistry(stop)) {
    const detail = `The registry ${stop.registry} says that this agent is ${stop.status}; it is used again when the registry says otherwise.`;
    return refuse('registry-revoked', detail, named);
  }
  const kind = kindOfScope(stop.scope);
  const detail = `Stopped by the kill switch (${kind}); only an administrator can lift it.`;
  return refuse('killed', detail, { kill: kind, retryAfter: ASK_AGAIN, ...named });
}

export const isByRegistry = (stop: ActiveStop): stop is RegistryStop => 'registry' in stop;

/** True for the refusals that a stop makes. */
export const isStop = (code: FaultCode): boolean => code === 'killed' || code === 'registry-revoked';
