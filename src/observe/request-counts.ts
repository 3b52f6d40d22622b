import type { AgentName } from '../kernel/ids.ts';
import { REQUEST_KINDS, REQUEST_RESULTS, type RequestKind, type RequestResult } from '../kernel/outcome.ts';

const KIND_AT = placesOf(REQUEST_KINDS);
const RESULT_AT = placesOf(REQUEST_RESULTS);
const PLACES = REQUEST_KINDS.length * REQUEST_RESULTS.length;
/** Whoever is in no configuration: a label whose values others choose would grow without end. */
export const OTHER = 'other';

/** How often one combination of labels occurred. */
export interface RequestCount {
  readonly labels: { readonly agent: string; readonly kind: RequestKind; readonly result: RequestResult };
  readonly count: number;
}

/**
 * Requests by agent, kind and result. Every hit passes here: it finds its agent's row and adds one in place, and nothing is made.
 */
export class RequestCounts {
  readonly #rows = new Map<string, Float64Array>([[OTHER, new Float64Array(PLACES)]]);

  /** False, and nothing is counted, where there is no row for the agent. */
  add(agent: AgentName | typeof OTHER, kind: RequestKind, result: RequestResult): boolean {
    const row = this.#rows.get(agent);
    if (row === undefined) return false;
    const at = KIND_AT[kind] * REQUEST_RESULTS.length + RESULT_AT[result];
    row[at] = (row[at] ?? 0) + 1;
    return true;
  }

  /** Makes rows for agents that have none and takes away those of agents that are no more. */
  follow(agents: ReadonlySet<string>): void {
    for (const agent of this.#rows.keys()) if (agent !== OTHER && !agents.has(agent)) this.#rows.delete(agent);
    for (const agent of agents) if (!this.#rows.has(agent)) this.#rows.set(agent, new Float64Array(PLACES));
  }

  /** Lists what occurred, and for each agent's public card also what has not: a rise from nothing must be seen. */
  *list(): Generator<RequestCount> {
    for (const [agent, row] of this.#rows) {
      let at = 0;
      for (const kind of REQUEST_KINDS) {
        for (const result of REQUEST_RESULTS) {
          const count = row[at++] ?? 0;
          if (count > 0 || (agent !== OTHER && kind === 'public')) yield { labels: { agent, kind, result }, count };
        }
      }
    }
  }
}

/** Numbers the members of a closed list. */
function placesOf<Member extends string>(members: readonly Member[]): Readonly<Record<Member, number>> {
  return Object.fromEntries(members.map((member, at) => [member, at])) as Record<Member, number>;
}
