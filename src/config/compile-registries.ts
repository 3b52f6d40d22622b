import { ms } from '../kernel/units.ts';
import type { OriginRule, Registration, RegistryRule, RegistrySource } from '../policy/rules.ts';
import { egressOf } from './compile-keys.ts';
import type { AgentSettings, RegistrySettings, Settings } from './schema.ts';

/** Turns `registries` into rules; a URL is reached as the rule says that covers it. */
export function compileRegistries(
  { registries, egress }: Settings,
  origins: readonly OriginRule[],
): readonly RegistryRule[] {
  const sourceOf = ({ url, file }: RegistrySettings): RegistrySource =>
    url === null
      ? { from: 'file', file: file ?? '' }
      : { from: 'url', url: url.url, egress: egressOf(url, { users: [], origins, egress }) };
  return registries.map((registry) => {
    const { name, kind, refresh, maxStale } = registry;
    return { name, kind, source: sourceOf(registry), refresh, maxStale };
  });
}

/** Turns what an agent names into its registration, of which nothing is known yet; null for an agent that names no entry. */
export function registrationOf(
  { registry: name, id, risk }: AgentSettings,
  { registries }: Settings,
): Registration | null {
  const registry = registries.find((each) => each.name === name);
  if (registry === undefined || id === null) return null;
  const { status, refresh, maxStale } = registry;
  const isHigh = risk === 'high';
  const unknown = isHigh && (status.unknown === 'allow' || status.unknown === 'report') ? 'hold' : status.unknown;
  return {
    registry: registry.name,
    id,
    actions: { ...status, unknown },
    maxAge: isHigh ? ms(Math.min(refresh, maxStale)) : maxStale,
    status: 'unknown',
    action: unknown,
    said: 'it was not asked yet',
    misplaced: null,
  };
}
