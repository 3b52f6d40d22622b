import { stat } from 'node:fs/promises';
import { ms } from '../kernel/units.ts';
import type { Clock } from '../ports.ts';

/** A file whose presence stops everything: what a script, a ConfigMap or a mount can do without a token. */
export interface KillFile {
  /** Looks now. What cannot be looked at counts as present. */
  present(): Promise<boolean>;
  /** Looks again and again, and tells each time that it is there. */
  watch(found: () => void): void;
  stop(): void;
}

/** "The file is looked at every 250 ms": a stat costs microseconds, and unlike inotify works on every volume. */
const EVERY = ms(250);

export function createKillFile(file: string, clock: Clock): KillFile {
  let stopped = false;
  let cancel: () => void = () => undefined;
  const present = async (): Promise<boolean> => {
    try {
      await stat(file);
      return true;
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      return code !== 'ENOENT' && code !== 'ENOTDIR';
    }
  };
  return {
    present,
    watch(found) {
      const look = async (): Promise<void> => {
        if (await present()) found();
        if (!stopped) cancel = clock.after(EVERY, () => void look());
      };
      cancel = clock.after(EVERY, () => void look());
    },
    stop() {
      stopped = true;
      cancel();
    },
  };
}
