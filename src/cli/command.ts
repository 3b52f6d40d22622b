import type { Environment } from '../config/overrides.ts';
import type { FlagTable } from './args.ts';

/** Where a command writes; Node's own streams are such. */
export interface Output {
  write(text: string): unknown;
}

/** All that a command has of the world; tests bring their own. */
export interface Io {
  /** What follows the command's name. */
  readonly argv: readonly string[];
  readonly env: Environment;
  readonly cwd: string;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Reads a whole file; throws as `node:fs` does. */
  readonly readFile: (path: string) => Promise<Uint8Array>;
}

/** One command of `cardea`. */
export interface Command {
  readonly name: string;
  /** What follows the name, flags excepted: `AGENT|URL`; `''` for nothing. */
  readonly operands: string;
  /** One line, without a full stop. */
  readonly summary: string;
  /** What there is to know beyond it, with an example. */
  readonly help: string;
  readonly flags: FlagTable;
  /** True where every setting may be given as a flag. */
  readonly settings: boolean;
  /** What each exit code means: `0 valid · 2 problems`. */
  readonly exits: string;
  /** Runs it and resolves to the exit code. */
  run(io: Io): Promise<number>;
}

/** Every command that is called wrongly says so and ends with this. */
export const USAGE = 2;
