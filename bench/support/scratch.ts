import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** A folder for one run, and what is to be ended with it. */
export interface Scratch {
  readonly folder: string;
  /** The path of a file in it. */
  file(name: string): string;
  /** Writes a new file into it; its path. Nothing is written over: a daemon whose configuration changed would follow it. */
  write(name: string, content: string | Uint8Array): string;
  /** Something to end with the run; the last first. */
  later(end: () => unknown): void;
}

/** Does something with a scratch folder; whatever comes of it, everything is ended and the folder taken away. */
export async function withScratch<Result>(run: (scratch: Scratch) => Promise<Result>): Promise<Result> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cardea-bench-'));
  fs.chmodSync(folder, 0o755); // some peers drop their rights
  const ends: (() => unknown)[] = [];
  const file = (name: string): string => path.join(folder, name);
  let written = 0;
  const write = (name: string, content: string | Uint8Array): string => {
    const place = file(`${(written += 1)}-${name}`);
    fs.writeFileSync(place, content);
    return place;
  };
  const signals = endOnSignals(ends);
  try {
    return await run({ folder, file, write, later: (end) => void ends.unshift(end) });
  } finally {
    for (const end of ends) await end();
    signals();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** An interrupted run leaves no server behind. */
function endOnSignals(ends: readonly (() => unknown)[]): () => void {
  const leave = (): void => {
    for (const end of ends) void end();
    process.exit(130);
  };
  process.once('SIGINT', leave).once('SIGTERM', leave);
  return () => void process.off('SIGINT', leave).off('SIGTERM', leave);
}
