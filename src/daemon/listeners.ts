import type { ListenerSettings } from '../config/compile.ts';
import type { BoundAddress } from '../egress/own-listeners.ts';
import type { Tag } from '../kernel/ids.ts';
import type { ListenAddress } from '../kernel/listen-address.ts';
import { ms } from '../kernel/units.ts';
import type { Listener, Manners } from '../listen/listener.ts';
import type { Clock, Observer } from '../ports.ts';
import { type Started, startLine } from './places.ts';

/** What a configuration wants to have open, and how it is to behave. */
export interface Wanted {
  readonly listeners: readonly ListenerSettings[];
  readonly manners: Manners;
}

/** A change that is ready: what is new listens, and nothing is closed yet. */
export interface Change {
  /** True where any listener comes or goes. */
  readonly moves: boolean;
  /** Lets in who waits at what is new, and closes what is not wanted any more, each answer finished. */
  commit(): void;
  /** Closes what is new; everything is as before. */
  abandon(): Promise<void>;
}

/** Every listener of the daemon, as the configuration in force wants them. */
export interface Listeners {
  started(): Started;
  /** Where this process can be dialled. */
  addresses(): readonly BoundAddress[];
  /** Cuts off the answers that are being written of something that carries the tag, on what is closing too. */
  cut(scope: Tag): void;
  /** How many those are. */
  count(scope: Tag): number;
  /**
   * Opens what is wanted and not open. Throws an Error that says which listener cannot be opened and why; then everything is as
   * before. One change at a time.
   */
  prepare(wanted: Wanted): Promise<Change>;
  /** Closes everything, for good. */
  drain(hardStop: Promise<void>): Promise<void>;
}

interface Parts {
  readonly clock: Clock;
  readonly observer: Observer;
  /** @param admitted resolves when the configuration that wants the listener is in force: no request is handled before. */
  readonly create: (settings: ListenerSettings, manners: Manners, admitted: Promise<void>) => Listener;
}

/** How long a listener that is not wanted any more finishes what it has accepted: as long as the daemon itself would. */
const FAREWELL = ms(25_000);

interface Open {
  readonly listener: Listener;
  readonly settings: ListenerSettings;
  readonly at: ListenAddress;
}

export const createListeners = (parts: Parts): Listeners => new OpenListeners(parts);

class OpenListeners implements Listeners {
  readonly #parts: Parts;
  /** By everything that makes a listener what it is. */
  #open: ReadonlyMap<string, Open> = new Map();
  readonly #leaving = new Map<Listener, Promise<void>>();
  readonly #ended = Promise.withResolvers<void>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  started(): Started {
    return startLine([...this.#open.values()].map(({ settings, at }) => ({ name: settings.name, at })));
  }

  addresses(): readonly BoundAddress[] {
    // A socket in the file system cannot be dialled by URL.
    return [...this.#open.values()].flatMap(({ at }) =>
      at.kind === 'tcp' ? [{ address: at.host, port: at.port }] : [],
    );
  }

  cut(scope: Tag): void {
    for (const { listener } of this.#open.values()) listener.cut(scope);
    for (const listener of this.#leaving.keys()) listener.cut(scope);
  }

  count(scope: Tag): number {
    const open = [...this.#open.values()].map(({ listener }) => listener);
    return [...open, ...this.#leaving.keys()].reduce((sum, listener) => sum + listener.count(scope), 0);
  }

  async prepare({ listeners, manners }: Wanted): Promise<Change> {
    const wanted = new Map(listeners.map((settings) => [keyOf(settings), settings]));
    const leaving = [...this.#open].filter(([key]) => !wanted.has(key)).map(([, open]) => open);
    const staying = new Map([...this.#open].filter(([key]) => wanted.has(key)));
    const coming = [...wanted].filter(([key]) => !this.#open.has(key));
    const gate = Promise.withResolvers<void>();
    const next = new Map<string, Open>();
    const paused = new Set<Open>();
    const abandon = (): Promise<void> => this.#takeBack([...next.values()], [...paused]);
    try {
      for (const { listener } of staying.values()) await listener.renew();
      for (const [key, settings] of coming) {
        const listener = this.#parts.create(settings, mannersOf(settings, manners), gate.promise);
        for (const each of leaving) if (isInTheWay(each, settings) && !paused.has(each)) paused.add(pause(each));
        next.set(key, { listener, settings, at: await listener.open() });
      }
    } catch (error) {
      await abandon();
      throw error;
    }
    const commit = (): void => {
      this.#open = new Map([...staying, ...next]);
      for (const [key, { listener, settings }] of staying)
        listener.follow(mannersOf(wanted.get(key) ?? settings, manners));
      for (const { listener } of leaving) this.#leave(listener);
      gate.resolve();
    };
    return { moves: coming.length + leaving.length > 0, commit, abandon };
  }

  async drain(hardStop: Promise<void>): Promise<void> {
    void hardStop.then(this.#ended.resolve);
    await Promise.all([...this.#open.values()].map(({ listener }) => listener.drain(hardStop)));
    await Promise.all(this.#leaving.values());
  }

  #leave(listener: Listener): void {
    const farewell = new Promise<void>((resolve) => void this.#parts.clock.after(FAREWELL, resolve));
    const left = listener.drain(Promise.race([farewell, this.#ended.promise]));
    this.#leaving.set(
      listener,
      left.finally(() => this.#leaving.delete(listener)),
    );
  }

  /** Whoever was let in at a listener that is taken back is turned away: nothing of it is in force. */
  async #takeBack(opened: readonly Open[], paused: readonly Open[]): Promise<void> {
    await Promise.all(opened.map(({ listener }) => listener.drain(Promise.resolve())));
    for (const { listener, at } of paused) {
      try {
        await listener.open(at);
      } catch (error) {
        const msg = error instanceof Error ? error.message : String(error);
        this.#parts.observer.record({ kind: 'notice', level: 'error', msg });
      }
    }
  }
}

const keyOf = ({ name, address, principal, tls }: ListenerSettings): string =>
  JSON.stringify([name, address, principal, tls]);

/** What leaves makes room, before what comes is opened, where both cannot be open at once: one port on any address, one path. */
const isInTheWay = ({ at }: Open, { address }: ListenerSettings): boolean =>
  at.kind === 'tcp'
    ? address.kind === 'tcp' && address.port === at.port
    : address.kind === 'unix' && address.path === at.path;

function pause(open: Open): Open {
  open.listener.pause();
  return open;
}

/** The names of agents that a listener answers for come and go with the configuration, as those of all listeners do. */
const mannersOf = ({ aliases }: ListenerSettings, manners: Manners): Manners => ({
  ...manners,
  names: new Set([...manners.names, ...aliases].map(asHost)),
});

/** A name as Host has it: an IPv6 address stands in brackets there. */
const asHost = (name: string): string => (name.includes(':') ? `[${name}]` : name);
