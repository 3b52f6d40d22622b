import type { ListenSettings } from '../config/compile.ts';
import type { BoundAddress } from '../egress/own-listeners.ts';
import type { ListenerName } from '../kernel/ids.ts';
import { formatAddress } from '../kernel/listen-address.ts';
import type { Listener } from '../listen/listener.ts';

/** The start line and `daemon.json`: where everything is. */
export interface Started {
  readonly msg: 'started';
  readonly pid: number;
  readonly agents: readonly string[];
  readonly ops: readonly string[];
  readonly admin: readonly string[];
  readonly listeners: Readonly<Record<string, string>>;
}

type Addresses = ReadonlyMap<ListenerName, string>;

/** Opens all listeners or none: one that cannot be opened closes those that were. */
export async function openAll(listeners: readonly Listener[], bound: BoundAddress[]): Promise<Addresses> {
  const addresses = new Map<ListenerName, string>();
  try {
    for (const listener of listeners) {
      const at = await listener.open();
      // A socket in the file system cannot be dialled by URL.
      if (at.kind === 'tcp') bound.push({ address: at.host, port: at.port });
      addresses.set(listener.name, formatAddress(at));
    }
    return addresses;
  } catch (error) {
    const now = Promise.resolve();
    await Promise.all(listeners.filter(({ name }) => addresses.has(name)).map((listener) => listener.drain(now)));
    throw error;
  }
}

export function startLine(addresses: Addresses, listen: ListenSettings): Started {
  const own: Record<string, string> = {};
  const at = (wanted: string): string[] =>
    [...addresses].filter(([name]) => name === wanted).map(([, address]) => address);
  for (const { name } of listen.listeners) {
    const address = addresses.get(name);
    if (address !== undefined && !DAEMON_LISTENERS.has(name)) own[name] = address;
  }
  return { msg: 'started', pid: process.pid, agents: at('agents'), ops: at('ops'), admin: at('admin'), listeners: own };
}

const DAEMON_LISTENERS: ReadonlySet<string> = new Set(['agents', 'ops', 'admin']);
