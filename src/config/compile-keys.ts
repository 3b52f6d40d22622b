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
  { keys, agents, egress }: Settings,
  origins: readonly OriginRule[],
  documents: KeyDocuments,
): ReadonlyMap<string, KeySetRule> {
  const sourceOf = (name: string, { jwks }: KeySetSettings): KeySource => {
    if (jwks === null) return { from: 'document', document: documents.get(name) ?? new Uint8Array() };
    const users = [...agents].filter(([, agent]) => agent.keys.includes(name));
    return { from: 'url', url: jwks.url, egress: egressOf(jwks, { users, origins, egress }) };
  };
  return new Map(
    [...keys].map(([name, set]) => [name, { name, jku: null, source: sourceOf(name, set), revoked: set.revoked }]),
  );
}

/**
 * The sets behind an agent's `jku`: its own alone, so that no agent's URL vouches for another's card. They are reached as the agent is;
 * where a registry says where that is, as the rule says that covers them.
 */
export function jkuSets(
  place: string,
  agent: AgentSettings,
  { origins, egress }: Pick<Owners, 'origins' | 'egress'>,
): readonly KeySetRule[] {
  const reached = (jku: CardUrl): EgressRule =>
    agent.registry === null
      ? egressRule({ name: place, reach: agent, egress }, [jku.pattern])
      : egressOf(jku, { users: [], origins, egress });
  return [...new Map(agent.jku.map((each) => [each.url, each])).values()].map((jku) => ({
    name: jku.url,
    jku: jku.url,
    source: { from: 'url', url: jku.url, egress: reached(jku) },
    revoked: [],
  }));
}

/** Who may say how a URL of the configuration is reached. */
interface Owners {
  /** The agents that list the set. */
  readonly users: readonly (readonly [AgentName, AgentSettings])[];
  readonly origins: readonly OriginRule[];
  readonly egress: Settings['egress'];
}

/**
 * "its address, cleartext and TLS rules come from the agent it belongs to, else from the rule that covers it": it belongs to an agent
 * that lists the set and lives on the same origin. Otherwise exactly its origin may be reached, at public addresses.
 */
export function egressOf({ pattern }: CardUrl, { users, origins, egress }: Owners): EgressRule {
  const owner = users.find(([, { origin, card }]) => covers(origin?.pattern ?? card?.pattern, pattern));
  if (owner !== undefined) return egressRule({ name: `agents.${owner[0]}`, reach: owner[1], egress }, [pattern]);
  const covering = origins.filter(({ match }) => covers(match, pattern));
  const rule = covering.find(({ match }) => !match.wildcard) ?? covering[0];
  if (rule !== undefined) return { ...rule.egress, allowed: [pattern] };
  return egressRule({ name: `origins["${formatPattern(pattern)}"]`, reach: DEFAULT, egress }, [pattern]);
}

const DEFAULT: Reach = { tls: null, proxy: null, unsafeCleartext: false, unsafeAddresses: [] };

const covers = (one: OriginPattern | undefined, other: OriginPattern): boolean =>
  one !== undefined && coversOrigin(one, other);
