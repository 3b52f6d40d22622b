import { styleText } from 'node:util';

/** Prints the demo's story: coloured on a terminal, plain elsewhere. */
export interface Story {
  title(text: string): void;
  say(text: string): void;
  /** One exchange, as a client sees it: the request, then the fields that matter. */
  exchange(request: string, response: Response): void;
  command(text: string, why: string): void;
}

const SHOWN = ['cache-status', 'card-status', 'age', 'cache-control', 'etag'] as const;

export function createStory(out: NodeJS.WriteStream): Story {
  const style = (format: Parameters<typeof styleText>[0], text: string): string =>
    out.isTTY ? styleText(format, text) : text;
  const line = (text: string): void => void out.write(`${text}\n`);
  return {
    title: (text) => line(`\n${style('bold', text)}`),
    say: (text) => line(`  ${text}`),
    exchange(request, response) {
      line(`  ${style('cyan', request)}  →  ${style(response.ok ? 'green' : 'red', String(response.status))}`);
      for (const name of SHOWN) {
        const value = response.headers.get(name);
        if (value !== null) line(`    ${style('dim', `${name}:`)} ${value}`);
      }
    },
    command: (text, why) => line(`  ${style('yellow', text)}\n    ${style('dim', why)}`),
  };
}
