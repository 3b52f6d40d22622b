import type { ActiveStop, Stopped } from '../policy/kills.ts';
import { registryStops } from '../policy/registered.ts';
import type { Rules } from '../policy/rules.ts';

/** Everything that is stopped, whoever stops it: whatever obeys a kill obeys a registry too. Kills go first. */
export function stoppedBy(kills: Stopped, rules: () => Rules): Stopped {
  let known:
    | { readonly of: Rules; readonly kills: readonly ActiveStop[]; readonly all: readonly ActiveStop[] }
    | undefined;
  return {
    active() {
      const [today, active] = [rules(), kills.active()];
      if (known?.of !== today || known.kills !== active) {
        const byRegistries = registryStops(today);
        const all = byRegistries.length === 0 ? active : [...active, ...byRegistries];
        known = { of: today, kills: active, all };
      }
      return known.all;
    },
  };
}
