import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { test } from 'node:test';
import type { Behave } from './origin-server.ts';
import { CARD, type Got, World, type WorldOptions } from './world.ts';

/** What a test says of the card, beside its world. */
type ThroughOptions = WorldOptions & { readonly card?: string; readonly cardFields?: OutgoingHttpHeaders };

/** A world whose agent `weather` is called through Cardea: a card over JSON-RPC and HTTP+JSON at its origin, and calls as `calls` answers them. */
export async function startThrough(calls: Behave, options: ThroughOptions = {}): Promise<World> {
  const { agent = '', card, cardFields, ...more } = options;
  let url = '';
  const world = await World.start({
    ...more,
    agent: `route: through${agent === '' ? '' : `, ${agent}`}`,
    origin: (request, response) => {
      if (request.url?.startsWith('/.well-known/') === true)
        return sendCard(response, (card ?? BOTH).replaceAll('$ORIGIN', url), cardFields);
      calls(request, response);
    },
  });
  url = world.origin.url;
  return world;
}

export const interfaceAt = (url: string, more: object = {}): object => ({
  url,
  protocolBinding: 'JSONRPC',
  protocolVersion: '1.0',
  ...more,
});

/** The small card with these interfaces. */
export const cardWith = (...supportedInterfaces: readonly object[]): string =>
  JSON.stringify({ ...(JSON.parse(CARD) as object), supportedInterfaces });

const BOTH = cardWith(interfaceAt('$ORIGIN/rpc'), interfaceAt('$ORIGIN/rest', { protocolBinding: 'HTTP+JSON' }));

function sendCard(response: ServerResponse, body: string, fields: OutgoingHttpHeaders = {}): void {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'max-age=300', ...fields });
  response.end(body);
}

/** Runs a dialogue in a world of its own. */
export const scenario = (
  name: string,
  calls: Behave,
  run: (world: World) => Promise<void>,
  options: ThroughOptions = {},
): void => {
  test(name, async () => {
    const world = await startThrough(calls, options);
    try {
      await run(world);
    } finally {
      await world.stop();
    }
  });
};

/** What a 1.0 client of each binding sends to get a task. */
export const getTask = (world: World, headers: Readonly<Record<string, string>> = {}): Promise<Got> =>
  world.get('/agents/weather/tasks/t-1', { 'A2A-Version': '1.0', ...headers });
export const rpc = (world: World, request: object, headers: Readonly<Record<string, string>> = {}): Promise<Got> =>
  world.post('/agents/weather', JSON.stringify({ jsonrpc: '2.0', id: 'r-1', ...request }), {
    'A2A-Version': '1.0',
    'Content-Type': 'application/json',
    ...headers,
  });

/** An agent that says what it was asked. */
export const echoes = (request: IncomingMessage, response: ServerResponse): void => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { method, url, headers } = request;
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ method, url, headers, body: Buffer.concat(chunks).toString() }));
  });
};
