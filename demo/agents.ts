import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { AgentCard, Role, TaskState, type TaskStatus } from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from '@a2a-js/sdk/server';
import { UserBuilder, agentCardHandler, jsonRpcHandler, restHandler } from '@a2a-js/sdk/server/express';
import express from 'express';
import { type People, declaration, extendedCard, guard, userBuilder } from './people.ts';
import type { Signer } from './signer.ts';

const CARD_PATH = '/.well-known/agent-card.json';

/** An agent that runs: where it is, what was asked of it, and how to stop it. */
export interface RunningAgent {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** Method and target of every request, in order. */
  readonly asked: readonly string[];
  /** A2A operations that it was asked for, and by way of whom (RFC 9110 Via). */
  readonly calls: readonly { readonly via: string | undefined }[];
  /** Who was shown an extended card, in order. */
  readonly shownTo: readonly string[];
  /** From now on its skill is described like this. */
  describe(skill: string): void;
  stop(): Promise<void>;
}

export interface AgentOptions {
  readonly name: string;
  readonly description: string;
  readonly skill: { readonly id: string; readonly name: string; readonly description: string };
  /** The protocol version that the agent publishes: `0.3` turns on the SDK's compatibility layer. */
  readonly publishes: '1.0' | '0.3';
  /** `max-age` of its card, in seconds. */
  readonly maxAge: number;
  /** Signs its card; its key set is then served at `/jwks.json`. */
  readonly signer?: Signer;
  /** It answers them alone, and has an extended card for each of them; else it answers everybody. */
  readonly people?: People;
}

/** Starts an agent built with the official SDK's own server on a free loopback port. */
export async function startAgent(options: AgentOptions): Promise<RunningAgent> {
  const app = express();
  const asked: string[] = [];
  const calls: { readonly via: string | undefined }[] = [];
  app.use((request, _response, next) => {
    asked.push(`${request.method} ${request.url}`);
    if (/^\/(?:rpc|rest)/.test(request.url)) calls.push({ via: request.headers.via });
    next();
  });
  const server = http.createServer(app);
  const url = await listen(server);
  const { signer, maxAge, people } = options;
  const card = cardOf(options, url);
  const shownTo: string[] = [];
  const handler = handlerOf(options, card, shownTo);
  const legacy = options.publishes === '0.3' ? { legacyCompat: { enabled: true } } : {};
  const served = {
    requestHandler: handler,
    userBuilder: people === undefined ? UserBuilder.noAuthentication : userBuilder(people),
    ...legacy,
  };
  const agentCardProvider = signer === undefined ? handler : () => signer.sign(card);
  app.use(CARD_PATH, agentCardHandler({ agentCardProvider, cache: { maxAge }, ...legacy }));
  app.get('/jwks.json', (_request, response) => void response.json(signer?.jwks ?? { keys: [] }));
  if (people !== undefined) app.use(['/rpc', '/rest'], guard(people));
  app.use('/rpc', jsonRpcHandler(served));
  app.use('/rest', restHandler(served));
  const describe = (text: string): void => {
    for (const skill of card.skills) skill.description = text;
  };
  return { url, asked, calls, shownTo, describe, stop: () => stop(server) };
}

/** Starts someone else's server, which serves a copy of another agent's card with one word changed. */
export async function startTamperer(of: string): Promise<Omit<RunningAgent, 'describe' | 'shownTo'>> {
  const card = await (await fetch(`${of}${CARD_PATH}?copy`)).text();
  const asked: string[] = [];
  const server = http.createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.setHeader('Content-Type', 'application/json').end(card.replace('anywhere', 'nowhere'));
  });
  return { url: await listen(server), asked, calls: [], stop: () => stop(server) };
}

function listen(server: http.Server): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (address === null || typeof address === 'string') reject(new Error('no port'));
      else resolve(`http://127.0.0.1:${address.port}`);
    });
  });
}

function stop(server: http.Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function handlerOf({ name, people }: AgentOptions, card: AgentCard, shownTo: string[]): DefaultRequestHandler {
  const extended = people === undefined ? undefined : extendedCard(card, shownTo);
  return new DefaultRequestHandler(
    card,
    new InMemoryTaskStore(),
    echo(name),
    undefined,
    undefined,
    undefined,
    extended,
  );
}

function cardOf(options: AgentOptions, url: string): AgentCard {
  const { name, description, skill, publishes, people } = options;
  const protocolVersions = publishes === '1.0' ? ['1.0'] : ['1.0', '0.3'];
  return AgentCard.fromJSON({
    name,
    description,
    version: '1.0.0',
    provider: { organization: 'Cardea demo', url: 'https://example.com' },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    supportedInterfaces: protocolVersions.flatMap((protocolVersion) => [
      { url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion },
      { url: `${url}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion },
    ]),
    ...(people === undefined ? { capabilities: { streaming: true } } : declaration),
    skills: [{ ...skill, tags: ['demo'], examples: [`Ask ${name} for help.`] }],
  });
}

const echo = (name: string): AgentExecutor => ({
  execute(context, bus) {
    const [part] = context.userMessage.parts;
    if (part?.content?.$case === 'text' && part.content.value === 'watch') return watch(context, bus);
    bus.publish(
      AgentEvent.message({
        messageId: randomUUID(),
        role: Role.ROLE_AGENT,
        contextId: context.contextId,
        taskId: '',
        extensions: [],
        referenceTaskIds: [],
        metadata: {},
        parts: [
          {
            content: { $case: 'text', value: `${name} heard you.` },
            filename: '',
            mediaType: 'text/plain',
            metadata: {},
          },
        ],
      }),
    );
    bus.finished();
    return Promise.resolve();
  },
  cancelTask: () => Promise.resolve(),
});

/** Long enough for whoever watches, and an end for a demo that is left alone. */
const MOST_UPDATES = 200;

/** A task that goes on and on, an update every fifth of a second. */
async function watch({ taskId, contextId, userMessage }: RequestContext, bus: ExecutionEventBus): Promise<void> {
  const status = (state: TaskState): TaskStatus => ({ state, message: undefined, timestamp: undefined });
  const working = status(TaskState.TASK_STATE_WORKING);
  bus.publish(
    AgentEvent.task({ id: taskId, contextId, status: working, artifacts: [], history: [userMessage], metadata: {} }),
  );
  for (let update = 0; update < MOST_UPDATES; update += 1) {
    await pause(200, undefined, { ref: false });
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: working, metadata: {} }));
  }
  bus.publish(
    AgentEvent.statusUpdate({ taskId, contextId, status: status(TaskState.TASK_STATE_COMPLETED), metadata: {} }),
  );
  bus.finished();
}
