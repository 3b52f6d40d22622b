import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Pair, pair, signed } from '../../test/card/signer.ts';
import { ConsoleWorld } from '../../test/browser/console-world.ts';
import { startNameServer } from '../../test/support/name-server.ts';
import { CALM, CHANGED, cardOf } from './cards.ts';

/** A daemon whose agents stand in every state there is. */
export interface Scene {
  readonly url: string;
  link(): Promise<string>;
  stop(): Promise<void>;
}

const SECONDS = { weather: 300, planner: 900, geocoder: 120, translator: 600, invoices: 60, flights: 60 } as const;
const BROKEN: ReadonlySet<string> = new Set(['invoices', 'flights']);

/** Starts agents and daemon, lets time pass, and lets things happen. */
export async function startScene(): Promise<Scene> {
  const names = await startNameServer(() => [{ a: '127.0.0.1', ttl: 60 }]);
  const key = await pair('acme-2026');
  const cards = await signedCards(key);
  const broken = new Set<string>();
  const here = await ConsoleWorld.start(
    {},
    { origin: (request, response) => answer(request, response, cards, broken) },
  );
  const keys = JSON.stringify({ keys: [key.publicJwk] });
  here.world.writes(configuration(here.world.origin.port, names.server, keys));
  await here.admin('POST /reload', {});
  await happen(here, cards, broken);
  cards.set('weather', await signed(cardOf('weather', CHANGED), key));
  await here.admin('POST /agents/weather/refresh', {});
  return {
    url: here.url,
    link: () => here.link(),
    async stop() {
      await here.stop();
      names.close();
    },
  };
}

/** Three that one key signs, three that nobody signs. */
async function signedCards(key: Pair): Promise<Map<string, object>> {
  const cards = new Map<string, object>();
  for (const name of ['weather', 'planner', 'geocoder']) cards.set(name, await signed(cardOf(name, CALM), key));
  for (const name of ['translator', 'invoices', 'flights']) cards.set(name, cardOf(name, CALM));
  return cards;
}

/** Lets agents be asked, time pass, origins break and somebody stop one. */
async function happen(here: ConsoleWorld, cards: ReadonlyMap<string, object>, broken: Set<string>): Promise<void> {
  const ask = async (agents: readonly string[]): Promise<void> => {
    for (const agent of agents) await here.world.get(`/agents/${agent}/.well-known/agent-card.json`);
  };
  await ask(['flights']);
  await here.world.clock.advance(40 * 60_000);
  await ask([...cards.keys(), 'hotels']);
  for (const name of BROKEN) broken.add(name);
  await here.world.clock.advance(78_000);
  const reason = 'sends what it is given to a host that is not theirs';
  await here.admin('POST /kill', { scope: 'agent:translator', reason });
  await ask([...BROKEN, 'hotels']);
}

function answer(
  { headers }: IncomingMessage,
  response: ServerResponse,
  cards: ReadonlyMap<string, object>,
  broken: ReadonlySet<string>,
): void {
  const [name = ''] = (headers.host ?? '').split('.', 1);
  const card = cards.get(name);
  const seconds = new Map<string, number>(Object.entries(SECONDS)).get(name) ?? 60;
  if (broken.has(name)) response.writeHead(503, { 'Content-Length': 0 }).end();
  else if (card === undefined) response.writeHead(200, { 'Content-Type': 'text/html' }).end('<h1>Parked</h1>');
  else {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': `max-age=${seconds}` });
    response.end(JSON.stringify(card));
  }
}

/** @param server the name server that leads every name to loopback. */
function configuration(port: number, server: string, keys: string): string {
  const agent = (name: string, more = ''): string =>
    `  ${name}: { origin: "http://${name}.acme.example:${port}", unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32]${more} }\n`;
  const byKey = ', keys: [acme]';
  return `listen: { agents: "127.0.0.1:0", ops: "127.0.0.1:0", admin: "127.0.0.1:0" }
state: memory
egress: { dns: ["${server}"] }
cache: { prefetch: false, staleWhileRevalidate: 0s }
keys:
  acme: { inline: '${keys}' }
agents:
${agent('weather', byKey)}${agent('planner', byKey)}${agent('geocoder', byKey)}${agent('translator')}${agent('invoices')}${agent('flights', ', maxStale: 10s')}${agent('hotels')}`;
}
