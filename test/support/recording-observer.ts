import type { Event } from '../../src/kernel/event.ts';
import type { Observer } from '../../src/ports.ts';

type EventOf<Kind extends Event['kind']> = Extract<Event, { readonly kind: Kind }>;

/** Keeps what it is told, in order. */
export class RecordingObserver implements Observer {
  readonly events: Event[] = [];

  record(event: Event): void {
    this.events.push(event);
  }

  of<Kind extends Event['kind']>(kind: Kind): readonly EventOf<Kind>[] {
    return this.events.filter((event): event is EventOf<Kind> => event.kind === kind);
  }

  clear(): void {
    this.events.length = 0;
  }
}
