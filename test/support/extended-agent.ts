import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { AgentCard } from '@a2a-js/sdk';
import { DefaultRequestHandler, InMemoryTaskStore, type ServerCallContext } from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler } from '@a2a-js/sdk/server/express';
import express from 'express';

/** An agent on the official SDK that has an extended card for each user. */
export interface ExtendedAgent {
  readonly url: string;
  /** `METHOD target user` of every request for an operation, in order. */
  readonly asked: string[];
  /** Users whose credential it refuses from now on. */
  readonly refused: Set<string>;
  /** Further fields of its HTTP+JSON answers. */
  fields: Readonly<Record<string, string>>;
  /** Holds the next operation; resolves when it has arrived, with what lets it go on. */
  hold(): Promise<() => void>;
  /** Changes its public card. */
  publish(version: string): void;
  stop(): Promise<void>;
}

/** @param userOf who a bearer token is for; undefined for nobody. */
export async function startExtendedAgent(
  userOf: (token: string) => string | undefined,
  binding: 'JSONRPC' | 'HTTP+JSON' | 'both' = 'both',
): Promise<ExtendedAgent> {
  const app = express();
  const server = http.createServer(app);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const asked: string[] = [];
  const refused = new Set<string>();
  const card = cardOf(url, binding);
  const extended = (context: ServerCallContext): Promise<AgentCard> => {
    const name = context.user?.userName ?? '';
    const own = AgentCard.fromJSON(AgentCard.toJSON(card));
    own.skills.push({ ...(own.skills[0] as AgentCard['skills'][number]), id: `secret-${name}`, name: `Of ${name}` });
    return Promise.resolve(own);
  };
  const store = new InMemoryTaskStore();
  const executor = { execute: () => Promise.resolve(), cancelTask: () => Promise.resolve() };
  const handler = new DefaultRequestHandler(card, store, executor, undefined, undefined, undefined, extended);
  const tokenOf = (request: { headers: http.IncomingHttpHeaders }): string =>
    (request.headers.authorization ?? '').replace(/^Bearer /i, '');
  const userBuilder = (request: { headers: http.IncomingHttpHeaders }) =>
    Promise.resolve({ isAuthenticated: true, userName: userOf(tokenOf(request)) ?? '' });
  let held: ((go: () => void) => void) | undefined;
  const agent: ExtendedAgent = {
    url,
    asked,
    refused,
    fields: {},
    hold: () => new Promise((resolve) => void (held = resolve)),
    publish: (version) => void (card.version = version),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  const guard: express.RequestHandler = (request, response, next) => {
    const user = userOf(tokenOf(request));
    asked.push(`${request.method} ${request.originalUrl} ${user ?? '-'}`);
    if (user === undefined || refused.has(user)) {
      response.status(401).set('WWW-Authenticate', 'Bearer realm="agent"').json({ error: 'unauthenticated' });
    } else {
      response.set(agent.fields);
      const arrive = held;
      held = undefined;
      if (arrive === undefined) next();
      else arrive(() => next());
    }
  };
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: handler, cache: { maxAge: 60 } }));
  app.use('/rpc', guard, jsonRpcHandler({ requestHandler: handler, userBuilder }));
  app.use('/rest', guard, restHandler({ requestHandler: handler, userBuilder }));
  return agent;
}

function cardOf(url: string, binding: 'JSONRPC' | 'HTTP+JSON' | 'both'): AgentCard {
  const interfaces = [
    { url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url: `${url}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
  ];
  return AgentCard.fromJSON({
    name: 'Ledger',
    description: 'Keeps accounts.',
    version: '1.0.0',
    supportedInterfaces: interfaces.filter((each) => binding === 'both' || each.protocolBinding === binding),
    capabilities: { extendedAgentCard: true },
    securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'balance', name: 'Balance', description: 'Tells a balance.', tags: ['money'] }],
  });
}
