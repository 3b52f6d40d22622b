import { parseArgs } from 'node:util';
import type { NodeName } from './nodes.ts';
import type { Length } from './rounds.ts';

/** What a bench command may be told: `--node 24 --rounds 5 --requests 20000 --only PART`. */
export interface Options {
  readonly nodes: readonly NodeName[];
  readonly length: Length;
  /** Names of cases must hold this. */
  readonly only: string;
  /** Whether results are written into the repository. */
  readonly record: boolean;
}

/** Reads the command line; throws on what it does not know. */
export function readOptions(args: readonly string[], usual: Length & { readonly nodes: readonly NodeName[] }): Options {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: { node: text, rounds: text, requests: text, only: text, record: { type: 'boolean' } },
  });
  return {
    nodes: values.node === undefined ? usual.nodes : values.node.split(',').map(nodeName),
    length: { rounds: count(values.rounds, usual.rounds), requests: count(values.requests, usual.requests) },
    only: values.only ?? '',
    record: values.record ?? false,
  };
}

function nodeName(value: string): NodeName {
  if (value === '24' || value === '26') return value;
  throw new Error(`--node ${value}: 24, 26 or 24,26`);
}

function count(value: string | undefined, usual: number): number {
  const number = value === undefined ? usual : Number(value);
  if (Number.isInteger(number) && number > 0) return number;
  throw new Error(`${value}: a whole number above 0`);
}
