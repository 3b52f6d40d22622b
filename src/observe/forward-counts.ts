import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { DIRECTIONS, type Passed } from '../kernel/event.ts';
import { named } from './metric-table.ts';

/** Calls that pass through, by agent; agents that are called directly have no series here. */
export class ForwardCounts {
  readonly #firstByte: Histogram<'agent'>;
  readonly #streams: Gauge<'agent'>;
  readonly #bytes: Counter<'agent' | 'direction'>;
  readonly #begun = new Set<string>();

  constructor(registry: Registry, buckets: number[]) {
    const registers = [registry];
    this.#firstByte = new Histogram({ ...named('cardea_forward_first_byte_seconds'), registers, buckets });
    this.#streams = new Gauge({ ...named('cardea_forward_streams'), registers });
    this.#bytes = new Counter({ ...named('cardea_forward_bytes_total'), registers });
  }

  add(agent: string, what: Passed): void {
    switch (what.is) {
      case 'opened':
        this.#streams.inc({ agent });
        return this.#firstByte.observe({ agent }, Math.max(0, what.firstByte) / 1000);
      case 'closed':
        return this.#streams.dec({ agent });
      case 'bytes':
        return this.#bytes.inc({ agent, direction: what.direction }, what.bytes);
    }
  }

  /** A series that begins with its first event hides that event from `rate`. Does nothing where there are series. */
  begin(agent: string): void {
    if (this.#begun.has(agent)) return;
    this.#begun.add(agent);
    this.#firstByte.zero({ agent });
    this.#streams.set({ agent }, 0);
    for (const direction of DIRECTIONS) this.#bytes.inc({ agent, direction }, 0);
  }

  forget(agent: string): void {
    this.#begun.delete(agent);
    this.#firstByte.remove({ agent });
    this.#streams.remove({ agent });
    for (const direction of DIRECTIONS) this.#bytes.remove({ agent, direction });
  }
}
