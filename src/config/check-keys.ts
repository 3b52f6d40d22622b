import type { OriginPattern } from '../kernel/egress-rule.ts';
import { coversOrigin } from '../kernel/origins.ts';
import type { Finding } from './checks.ts';
import { nearest } from './nearest.ts';
import { itemPath, memberPath, quote } from './place.ts';
import type { AgentSettings, KeySetSettings, OriginSettings, Settings } from './schema.ts';
import type { Draft } from './table.ts';

/** Checks what agents say of keys against the keys that there are. */
export function checkKeys(draft: NonNullable<Draft<Settings>>): readonly Finding[] {
  const defined = [...(draft.keys?.keys() ?? [])];
  return [
    ...[...(draft.keys ?? [])].flatMap(([name, set]) => checkSet(memberPath('keys', name), name, set, draft)),
    ...[...(draft.agents ?? [])].flatMap(([name, agent]) => checkAgent(memberPath('agents', name), agent, defined)),
    ...(draft.origins ?? []).flatMap((rule, index) => checkAgent(itemPath('origins', index), rule, defined)),
  ];
}

type Signed = Draft<Pick<AgentSettings, 'keys' | 'jku' | 'signature' | 'signatures' | 'unsafeCleartext'>>;

function checkAgent(path: string, agent: Signed, defined: readonly string[]): readonly Finding[] {
  if (agent === undefined) return [];
  const { keys = [], jku = [], signature, signatures } = agent;
  const named = keys.flatMap((name, index) =>
    name === undefined || defined.includes(name)
      ? []
      : [{ path: itemPath(`${path}.keys`, index), message: undefinedSet(name, defined) }],
  );
  const cleartext = jku.flatMap((place, index) =>
    place?.pattern?.scheme === 'http' && agent.unsafeCleartext === false
      ? [{ path: itemPath(`${path}.jku`, index), message: CLEARTEXT }]
      : [],
  );
  const needs = signature === 'require' ? 'signature: require' : (signatures ?? 1) > 1 ? 'signatures' : undefined;
  if (needs === undefined || keys.length > 0 || jku.length > 0 || agent.keys === undefined || agent.jku === undefined)
    return [...named, ...cleartext];
  const message = 'needs keys to verify with; list key sets as keys: [NAME], or URLs as jku: [URL]';
  return [{ path: `${path}.${needs === 'signatures' ? needs : 'signature'}`, message }, ...named, ...cleartext];
}

function undefinedSet(name: string, defined: readonly string[]): string {
  const near = nearest(name, defined);
  const mend = near === null ? `; define it: keys: { ${name}: { jwks: https://… } }` : `; did you mean ${near}?`;
  return `${quote(name)} is no key set of this file${mend}`;
}

const SOURCES = ['jwks', 'file', 'inline'] as const;
const CLEARTEXT =
  'is http://, where anyone on the way can put in a key; write https://, or unsafeCleartext: true for the agent or rule';

function checkSet(
  path: string,
  name: string,
  set: Draft<KeySetSettings>,
  draft: NonNullable<Draft<Settings>>,
): readonly Finding[] {
  if (set === undefined) return [];
  const written = SOURCES.filter((source) => set[source] !== null);
  if (written.length === 0)
    return [{ path, message: 'has no keys; write jwks: with a URL, file: with a path, or inline: with JSON text' }];
  const [first, second] = written;
  if (second !== undefined)
    return [{ path: `${path}.${second}`, message: `stands beside ${first}; write one of them` }];
  const pattern = set.jwks?.pattern;
  if (pattern?.scheme !== 'http' || reachedInCleartext(name, pattern, draft)) return [];
  return [{ path: `${path}.jwks`, message: CLEARTEXT }];
}

/** The agents that list the set and the rules: whoever covers the URL says whether cleartext is meant. */
function reachedInCleartext(
  name: string,
  pattern: Draft<OriginPattern>,
  { agents, origins }: NonNullable<Draft<Settings>>,
): boolean {
  const isSame = (one: Draft<OriginPattern>): boolean => isWhole(one) && isWhole(pattern) && coversOrigin(one, pattern);
  const owners = [...(agents ?? []).values()].filter(
    (agent) => agent?.keys?.includes(name) === true && isSame(agent.origin?.pattern ?? agent.card?.pattern),
  );
  const rules = (origins ?? []).filter((rule: Draft<OriginSettings>) => isSame(rule?.match?.pattern));
  return [...owners, ...rules].some((each) => each?.unsafeCleartext !== false);
}

const isWhole = (pattern: Draft<OriginPattern>): pattern is OriginPattern => pattern?.scheme !== undefined;
