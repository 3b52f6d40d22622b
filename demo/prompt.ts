import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';

/** Where a person may be asked; nobody is where either end is no terminal. */
export interface Asked {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

/** Asks for a yes, which is what Enter means; elsewhere than on a terminal it is yes. Whoever ends the input has said no. */
export async function asksFor(question: string, { input, output }: Asked): Promise<boolean> {
  if (input.isTTY !== true || output.isTTY !== true) return true;
  const terminal = createInterface({ input, output });
  const ended = once(terminal, 'close').then(() => 'no');
  const answer = await Promise.race([terminal.question(`  ${question}`), ended]);
  terminal.close();
  return !/^n/i.test(answer.trim());
}
