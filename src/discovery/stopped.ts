import { type ActiveStop, type Stopped, killOf } from '../policy/kills.ts';
import { registryStops } from '../policy/registered.ts';
import type { AgentRule, Rules } from '../policy/rules.ts';
import { agentTags } from './key.ts';

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

/** What stops an agent, where something does. Floor: nothing is stopped, and no tags are made. */
export function stopOfAgent(stopped: Stopped, agent: AgentRule): ActiveStop | undefined {
  const active = stopped.active();
  return active.length === 0 ? undefined : killOf(active, agentTags(agent));
}
