import type { EgressRule, OriginPattern } from '../kernel/egress-rule.ts';
import type { AgentName } from '../kernel/ids.ts';
import { coversOrigin, formatPattern } from '../kernel/origins.ts';
import type { KeySetRule, KeySource, OriginRule } from '../policy/rules.ts';
import { egressRule, type Reach } from './compile-egress.ts';
import type { KeyDocuments } from './key-documents.ts';
import type { AgentSettings, KeySetSettings, Settings } from './schema.ts';
import type { CardUrl } from './types/web.ts';

/** Turns `keys` into rules, by name. */
export function compileKeySets(
  { keys, agents }: Settings,
  origins: readonly OriginRule[],
  documents: KeyDocuments,
): ReadonlyMap<string, KeySetRule> {
  const sourceOf = (name: string, { jwks }: KeySetSettings): KeySource => {
    if (jwks === null) return { from: 'document', document: documents.get(name) ?? new Uint8Array() };
    const users = [...agents].filter(([, agent]) => agent.keys.includes(name));
    return { from: 'url', url: jwks.url, egress: egressOf(jwks, users, origins) };
  };
  return new Map(
    [...keys].map(([name, set]) => [name, { name, jku: null, source: sourceOf(name, set), revoked: set.revoked }]),
  );
}

/** The sets behind an agent's `jku`: its own alone, so that no agent's URL vouches for another's card. */
export const jkuSets = (name: AgentName, agent: AgentSettings): readonly KeySetRule[] =>
  [...new Map(agent.jku.map((place) => [place.url, place])).values()].map(({ url, pattern }) => ({
    name: url,
    jku: url,
    source: { from: 'url', url, egress: egressRule(`agents.${name}`, agent, [pattern]) },
    revoked: [],
  }));

/**
 * "its address, cleartext and TLS rules come from the agent it belongs to, else from the rule that covers it": it belongs to an agent
 * that lists the set and lives on the same origin. Otherwise exactly its origin may be reached, at public addresses.
 */
export function egressOf(
  { pattern }: CardUrl,
  users: readonly (readonly [AgentName, AgentSettings])[],
  origins: readonly OriginRule[],
): EgressRule {
  const owner = users.find(([, { origin, card }]) => covers(origin?.pattern ?? card?.pattern, pattern));
  if (owner !== undefined) return egressRule(`agents.${owner[0]}`, owner[1], [pattern]);
  const covering = origins.filter(({ match }) => covers(match, pattern));
  const rule = covering.find(({ match }) => !match.wildcard) ?? covering[0];
  if (rule !== undefined) return { ...rule.egress, allowed: [pattern] };
  return egressRule(`origins["${formatPattern(pattern)}"]`, DEFAULT, [pattern]);
}

const DEFAULT: Reach = { tls: null, unsafeCleartext: false, unsafeAddresses: [] };

const covers = (one: OriginPattern | undefined, other: OriginPattern): boolean =>
  one !== undefined && coversOrigin(one, other);
