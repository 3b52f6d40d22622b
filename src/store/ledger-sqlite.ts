import type { Event } from '../kernel/event.ts';
import type { Receipt } from '../kernel/receipt.ts';
import { type Outcome, accepted, refuse, refused } from '../kernel/refusal.ts';
import { ms, seconds } from '../kernel/units.ts';
import type { Clock, Evidence, Observer } from '../ports.ts';
import type { Failure } from './disk-calls.ts';
import type { Disk, DiskResult } from './disk.ts';
import { type KeyedHash, withoutNames } from './keyed-hash.ts';
import type { KeepReceipts, KeptReceipts } from './ledger-file.ts';
import { newReceiptId } from './receipt-id.ts';
import { createRefusalTally } from './refusal-tally.ts';
import { DISK_MENDS } from './sqlite.ts';

export interface LedgerParts {
  readonly clock: Clock;
  readonly observer: Observer;
  readonly disk: Disk;
  readonly bounds: () => KeepReceipts;
  readonly keyedHash: KeyedHash;
}

/** Receipts are written together: a commit each would cost a sync each, and a crash loses no more than this much time. */
const BATCH_DELAY = ms(100);
const LARGEST_BATCH = 256;
/** Batches on their way to a disk that does not keep up; then receipts are lost rather than memory. */
const MOST_BATCHES = 64;
const PRUNE_EVERY = ms(60_000);

/** Makes the ledger over a disk that is open, or that says at every call why it is not. */
export const createSqliteLedger = (parts: LedgerParts): Evidence => new SqliteLedger(parts);

class SqliteLedger implements Evidence {
  readonly #parts: LedgerParts;
  readonly #tally;
  #batch: Receipt[] = [];
  #batches = 0;
  #cancelFlush: (() => void) | undefined;
  #cancelPrune: () => void = () => undefined;
  #failing = false;
  /** What the disk said last; undefined before that. */
  #kept: KeptReceipts | undefined;
  readonly keyedHash: KeyedHash;

  constructor(parts: LedgerParts) {
    this.#parts = parts;
    this.keyedHash = parts.keyedHash;
    this.#tally = createRefusalTally({
      clock: parts.clock,
      // What is counted for a minute is no reason for the disk's thread to be up now.
      issue: () => newReceiptId(parts.clock.now()),
      record: (receipt) => this.record(receipt),
    });
    this.#planPrune();
  }

  /** What is about to happen will be written down: the disk's thread starts while it happens. */
  issue(): ReturnType<Evidence['issue']> {
    this.#parts.disk.wake();
    return newReceiptId(this.#parts.clock.now());
  }

  record(given: Receipt): void {
    this.#add(given);
    if (this.#batch.length >= LARGEST_BATCH) void this.#flush();
    else this.#cancelFlush ??= this.#parts.clock.after(BATCH_DELAY, () => void this.#flush());
  }

  commit(given: Receipt): Promise<boolean> {
    this.#add(given);
    return this.#flush();
  }

  refused(note: Parameters<Evidence['refused']>[0]): ReturnType<Evidence['refused']> {
    return this.#tally.note(note);
  }

  async query(query: Parameters<Evidence['query']>[0]): ReturnType<Evidence['query']> {
    void this.#flush();
    return this.#outcome(await this.#parts.disk.call('query', query));
  }

  async verify(): ReturnType<Evidence['verify']> {
    void this.#flush();
    return this.#outcome(await this.#parts.disk.call('verify'));
  }

  async decide(...[decision, letsIn]: Parameters<Evidence['decide']>): ReturnType<Evidence['decide']> {
    void this.#flush();
    const done = this.#outcome(await this.#parts.disk.call('decide', decision, letsIn));
    if (!done.ok) return done;
    this.#kept = done.value;
    this.#parts.observer.record({ kind: 'receipt', receipt: { kind: 'review', ...decision } });
    return accepted(decision);
  }

  async decisions(agent: Parameters<Evidence['decisions']>[0]): ReturnType<Evidence['decisions']> {
    return this.#outcome(await this.#parts.disk.call('decisions', agent));
  }

  async hold(card: Parameters<Evidence['hold']>[0]): ReturnType<Evidence['hold']> {
    const done = this.#outcome(await this.#parts.disk.call('hold', card));
    return done.ok ? accepted(card) : done;
  }

  async held(agent: Parameters<Evidence['held']>[0]): ReturnType<Evidence['held']> {
    return this.#outcome(await this.#parts.disk.call('held', agent));
  }

  async release(...which: Parameters<Evidence['release']>): ReturnType<Evidence['release']> {
    const done = this.#outcome(await this.#parts.disk.call('release', ...which));
    return done.ok ? accepted(null) : done;
  }

  async enforce(card: Parameters<Evidence['enforce']>[0]): ReturnType<Evidence['enforce']> {
    const done = this.#outcome(await this.#parts.disk.call('enforce', card));
    return done.ok ? accepted(card) : done;
  }

  async inForce(agent: Parameters<Evidence['inForce']>[0]): ReturnType<Evidence['inForce']> {
    return this.#outcome(await this.#parts.disk.call('inForce', agent));
  }

  async holdExtended(card: Parameters<Evidence['holdExtended']>[0]): ReturnType<Evidence['holdExtended']> {
    const done = this.#outcome(await this.#parts.disk.call('holdExtended', card));
    return done.ok ? accepted(card) : done;
  }

  async heldExtended(): ReturnType<Evidence['heldExtended']> {
    return this.#outcome(await this.#parts.disk.call('heldExtended'));
  }

  async releaseExtended(...which: Parameters<Evidence['releaseExtended']>): ReturnType<Evidence['releaseExtended']> {
    const done = this.#outcome(await this.#parts.disk.call('releaseExtended', ...which));
    return done.ok ? accepted(null) : done;
  }

  async unnamed(): ReturnType<Evidence['unnamed']> {
    return this.#outcome(await this.#parts.disk.call('unnamed'));
  }

  async forget(agent: Parameters<Evidence['forget']>[0]): ReturnType<Evidence['forget']> {
    const done = this.#outcome(await this.#parts.disk.call('forget', agent));
    return done.ok ? accepted(null) : done;
  }

  /** Writes what is left; the disk is closed by whoever opened it. */
  async close(): Promise<void> {
    this.#cancelPrune();
    this.#tally.flush();
    await this.#flush();
  }

  #add(given: Receipt): void {
    const receipt = withoutNames(given, this.keyedHash);
    this.#parts.observer.record({ kind: 'receipt', receipt });
    this.#batch.push(receipt);
    this.#parts.disk.wake();
  }

  /** Hands the batch to the disk; resolves to whether it is there. */
  async #flush(): Promise<boolean> {
    this.#cancelFlush?.();
    this.#cancelFlush = undefined;
    const batch = this.#batch;
    if (batch.length === 0) return true;
    this.#batch = [];
    if (this.#batches >= MOST_BATCHES) {
      this.#lose(batch.length, { fault: 'busy', message: 'the disk does not keep up' });
      return false;
    }
    this.#batches += 1;
    const written = await this.#parts.disk.call('append', batch);
    this.#batches -= 1;
    if (written.ok) this.#recover(written.value);
    else this.#lose(batch.length, written);
    return written.ok;
  }

  #lose(count: number, failure: Failure): void {
    this.#parts.observer.record({ kind: 'receipts-lost', count });
    if (this.#failing) return;
    this.#failing = true;
    this.#parts.observer.record(ledgerFails(failure));
  }

  #recover(kept: KeptReceipts): void {
    this.#kept = kept;
    if (!this.#failing) return;
    this.#failing = false;
    this.#parts.observer.record({ kind: 'notice', level: 'info', msg: 'the ledger is written again' });
  }

  #planPrune(): void {
    this.#cancelPrune = this.#parts.clock.after(PRUNE_EVERY, () => {
      if (this.#isPruneDue()) void this.#prune();
      this.#planPrune();
    });
  }

  /** Whether there is more than is to be kept: the disk's thread is not woken to find nothing. */
  #isPruneDue(): boolean {
    const { count, oldest } = this.#kept ?? UNKNOWN;
    const { keep, max } = this.#parts.bounds();
    return count > max || (oldest !== null && oldest < this.#parts.clock.now() - keep);
  }

  /** A failure shows at the next write; an unpruned ledger is only too long. */
  async #prune(): Promise<void> {
    const pruned = await this.#parts.disk.call('prune', this.#parts.bounds(), this.#parts.clock.now());
    if (pruned.ok) this.#kept = pruned.value;
  }

  #outcome<T>(result: DiskResult<T>): Outcome<T> {
    if (result.ok) return accepted(result.value);
    const detail = `The ledger cannot be used (${result.fault}): ${DISK_MENDS[result.fault]}.`;
    return refused(refuse('overloaded', detail, { retryAfter: RETRY_AFTER }));
  }
}

const RETRY_AFTER = seconds(5);

/** Of a ledger that an earlier process wrote. */
const UNKNOWN: KeptReceipts = { count: Infinity, oldest: null };

const ledgerFails = ({ fault, message }: Failure): Event => ({
  kind: 'notice',
  level: 'error',
  msg: 'receipts are lost: the ledger cannot be written',
  about: { fault, error: message, mend: DISK_MENDS[fault] },
});
