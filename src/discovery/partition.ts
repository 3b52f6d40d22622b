import type { CallerVersion } from '../kernel/ask.ts';
import type { PartitionKey } from '../kernel/extended-entry.ts';
import type { AgentName, Url } from '../kernel/ids.ts';
import type { NameHash, Principal } from '../kernel/principal.ts';

/** What the origin is shown, by a name that is no secret. */
export type ShownName =
  /** The caller's own; `verified` where the principal is what an issuer says of this very credential. */
  | { readonly by: 'caller'; readonly scheme: string; readonly hash: string; readonly verified: boolean }
  | { readonly by: 'static' | 'client'; readonly name: string }
  | { readonly by: 'none' };

/** Everything that an answer for one caller depends on. */
export interface PartitionParts {
  readonly agent: AgentName;
  /** Where the agent is configured to be: another origin's answer is another answer. */
  readonly card: Url;
  /** The tenant of the interface; `''` for none. */
  readonly interfaceTenant: string;
  readonly principal: Principal;
  readonly shown: ShownName;
  readonly version: CallerVersion;
  /** `A2A-Extensions` as it is sent. */
  readonly extensions: string;
}

/**
 * The one place that makes a partition's key. The parts are a list in JSON, so that no two lists have one text; the keyed hash keeps
 * names and credentials out of memory dumps. Nothing else is sent to the origin, so that `Vary` can name nothing that is not in here.
 */
export function partitionKey(parts: PartitionParts, hash: NameHash): PartitionKey {
  const { agent, card, interfaceTenant, principal, shown, version, extensions } = parts;
  const { kind, id, tenant, scopes, roles, audience } = principal;
  const who = [kind, id, tenant, scopes, roles, audience.toSorted()];
  const text = JSON.stringify(['extended', agent, card, interfaceTenant, who, shownParts(shown), version, extensions]);
  return hash('principal', text) as PartitionKey;
}

/** A token that its issuer vouches for may be renewed within one session; any other credential is the caller itself. */
function shownParts(shown: ShownName): readonly string[] {
  switch (shown.by) {
    case 'caller':
      return [shown.by, shown.scheme, shown.verified ? '' : shown.hash];
    case 'static':
    case 'client':
      return [shown.by, shown.name];
    case 'none':
      return [shown.by];
  }
}
