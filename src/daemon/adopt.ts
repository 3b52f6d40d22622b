import { isDeepStrictEqual } from 'node:util';
import type { Settings } from '../config/schema.ts';
import type { Graph } from '../daemon.ts';
import type { AdminAuthority } from './authority.ts';
import type { Killing } from './killing.ts';
import type { Listeners } from './listeners.ts';
import { wantedOf } from './make-listener.ts';
import type { DaemonFile } from './places.ts';
import type { Adopted, ValidConfig } from './reload.ts';

interface Parts {
  readonly graph: Graph;
  /** What everything reads the settings of. */
  readonly inForce: { settings: Settings };
  readonly authority: AdminAuthority;
  readonly listeners: Listeners;
  readonly killing: Killing;
  readonly daemonFile: DaemonFile;
}

/** Settings that are read once: everything else counts from a reload on. */
const AT_START: Readonly<Record<string, (settings: Settings) => unknown>> = {
  state: ({ state }) => state,
};

/** Makes the step from one configuration to the next: what can fail comes first, and changes nothing. */
export function createAdopt(parts: Parts): (next: ValidConfig) => Promise<Adopted> {
  const { graph, inForce, authority, listeners, killing, daemonFile } = parts;
  // The state folder is the one of the start, whatever is written now.
  const atStart = inForce.settings;
  return async (next) => {
    const { settings, rules } = next;
    const takeToken = await authority.prepare({ ...settings, state: atStart.state });
    const change = await listeners.prepare(wantedOf(next));
    try {
      // Stopping comes before anything that could be served by new rules.
      await killing.follow(settings.kill.file);
      await graph.discovery.adopt(rules);
    } catch (error) {
      await killing.follow(inForce.settings.kill.file);
      await change.abandon();
      throw error;
    }
    inForce.settings = settings;
    graph.follow(settings);
    takeToken();
    change.commit();
    if (change.moves) await daemonFile.write(listeners.started());
    const atNextStart = Object.entries(AT_START).filter(
      ([, read]) => !isDeepStrictEqual(read(settings), read(atStart)),
    );
    return { moved: change.moves, atNextStart: atNextStart.map(([name]) => name) };
  };
}
