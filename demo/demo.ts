import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { DefaultAgentCardResolver } from '@a2a-js/sdk/client';
import { type RunningAgent, startAgent, startTamperer } from './agents.ts';
import { tellCalls } from './calls.ts';
import { LAUNCHER, startDaemon } from './daemon.ts';
import { type Person, tellExtended } from './extended.ts';
import { createSigner } from './signer.ts';
import { type Story, createStory } from './story.ts';
import { runTour } from './tour.ts';

/*
 * Two agents built with the official SDK, Cardea in front of them, and the SDK's own clients before it.
 * Everything is real: other processes, real sockets, the same launcher and configuration that a user has.
 */

const WELL_KNOWN = '.well-known/agent-card.json';

const ANN: Person = { name: 'Ann', token: 'the-token-of-ann' };
const BEN: Person = { name: 'Ben', token: 'the-token-of-ben' };

const story = createStory(process.stdout);
if (process.argv.includes('--tour')) {
  await runTour(story);
  process.exit(0);
}
const [weather, planner] = await Promise.all([
  startAgent({
    name: 'Weather',
    description: 'Tells the weather anywhere.',
    skill: {
      id: 'forecast',
      name: 'Forecast',
      description: 'Forecasts the weather of a place for the next three days.',
    },
    publishes: '1.0',
    maxAge: 300,
    signer: await createSigner('weather-2026'),
  }),
  startAgent({
    name: 'Planner',
    description: 'Plans journeys.',
    skill: { id: 'plan', name: 'Plan', description: 'Plans a journey between two places.' },
    publishes: '0.3',
    maxAge: 300,
    people: new Map([ANN, BEN].map(({ token, name }) => [token, name])),
  }),
]);
const tamperer = await startTamperer(weather.url);
const folder = await mkdtemp(path.join(tmpdir(), 'cardea-demo-'));
const config = path.join(folder, 'cardea.yaml');
await writeFile(config, configuration(weather, planner, folder));
const { daemon, started } = await startDaemon(config);
const base = `http://${started.agents[0]}`;

process.once('SIGINT', () => void end(0));
process.once('SIGTERM', () => void end(0));
daemon.once('exit', (code) => void end(code ?? 1));

await tell(story);

async function tell({ title, say, exchange, command }: Story): Promise<void> {
  title('Two agents, and Cardea in front of them');
  say(`Weather publishes A2A 1.0 at ${weather.url}`);
  say(`Planner publishes 1.0 and, for older clients, 0.3 at ${planner.url}`);
  say(`Cardea listens at ${base} and knows both by name.`);

  title('The official SDK reads both cards through Cardea');
  for (const [name, agent] of [
    ['weather', weather],
    ['planner', planner],
  ] as const) {
    const card = await new DefaultAgentCardResolver().resolve(`${base}/agents/${name}/`);
    const interfaces = card.supportedInterfaces.map((each) => `${each.protocolBinding} ${each.protocolVersion}`);
    say(`${card.name}: ${card.description} Skills: ${card.skills.map((skill) => skill.name).join(', ')}.`);
    say(
      `  interfaces: ${interfaces.join(', ')}; its origin was asked ${agent.asked.filter((line) => line.endsWith(WELL_KNOWN)).length} time(s) for it so far`,
    );
  }

  title('A miss, then hits that get older');
  const url = `${base}/agents/planner/${WELL_KNOWN}`;
  const older = { headers: { 'A2A-Version': '0.3' } };
  exchange('GET planner as a 0.3 client (a variant that nobody has asked for)', await fetch(url, older));
  exchange('GET the same again', await fetch(url, older));
  await pause(1_100);
  const aged = await fetch(url, older);
  exchange('GET the same a second later', aged);
  const etag = aged.headers.get('etag') ?? '';
  exchange(
    'GET with If-None-Match (this client adds no-cache, so the origin is asked)',
    await fetch(url, { headers: { ...older.headers, 'If-None-Match': etag } }),
  );

  title('A signed card, and a copy that someone has changed');
  exchange('GET weather, which signs its card', await fetch(`${base}/agents/weather/${WELL_KNOWN}`));
  const copy = await fetch(`${base}/agents/copy/${WELL_KNOWN}`);
  exchange("GET a copy of it that says 'nowhere' instead of 'anywhere'", copy);
  const { code, detail } = (await copy.json()) as { readonly code: string; readonly detail: string };
  say(`  ${code}: ${detail}`);

  await tellExtended(story, { base, planner, people: [ANN, BEN] });
  await tellCalls(story, { base, agent: weather, launcher: LAUNCHER, config });

  title('The origin goes away; the card stays');
  await weather.stop();
  exchange('GET weather with its origin down', await fetch(`${base}/agents/weather/${WELL_KNOWN}`));

  title('What is not configured is not there');
  exchange('GET an unknown agent', await fetch(`${base}/agents/stranger/${WELL_KNOWN}`));

  title('Try it');
  command(`curl -i ${base}/agents/planner/${WELL_KNOWN}`, 'a card, with where it came from and how old it is');
  command(`curl ${base}/agents`, 'what is served here');
  command(`curl ${base}/problems/unknown-agent`, 'what a refusal means and how to mend it');
  command(`curl -s http://${started.ops[0]}/metrics | grep cardea_card`, 'freshness, as Prometheus sees it');
  command(
    `./bin/cardea console --config ${config}`,
    'the console in a browser, signed in for you by a link like this one',
  );
  say(`  ${await consoleLink()}`);
  command(`./bin/cardea check --config ${config}`, 'the configuration of this demo, checked');
  say('');
  say('Cardea and the planner stay up; Ctrl-C ends the demo.');
}

/** What `cardea console` prints: a link that signs in once, within five minutes. */
async function consoleLink(): Promise<string> {
  const { stdout } = await promisify(execFile)(LAUNCHER, ['console', '--json', '--config', config]);
  return (JSON.parse(stdout) as { readonly url: string }).url;
}

function configuration(first: RunningAgent, second: RunningAgent, state: string): string {
  const local = 'unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32]';
  return `# The demo's agents are on this machine and without TLS, which a real configuration would not allow.
listen: { agents: "127.0.0.1:0", ops: "127.0.0.1:0", admin: "127.0.0.1:0" }
state: ${path.join(state, 'state')}
keys:
  weather: { jwks: "${first.url}/jwks.json" }
agents:
  weather: { origin: "${first.url}", keys: [weather], signature: require, route: through, ${local} }
  copy: { origin: "${tamperer.url}", keys: [weather], signature: require, ${local} }
  planner: { origin: "${second.url}", route: through, ${local} }
log: { level: error }
`;
}

async function end(code: number): Promise<void> {
  if (daemon.exitCode === null) {
    daemon.removeAllListeners('exit');
    daemon.kill('SIGTERM');
    await once(daemon, 'exit');
  }
  await Promise.all([weather.stop(), planner.stop(), tamperer.stop()]);
  await rm(folder, { recursive: true, force: true });
  process.exit(code);
}
