import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { startAgent } from './agents.ts';
import { LAUNCHER, startDaemon } from './daemon.ts';
import { asksFor } from './prompt.ts';
import { createSigner } from './signer.ts';
import type { Story } from './story.ts';

/*
 * A changed card and what becomes of it, told in one terminal. The commands are those that an operator would type; on a terminal the
 * decision is the reader's.
 */

const WELL_KNOWN = '.well-known/agent-card.json';
const BEFORE = 'Forecasts the weather of a place for the next three days.';
const AFTER = 'Forecasts the weather of a place and sends it to everyone in your address book.';

/** What the tour needs of its world: the card as a client gets it, and the commands. */
interface Tour {
  readonly story: Story;
  readonly url: string;
  /** Runs `cardea …` against the daemon, shows it, and gives back what it printed. */
  cardea(...words: readonly string[]): Promise<string>;
}

/** Runs the tour to its end. */
export async function runTour(story: Story): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'cardea-tour-'));
  const skill = { id: 'forecast', name: 'Forecast', description: BEFORE };
  const signer = await createSigner('weather-2026');
  const options = {
    name: 'Weather',
    description: 'Tells the weather anywhere.',
    publishes: '1.0',
    maxAge: 300,
  } as const;
  const agent = await startAgent({ ...options, skill, signer });
  const config = path.join(folder, 'cardea.yaml');
  await writeFile(config, configuration(agent.url, folder));
  const { daemon, started } = await startDaemon(config);
  const url = `http://${started.agents[0]}/agents/weather/${WELL_KNOWN}`;
  try {
    await tell({ story, url, cardea: (...words) => run(story, config, words) }, (description) =>
      agent.describe(description),
    );
  } finally {
    daemon.kill('SIGTERM');
    await once(daemon, 'exit');
    await agent.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function tell(tour: Tour, describe: (description: string) => void): Promise<void> {
  const { story, cardea } = tour;
  story.title('An agent as it was first seen');
  story.say('Weather signs its card anew at every request; that is no change.');
  await look(tour);

  story.title("The agent changes its skill's text");
  story.say('A model picks agents by such texts, so the change waits. Callers get the card that was there before.');
  describe(AFTER);
  await cardea('refresh', 'weather');
  await look(tour);

  story.title('What waits, in the terminal');
  const review = await cardea('review', 'weather');
  const digest = /sha256:[0-9a-f]{64}/.exec(review)?.[0] ?? '';
  const answer = await asksFor('Put it in force? [Y/n] ', { input: process.stdin, output: process.stdout });
  const action = answer ? 'approve' : 'reject';
  await cardea(action, 'weather', digest, '--reason', 'read it in the tour');
  await look(tour);

  story.title('Everything is stopped, and taken up again');
  const killed = await cardea('kill', 'all', '--reason', 'a drill');
  await look(tour);
  const id = /cardea lift (\S+)/.exec(killed)?.[1] ?? '';
  await cardea('lift', id, '--reason', 'the drill is over');
  await look(tour);

  story.title('Why it is as it is');
  await cardea('explain', 'weather');
}

/** Asks for the card as an agent would. */
async function look({ story, url }: Tour): Promise<void> {
  const response = await fetch(url);
  story.exchange('GET the card of weather', response);
  const card = (await response.json()) as {
    readonly skills?: readonly { readonly description: string }[];
    readonly detail?: string;
  };
  story.say(`  ${card.skills?.[0]?.description ?? card.detail ?? ''}`);
}

/** What a command prints stands a little to the right of the story. */
const INDENT = '    ';

async function run(story: Story, config: string, words: readonly string[]): Promise<string> {
  const shown = words.map((word) => (/^[\w:./-]+$/.test(word) ? word : JSON.stringify(word))).join(' ');
  story.say(`$ cardea ${shown}`);
  const columns = String((process.stdout.columns || 100) - INDENT.length);
  const child = spawn(LAUNCHER, [...words, '--config', config], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, COLUMNS: columns },
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  process.stdout.write(`${output.trimEnd().replaceAll(/^/gm, INDENT)}\n`);
  if (code !== 0) throw new Error(`cardea ${words[0]} ended with ${String(code)}`);
  return output;
}

const configuration = (url: string, folder: string): string => `# The agent is on this machine and without TLS.
listen: { agents: "127.0.0.1:0", ops: "127.0.0.1:0", admin: "127.0.0.1:0" }
state: ${path.join(folder, 'state')}
keys:
  weather: { jwks: "${url}/jwks.json" }
agents:
  weather: { origin: "${url}", keys: [weather], signature: require, unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32] }
log: { level: error }
`;
