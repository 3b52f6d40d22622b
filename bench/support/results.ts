import fs from 'node:fs';
import path from 'node:path';
import { type Machine, thisMachine } from './machine.ts';
import { ROOT } from './places.ts';

/** What one question's answer is kept as, in bench/results/QUESTION.json. */
export interface Result<Figures> {
  readonly question: string;
  readonly date: string;
  readonly machine: Machine;
  /** Of everything that took part, by name. */
  readonly versions: Readonly<Record<string, string>>;
  readonly figures: Figures;
}

/** Prints the answer, and keeps it where `--record` was given. */
export function answer<Figures>(
  question: string,
  { figures, versions }: Pick<Result<Figures>, 'figures' | 'versions'>,
  { record }: { readonly record: boolean },
): void {
  const date = new Date().toISOString().slice(0, 10);
  const result: Result<Figures> = { question, date, machine: thisMachine(), versions, figures };
  const text = `${JSON.stringify(result, null, 2)}\n`;
  process.stdout.write(text);
  if (record) fs.writeFileSync(path.join(ROOT, 'bench/results', `${question}.json`), text);
}
