import { type CarriedInterface, carriedInterfaces, unknownTenant } from '../card/pick-interface.ts';
import { normaliseCard } from '../card/normalise.ts';
import { parseCard } from '../card/parse.ts';
import { type Security, readSecurity } from '../card/security.ts';
import { recogniseVersion } from '../card/version.ts';
import type { CallerVersion } from '../kernel/ask.ts';
import type { Entry } from '../kernel/entry.ts';
import { type Outcome, accepted, refuse, refused } from '../kernel/refusal.ts';
import type { AgentRule } from '../policy/rules.ts';

/** What the accepted public card says of the extended one. */
export interface PublicCard {
  readonly security: Security;
  readonly interfaces: readonly CarriedInterface[];
}

/** Reads an accepted card; once for its bytes. */
export type ReadPublicCard = (entry: Entry, agent: AgentRule) => PublicCard;

export function createReadPublicCard(): ReadPublicCard {
  const read = new WeakMap<Uint8Array, { readonly rule: AgentRule['card']; readonly card: PublicCard }>();
  return ({ body }, { card: rule }) => {
    const known = read.get(body);
    if (known?.rule === rule) return known.card;
    const card = readCard(body, rule);
    read.set(body, { rule, card });
    return card;
  };
}

function readCard(body: Uint8Array, rule: AgentRule['card']): PublicCard {
  const parsed = parseCard(body, rule);
  if (!parsed.ok) throw new Error(`an accepted card cannot be read: ${parsed.refusal.detail}`);
  const version = recogniseVersion(parsed.value, rule);
  if (!version.ok) throw new Error(`an accepted card has no version: ${version.refusal.detail}`);
  return {
    security: readSecurity(normaliseCard(parsed.value, version.value).card),
    interfaces: carriedInterfaces(parsed.value, rule),
  };
}

/**
 * Picks the interfaces that an extended card is asked for by: those of the caller's tenant, in the caller's version first, then in the
 * card's order. A caller that names no tenant is served by an interface that has none, where there is one.
 */
export function interfacesFor(
  { interfaces }: PublicCard,
  tenant: string,
  version: CallerVersion,
): Outcome<readonly CarriedInterface[]> {
  if (interfaces.length === 0) {
    const detail =
      'The card names no interface over JSON-RPC or HTTP+JSON, in which extended cards are asked for here.';
    return refused(refuse('extended-not-supported', detail));
  }
  const named = interfaces.filter((one) => one.tenant === tenant);
  // The very answer that an unknown agent gets: which tenants an agent has is nobody's business who does not know.
  if (tenant !== '' && named.length === 0) return refused(unknownTenant());
  const own = named.length > 0 ? named : interfaces.filter((one) => one.tenant === interfaces[0]?.tenant);
  const modern = version === '1.0';
  return accepted(own.toSorted((one, other) => rank(one, modern) - rank(other, modern)));
}

const rank = ({ version }: CarriedInterface, modern: boolean): number => Number((version === '1.0') !== modern);
