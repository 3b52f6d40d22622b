import path from 'node:path';
import type { Settings } from '../config/schema.ts';
import type { Event } from '../kernel/event.ts';
import type { ListenerName } from '../kernel/ids.ts';
import { formatAddress, type ListenAddress } from '../kernel/listen-address.ts';
import type { Observer } from '../ports.ts';
import { removeFile, writeWhole } from '../store/state-file.ts';

/** The start line and `daemon.json`: where everything is. */
export interface Started {
  readonly msg: 'started';
  readonly pid: number;
  readonly agents: readonly string[];
  readonly ops: readonly string[];
  readonly admin: readonly string[];
  readonly listeners: Readonly<Record<string, string>>;
}

interface Place {
  readonly name: ListenerName;
  readonly at: ListenAddress;
}

export function startLine(places: readonly Place[]): Started {
  const at = (wanted: string): string[] =>
    places.filter(({ name }) => name === wanted).map((place) => formatAddress(place.at));
  const own = places.filter(({ name }) => !DAEMON_LISTENERS.has(name));
  const listeners = Object.fromEntries(own.map((place) => [place.name, formatAddress(place.at)]));
  return { msg: 'started', pid: process.pid, agents: at('agents'), ops: at('ops'), admin: at('admin'), listeners };
}

/** Tells whoever reads the first lines where the console is, and how to come in. */
export function consoleNotice({ admin: [at] }: Started, { listen }: Pick<Settings, 'listen'>): readonly Event[] {
  // No browser opens a socket in the file system.
  if (at === undefined || at.startsWith('unix:')) return [];
  const url = `${listen.admin.tls === null ? 'http' : 'https'}://${at.replace(/^(0\.0\.0\.0|\[::\])(?=:)/, 'localhost')}/console/`;
  const msg = `the console is at ${url}: cardea console prints a link that signs in`;
  return [{ kind: 'notice', level: 'info', msg }];
}

const DAEMON_LISTENERS: ReadonlySet<string> = new Set(['agents', 'ops', 'admin']);

/** `daemon.json`, by which commands find a running daemon. */
export interface DaemonFile {
  write(started: Started): Promise<void>;
  remove(): Promise<void>;
}

/** A folder that cannot be written must not keep the daemon from serving; whoever looks for the file there finds out. */
export function createDaemonFile({ state }: Settings, observer: Observer): DaemonFile {
  if (state.kept === 'memory') return { write: async () => undefined, remove: async () => undefined };
  const file = path.join(state.path, 'daemon.json');
  return {
    async write(started) {
      try {
        await writeWhole(file, `${JSON.stringify(started)}\n`, 0o600);
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        observer.record({ kind: 'notice', level: 'error', msg: 'daemon.json cannot be written', about: { why } });
      }
    },
    remove: () => removeFile(file),
  };
}
