/** What a stop may be about, and what it would stop. */

/** @import { Agent } from './shapes.ts' */

/** @typedef {{ readonly kind: string, readonly label: string, readonly means: string, readonly example: string }} ScopeKind */

/** @type {readonly ScopeKind[]} */
export const KINDS = [
  { kind: 'agent', label: 'An agent', means: 'Its card, its extended cards and every call to it.', example: 'weather' },
  {
    kind: 'origin',
    label: 'An origin',
    means: 'Everything that is fetched from a host, whatever agent it belongs to.',
    example: 'agents.example.com',
  },
  { kind: 'kid', label: 'A key', means: 'Every card that this key signed.', example: 'key-2026' },
  { kind: 'tenant', label: 'A tenant', means: 'Every request by callers of this tenant.', example: 'acme' },
  {
    kind: 'principal',
    label: 'A caller',
    means: 'Every request by this caller: issuer#subject, or the hash that a receipt shows.',
    example: 'https://idp.example.com#anna',
  },
  { kind: 'all', label: 'Everything', means: 'Every request, and every fetch that is under way.', example: '' },
];

/**
 * The scope as the daemon writes it; '' while there is nothing to name.
 * @param {string} kind
 * @param {string} name
 */
export function scopeOf(kind, name) {
  if (kind === 'all') return 'all';
  const trimmed = name.trim();
  return trimmed === '' ? '' : `${kind}:${kind === 'origin' ? trimmed.toLowerCase() : trimmed}`;
}

/**
 * Takes a scope apart; what is no scope names no agent.
 * @param {string} scope
 */
export function partsOf(scope) {
  const colon = scope.indexOf(':');
  if (scope === 'all') return { kind: 'all', name: '' };
  const kind = colon === -1 ? '' : scope.slice(0, colon);
  return KINDS.some((each) => each.kind === kind)
    ? { kind, name: scope.slice(colon + 1) }
    : { kind: 'agent', name: '' };
}

/**
 * The names that agents give to a kind of scope, for whoever does not remember them.
 * @param {readonly Agent[]} agents
 * @param {string} kind
 * @returns {readonly string[]}
 */
export function knownNames(agents, kind) {
  const tags = kind === 'agent' ? agents.map(({ agent }) => `agent:${agent}`) : agents.flatMap((agent) => agent.tags);
  const names = tags.filter((tag) => tag.startsWith(`${kind}:`)).map((tag) => tag.slice(kind.length + 1));
  return [...new Set(names)].toSorted();
}
