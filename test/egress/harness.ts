import type { EgressRule, OriginPattern } from '../../src/kernel/egress-rule.ts';
import type { Fields } from '../../src/kernel/fields.ts';
import { agentName, urlId } from '../../src/kernel/ids.ts';
import { bytes, epochMs, later, ms } from '../../src/kernel/units.ts';
import type { Clock, FetchLimits, FetchOrder } from '../../src/ports.ts';
import { type ClosableFetcher, type FetcherParts, createFetcher } from '../../src/egress/fetcher.ts';
import { parseOriginPattern } from '../../src/kernel/origins.ts';
import type { Resolver } from '../../src/egress/resolve.ts';

/** What the egress tests share: a clock that tests move, a resolver that tests write, rules and orders with short spellings. */

export interface ManualClock extends Clock {
  /** Moves time on and runs what falls due, in order. */
  advance(by: number): void;
  /** How many timers wait. */
  pending(): number;
}

export function manualClock(): ManualClock {
  let now = epochMs(1_800_000_000_000);
  const timers = new Map<symbol, { readonly at: number; readonly run: () => void }>();
  return {
    now: () => now,
    after: (delay, run) => {
      const id = Symbol('timer');
      timers.set(id, { at: now + delay, run });
      return () => void timers.delete(id);
    },
    random: () => 0.5,
    turn: () => Promise.resolve(),
    pending: () => timers.size,
    advance: (by) => {
      const until = later(now, ms(by));
      for (;;) {
        const due = [...timers].filter(([, timer]) => timer.at <= until).toSorted((a, b) => a[1].at - b[1].at)[0];
        if (due === undefined) break;
        timers.delete(due[0]);
        now = epochMs(Math.max(now, due[1].at));
        due[1].run();
      }
      now = until;
    },
  };
}

/** A resolver that answers from a script, one answer per question; the last one repeats. */
export function scripted(
  names: Readonly<Record<string, readonly (readonly string[])[]>>,
): Resolver & { readonly asked: readonly string[]; readonly forgotten: readonly string[] } {
  const asked: string[] = [];
  const forgotten: string[] = [];
  return {
    asked,
    forgotten,
    resolve: async (name) => {
      const answers = names[name] ?? [[]];
      const turn = asked.filter((other) => other === name).length;
      asked.push(name);
      return answers[Math.min(turn, answers.length - 1)] ?? [];
    },
    forget: (name) => void forgotten.push(name),
  };
}

export function pattern(text: string): OriginPattern {
  const parsed = parseOriginPattern(text, () => false);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.why}`);
  return parsed.value;
}

export const ruleFor = (origins: readonly string[], more: Partial<EgressRule> = {}): EgressRule => ({
  name: 'agents.weather',
  allowed: origins.map(pattern),
  cleartext: true,
  unsafeAddresses: ['127.0.0.1/32'],
  tls: null,
  proxy: null,
  ...more,
});

export const LIMITS: FetchLimits = {
  connect: ms(3_000),
  total: ms(10_000),
  idle: ms(5_000),
  bytes: bytes(65_536),
  redirects: 3,
};

/** An order for a URL whose own origin is allowed, unless told otherwise. */
export const orderFor = (
  url: string,
  more: Partial<Omit<FetchOrder, 'limits'>> & { limits?: Partial<FetchLimits>; fields?: Fields } = {},
): FetchOrder => ({
  purpose: 'card',
  agent: agentName('weather'),
  url: urlId(url),
  method: 'GET',
  fields: ['Accept', 'application/json'],
  body: null,
  rule: more.rule ?? ruleFor([new URL(url).origin]),
  signal: new AbortController().signal,
  ...more,
  limits: { ...LIMITS, ...more.limits },
});

export interface Rig {
  readonly clock: ManualClock;
  readonly fetcher: ClosableFetcher;
}

export function rig(more: Partial<FetcherParts> = {}): Rig {
  const clock = manualClock();
  const fetcher = createFetcher({
    clock,
    resolver: scripted({}),
    limits: { concurrency: 8, forwardConcurrency: 16 },
    ownAddresses: () => [],
    ...more,
  });
  return { clock, fetcher };
}

export async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
