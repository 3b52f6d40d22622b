import type { Discovery } from '../discovery/discovery.ts';
import { type KillSwitch, type SwitchParts, createKillSwitch } from '../discovery/kill-switch.ts';
import { tag } from '../kernel/ids.ts';
import type { Listener } from '../listen/listener.ts';
import { createKillFile } from '../store/kill-file.ts';

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
  stop(): void;
}

export function createKilling(path: string | null, graph: KillingParts, listeners: readonly Listener[]): Killing {
  const file = path === null ? null : createKillFile(path, graph.clock);
  const fileThere = async (): Promise<boolean> => file !== null && (await file.present());
  const killSwitch = createKillSwitch({
    ...graph,
    fileThere,
    resume: (scope) => graph.discovery.resume(scope),
    async cut(scope) {
      for (const listener of listeners) listener.cut(scope);
      await graph.discovery.kill(scope);
    },
  });
  const stopAll = async (by: 'signal' | 'file', reason: string): Promise<void> => {
    await killSwitch.engage({ scope: tag('all'), by, reason });
  };
  const found = async (): Promise<void> => {
    if (!killSwitch.active().some(({ by }) => by === 'file')) await stopAll('file', `the file ${path ?? ''} is there`);
  };
  return {
    killSwitch,
    stopAll,
    look: async () => ((await fileThere()) ? found() : undefined),
    watch: () => file?.watch(() => void found()),
    stop: () => file?.stop(),
  };
}
