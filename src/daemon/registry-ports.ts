import type { AdminPorts, AgentView } from '../admin/ports.ts';
import type { Discovery } from '../discovery/discovery.ts';
import { accepted } from '../kernel/refusal.ts';
import { epochMs } from '../kernel/units.ts';
import type { AgentRule } from '../policy/rules.ts';

type Known = Pick<Discovery, 'registries'>;

/** What the admin API sees of an agent's registry. */
export function registryView({ registries }: Known, { registered }: AgentRule): AgentView['registry'] {
  if (registered === null) return null;
  const { registry: name, id, status, action, said, misplaced } = registered;
  const at = registries.list().find((each) => each.name === name)?.lastSuccess ?? epochMs(0);
  const why = misplaced === null ? null : { code: misplaced.code, detail: misplaced.detail };
  return { name, id, status, action, said, at, misplaced: why };
}

/** How the admin API has registries read. */
export const registryPorts = (
  { registries }: Known,
  views: () => readonly AgentView[],
): Pick<AdminPorts, 'refreshRegistry' | 'hasRegistry'> => ({
  hasRegistry: (name) => registries.list().some((each) => each.name === name),
  async refreshRegistry(name) {
    const looked = await registries.lookUp(name);
    return looked.ok ? accepted(views().filter(({ registry }) => registry?.name === name)) : looked;
  },
});
