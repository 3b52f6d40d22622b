import { Counter, type Registry } from 'prom-client';
import { type Event, LOOKUP_RESULTS } from '../kernel/event.ts';
import { named } from './metric-table.ts';

/** Counts what registries say; each that is configured has its series from the start, and one that is gone has none. */
export class LookupCounts {
  readonly #counter: Counter<'registry' | 'result'>;
  readonly #names: () => readonly string[];
  #followed: ReadonlySet<string> = new Set();

  constructor(registry: Registry, names: () => readonly string[]) {
    this.#counter = new Counter({ ...named('cardea_registry_lookup_total'), registers: [registry] });
    this.#names = names;
  }

  add({ registry, result }: Extract<Event, { kind: 'lookup' }>): void {
    this.follow();
    if (this.#followed.has(registry)) this.#counter.inc({ registry, result });
  }

  follow(): void {
    const names = new Set(this.#names());
    for (const gone of this.#followed)
      if (!names.has(gone)) for (const result of LOOKUP_RESULTS) this.#counter.remove({ registry: gone, result });
    for (const added of names)
      if (!this.#followed.has(added))
        for (const result of LOOKUP_RESULTS) this.#counter.inc({ registry: added, result }, 0);
    this.#followed = names;
  }
}
