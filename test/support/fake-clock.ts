import { setImmediate as turn } from 'node:timers/promises';
import { type EpochMs, type Ms, epochMs } from '../../src/kernel/units.ts';
import type { Clock } from '../../src/ports.ts';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

/** Time that moves only when a test says so. */
export class FakeClock implements Clock {
  /** What `random` says next. */
  chance = 0.5;
  #time: number;
  readonly #timers = new Set<Timer>();
  #made = 0;

  constructor(start = 1_800_000_000_000) {
    this.#time = start;
  }

  now(): EpochMs {
    return epochMs(this.#time);
  }

  random(): number {
    return this.chance;
  }

  /** Other work is real in a test too. */
  turn(): Promise<void> {
    return turn();
  }

  after(delay: Ms, run: () => void): () => void {
    const timer = { at: this.#time + Math.max(0, delay), order: this.#made++, run };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** How many timers wait. */
  get waiting(): number {
    return this.#timers.size;
  }

  /** Moves time on, runs what falls due in order, and lets what that started go as far as it can without the network. */
  async advance(by: number): Promise<void> {
    const end = this.#time + by;
    for (let due = this.#nextDue(end); due !== undefined; due = this.#nextDue(end)) {
      this.#timers.delete(due);
      this.#time = Math.max(this.#time, due.at);
      due.run();
      await turn();
    }
    this.#time = end;
    await turn();
  }

  #nextDue(end: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.at > end) continue;
      if (next === undefined || timer.at < next.at || (timer.at === next.at && timer.order < next.order)) next = timer;
    }
    return next;
  }
}
