import { cpuSeconds } from './process-tree.ts';
import { median, medianRatio, per100k, rounded } from './figures.ts';
import { type Load, run } from './load.ts';
import type { Scratch } from './scratch.ts';

/** Rounds in which every contestant has its turn, so that what slows the machine down meets all of them. */

/** A server and what it is loaded with. */
export interface Contestant {
  readonly name: string;
  readonly pid: number;
  readonly load: Omit<Load, 'requests'>;
}

export interface Length {
  readonly rounds: number;
  /** In each round, to each contestant. */
  readonly requests: number;
}

/** Medians over the rounds, and the medians of the ratios to the floor, round by round. Times in microseconds. */
export interface Standing {
  readonly cpuPer100k: number;
  readonly requestsPerSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly toFloor: { readonly cpu: number; readonly p50: number; readonly p99: number };
}

interface Turn {
  readonly cpu: number;
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
}

/** Lets every contestant answer in each round, in turned order each time. The first one is the floor. */
export async function compete(
  contestants: readonly Contestant[],
  { rounds, requests }: Length,
  scratch: Scratch,
): Promise<Readonly<Record<string, Standing>>> {
  const turns = new Map(contestants.map(({ name }) => [name, [] as Turn[]]));
  for (let round = 0; round < rounds; round += 1)
    for (const each of round % 2 === 0 ? contestants : contestants.toReversed())
      turns.get(each.name)?.push(await turnOf(each, requests, scratch));
  const floor = turns.get(contestants[0]?.name ?? '') ?? [];
  return Object.fromEntries([...turns].map(([name, own]) => [name, standing(own, floor)]));
}

async function turnOf({ pid, load }: Contestant, requests: number, scratch: Scratch): Promise<Turn> {
  const before = cpuSeconds(pid);
  const loaded = await run({ ...load, requests }, scratch);
  const cpu = per100k(cpuSeconds(pid) - before, loaded.requests);
  return { cpu, rate: loaded.perSecond, p50: loaded.p50, p99: loaded.p99 };
}

function standing(own: readonly Turn[], floor: readonly Turn[]): Standing {
  const of = (member: keyof Turn): number => median(own.map((turn) => turn[member]));
  const ratio = (member: keyof Turn): number =>
    rounded(
      medianRatio(
        own.map((turn) => turn[member]),
        floor.map((turn) => turn[member]),
      ),
    );
  return {
    cpuPer100k: rounded(of('cpu')),
    requestsPerSecond: Math.round(of('rate')),
    p50: Math.round(of('p50')),
    p99: Math.round(of('p99')),
    toFloor: { cpu: ratio('cpu'), p50: ratio('p50'), p99: ratio('p99') },
  };
}
