import type { Discovery } from '../discovery/discovery.ts';
import { type KillSwitch, type SwitchParts, createKillSwitch } from '../discovery/kill-switch.ts';
import { tag } from '../kernel/ids.ts';
import type { Listeners } from './listeners.ts';
import { createKillFile, type KillFile } from '../store/kill-file.ts';

type KillingParts = Omit<SwitchParts, 'cut' | 'resume' | 'fileThere'> & {
  readonly discovery: Pick<Discovery, 'kill' | 'resume'>;
};

/** The switch with what throws it besides the admin API: a file and a signal, which can only stop. */
export interface Killing {
  readonly killSwitch: KillSwitch;
  stopAll(by: 'signal' | 'file', reason: string): Promise<void>;
  /** Looks for the kill file now. */
  look(): Promise<void>;
  watch(): void;
  /** Looks for the file at another path from now on; resolves when it has looked there once. */
  follow(path: string | null): Promise<void>;
  stop(): void;
}

export function createKilling(first: string | null, graph: KillingParts, listeners: Pick<Listeners, 'cut'>): Killing {
  const fileAt = (path: string | null): KillFile | null => (path === null ? null : createKillFile(path, graph.clock));
  let path = first;
  let file = fileAt(path);
  const fileThere = async (): Promise<boolean> => file !== null && (await file.present());
  const killSwitch = createKillSwitch({
    ...graph,
    fileThere,
    resume: (scope) => graph.discovery.resume(scope),
    async cut(scope) {
      listeners.cut(scope);
      await graph.discovery.kill(scope);
    },
  });
  const stopAll = async (by: 'signal' | 'file', reason: string): Promise<void> => {
    await killSwitch.engage({ scope: tag('all'), by, reason });
  };
  const found = async (): Promise<void> => {
    if (!killSwitch.active().some(({ by }) => by === 'file')) await stopAll('file', `the file ${path ?? ''} is there`);
  };
  const look = async (): Promise<void> => ((await fileThere()) ? found() : undefined);
  const watch = (): void => file?.watch(() => void found());
  return {
    killSwitch,
    stopAll,
    look,
    watch,
    async follow(next) {
      if (next === path) return;
      file?.stop();
      path = next;
      file = fileAt(next);
      await look();
      watch();
    },
    stop: () => file?.stop(),
  };
}
