import type { ReceiptId, Tag } from '../kernel/ids.ts';
import { type Kill, type KillSource, kindOfScope } from '../kernel/kill.ts';
import type { Authority } from '../kernel/receipt.ts';
import { type Outcome, accepted, refuse, refused } from '../kernel/refusal.ts';
import type { Clock, Evidence, KillBook, Observer } from '../ports.ts';

/** A kill that is in force. */
export interface Engaged {
  readonly kill: Kill;
  /** False where a restart would forget it. */
  readonly persisted: boolean;
  /** Why it would. */
  readonly error?: string;
}

export interface KillOrder {
  readonly scope: Tag;
  readonly reason: string;
  readonly by: KillSource;
}

export interface LiftOrder {
  readonly id: string;
  readonly reason: string;
  readonly by: Authority;
}

/** The switch that no model can lift. */
export interface KillSwitch {
  active(): readonly Kill[];
  /** True where a restart would find exactly what is in force now. */
  persisted(): boolean;
  /** In force when this returns; resolves when it is felt everywhere and written, or could not be. Never refuses `all`. */
  engage(order: KillOrder): Promise<Outcome<Engaged>>;
  /** Refused while the kill file is there (`conflict`), and where no such kill is in force (`not-found`). */
  lift(order: LiftOrder): Promise<Outcome<Engaged>>;
}

export interface SwitchParts {
  readonly clock: Clock;
  readonly kills: KillBook;
  readonly ledger: Pick<Evidence, 'issue' | 'commit' | 'keyedHash'>;
  readonly observer: Observer;
  /** Makes a kill felt: answers that are being written are cut, fetches end, what is stored goes. Its synchronous part is at once. */
  readonly cut: (scope: Tag) => Promise<void>;
  /** Takes up again what a lifted kill had stopped. */
  readonly resume: (scope: Tag) => void;
  /** Whether the kill file is there, looked at now. */
  readonly fileThere: () => Promise<boolean>;
}

/** Each request looks at every kill in force; this many cost it some microseconds. Who needs more stops everything. */
const MOST = 1_000;

export function createKillSwitch(parts: SwitchParts): KillSwitch {
  const { kills } = parts;
  return {
    active: () => kills.active(),
    persisted: () => kills.persisted(),
    async engage(order) {
      const before = kills.active();
      const same = before.find(({ scope, by }) => scope === order.scope && by === order.by);
      if (same === undefined && before.length >= MOST && order.scope !== 'all') return refused(tooMany());
      const id = parts.ledger.issue();
      const kill = same ?? { id: id.slice(-8), ...order, at: parts.clock.now() };
      const writing = same === undefined ? kills.put(kill) : kills.flush();
      const cutting = parts.cut(kill.scope);
      const noted = note(parts, 'kill', id, { ...kill, ...order });
      const [error] = await Promise.all([writing, cutting, noted]);
      return accepted(conclude(parts, kill, error));
    },
    async lift(order) {
      if (await parts.fileThere()) return refused(stillThere());
      const kill = kills.active().find(({ id }) => id === order.id);
      if (kill === undefined)
        return refused(refuse('not-found', 'No kill of this id is in force; GET /kill lists them.'));
      const writing = kills.remove(kill.id);
      const noted = note(parts, 'lift', parts.ledger.issue(), { ...kill, ...order });
      const [error] = await Promise.all([writing, noted]);
      parts.resume(kill.scope);
      return accepted(conclude(parts, kill, error));
    },
  };
}

const tooMany = () => refuse('conflict', `${MOST} kills are in force; lift some, or kill all.`);
const stillThere = () => refuse('conflict', 'The kill file is there; take it away first, then lift.');

/** A receipt that is lost is counted; it holds up nothing. */
function note({ clock, ledger }: SwitchParts, action: 'kill' | 'lift', id: ReceiptId, kill: Kill): Promise<boolean> {
  const { reason, by } = kill;
  const scope = evidenceOf(kill.scope, ledger);
  return ledger.commit({ kind: 'switch', id, at: clock.now(), action, kill: kill.id, scope, reason, by });
}

/** Evidence names callers by their hashes. */
function evidenceOf(scope: Tag, { keyedHash }: Pick<Evidence, 'keyedHash'>): string {
  const kind = kindOfScope(scope);
  if (kind !== 'tenant' && kind !== 'principal') return scope;
  return `${kind}:${keyedHash(kind, scope.slice(kind.length + 1))}`;
}

function conclude({ observer }: SwitchParts, kill: Kill, error: string | null): Engaged {
  if (error === null) return { kill, persisted: true };
  const msg = 'the kills in force are not on the disk: a restart will not know them as they are';
  observer.record({ kind: 'notice', level: 'error', msg, about: { id: kill.id, error } });
  return { kill, persisted: false, error };
}
