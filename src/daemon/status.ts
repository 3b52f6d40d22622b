import type { Discovery } from '../discovery/discovery.ts';
import { agentName } from '../kernel/ids.ts';
import type { Readiness } from '../listen/ops.ts';
import type { Rules } from '../policy/rules.ts';

export interface Status {
  prefetchEnded(): void;
  drain(): void;
  startup(): Readiness;
  ready(require: string | undefined): Readiness;
}

/** Readiness never depends on an origin: an unready sidecar takes its whole Pod out of service. */
export function createStatus(discovery: Pick<Discovery, 'statuses'>, rules: Rules): Status {
  let prefetched = false;
  let draining = false;
  const reasons = (): string[] => [
    ...(prefetched ? [] : ['the first prefetch is still running']),
    ...(draining ? ['draining'] : []),
  ];
  const wanting = (name: string): string[] => {
    const card = discovery.statuses().find((each) => each.agent === agentName(name));
    if (card === undefined) return [`no agent ${JSON.stringify(name)}`];
    return card.state === 'fresh' || card.state === 'stale' ? [] : [`the card of ${name} is ${card.state}`];
  };
  const readiness = (found: readonly string[]): Readiness => ({ ok: found.length === 0, reasons: found });
  if (!rules.prefetch.enabled) prefetched = true;
  return {
    prefetchEnded: () => void (prefetched = true),
    drain: () => void (draining = true),
    startup: () => readiness(prefetched ? [] : ['the first prefetch is still running']),
    ready: (require) => readiness([...reasons(), ...(require === undefined ? [] : wanting(require))]),
  };
}
