import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Makes docs/measurements.md from the answers that are kept in bench/results/. */

const RESULTS = fileURLToPath(new URL('../../bench/results/', import.meta.url));

const INTRODUCTION = `# Measurements

Generated from \`bench/results/\` by \`node scripts/generate.ts\`.

Each table is one command, which \`npm run bench:all\` runs in turn, on two CPUs that do nothing else. A command
prints its answer; with \`-- --record\` it keeps it here. \`--node 24\`, \`--rounds\`, \`--requests\` and \`--only\` make it shorter. It needs
Linux and \`apt-get install nghttp2-client\`, and for the peers nginx, haproxy, varnish, trafficserver and squid; what is missing takes no part, and a
line says so. The next Node is installed once, into \`.cache/\`. Everything is on loopback, bounded, and ended with the command.

How to read them:

- **CPU per 100,000** is in seconds: everything that the server's processes and threads used, user and system, by the kernel's
  accounting (\`/proc/PID/task/*/schedstat\`). It holds where requests per second do not: on a machine that does other things.
- Contestants take turns of the same number of requests, in another order each round; figures are medians over the rounds, and **to floor**
  is the median of the ratios round by round. As root, server and load go before all else (\`chrt\`), each on a CPU of its own.
- **The floor** is bare node:http, or node:http2, that writes ready bytes: the very fields and body that Cardea answered. Where both
  Nodes stand in one table, the floor is that of the first.
- Cardea runs compiled, as it is published, with metrics and logs as they come; the log goes to a pipe that is read.
- Latencies (p50, p99) are in microseconds, of a load that keeps the server busy: they tell how contestants compare.
- Peers have one worker and the same card of 3 KB from the same origin; the run fails if that origin is asked in between. undici's
  interceptor passes conditional requests to the origin, so it has no 304.
`;

/** The questions in the order in which somebody would ask them, each with what its table is about. */
export const QUESTIONS: Readonly<Record<string, string>> = {
  hit: 'A hit beside the floor',
  peers: 'A hit beside other caches, all in one run',
  miss: 'A miss and a revalidation beside a direct fetch, in milliseconds',
  storm: 'A thousand clients and a card that nobody has asked for yet',
  'first-card': 'From the start of the process to the first verified card, in milliseconds',
  start: 'A restart with every origin down',
  memory: 'Memory at rest (PSS in MiB), and what cards take',
  extended: 'Extended cards in memory',
  admission: 'Admission of a signed card, in milliseconds of CPU',
  loop: 'How late the event loop is while a thousand signed cards are refreshed, in milliseconds',
  scrape: 'One look at /metrics',
  growth: 'What more agents and more entries cost',
};

type Figures = Readonly<Record<string, unknown>>;

interface Result {
  readonly question: string;
  readonly date: string;
  readonly machine: Readonly<Record<string, string | number>>;
  readonly versions: Readonly<Record<string, string>>;
  readonly figures: Figures;
}

/** Makes the page. */
export function measurementsPage(): string {
  const chapters = Object.entries(QUESTIONS).flatMap(([question, title]) => chapter(question, title));
  return `${INTRODUCTION}\n${chapters.join('\n')}`;
}

function chapter(question: string, title: string): readonly string[] {
  const file = `${RESULTS}${question}.json`;
  if (!existsSync(file)) return [];
  const result = JSON.parse(readFileSync(file, 'utf8')) as Result;
  return [`## ${title}\n`, `${where(result)}\n`, ...tablesOf(result.figures)];
}

function where({ question, date, machine, versions }: Result): string {
  const who = Object.entries(versions).map(([name, version]) => `${name}: ${version}`);
  const { cpus, cpu, system } = machine;
  const command = question === 'hit' ? 'npm run bench' : `npm run bench:${question}`;
  return `\`${command}\`, ${date}, ${cpus} CPUs (${cpu}), ${system}; ${who.join(', ')}.`;
}

/** A table for each case that has contestants; one table where every row is a case. */
export function tablesOf(figures: Figures): readonly string[] {
  const rows = Object.entries(figures).map(([name, value]): readonly [string, Figures] => [name, value as Figures]);
  const hasContestants = rows.some(([, value]) => Object.values(value).some((each) => typeof each === 'object'));
  if (!hasContestants) return [tableOf('', rows)];
  return rows.map(([name, value]) => tableOf(name, byCost(Object.entries(value) as [string, Figures][])));
}

const byCost = (rows: readonly [string, Figures][]): readonly [string, Figures][] =>
  rows.toSorted(([, one], [, other]) => Number(one['cpuPer100k'] ?? 0) - Number(other['cpuPer100k'] ?? 0));

function tableOf(title: string, rows: readonly (readonly [string, Figures])[]): string {
  const flat = rows.map(([name, value]) => [name, new Map(members(value, ''))] as const);
  const columns = [...new Set(flat.flatMap(([, value]) => [...value.keys()]))];
  const lines = flat.map(([name, value]) => line([name, ...columns.map((column) => value.get(column) ?? '')]));
  return [line([title, ...columns.map(words)]), line(['---', ...columns.map(() => '---:')]), ...lines, ''].join('\n');
}

function* members(figures: Figures, prefix: string): Generator<readonly [string, string]> {
  for (const [name, value] of Object.entries(figures))
    if (typeof value === 'object' && value !== null) yield* members(value as Figures, `${prefix}${name} `);
    else yield [`${prefix}${name}`, String(value)];
}

/** `cpuPer100k` is `cpu per 100k`. */
const words = (name: string): string =>
  name
    .replace(/([A-Za-z]{2})(\d)/g, '$1 $2')
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase();

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
