import http from 'node:http';
import { AgentCard, type Task, TaskState, type TaskStatus } from '@a2a-js/sdk';
import { AgentEvent, type AgentExecutor, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { UserBuilder, agentCardHandler, jsonRpcHandler, restHandler } from '@a2a-js/sdk/server/express';
import express from 'express';
import type { Signer } from '../../demo/signer.ts';

/** An agent of the official SDK that has tasks: `wait` begins one that lasts, everything else one that is done at once. */
export interface TaskAgent {
  readonly url: string;
  readonly card: AgentCard;
  /** One line per request: method, target, and what it says of who sent it. */
  readonly log: readonly Logged[];
  stop(): Promise<void>;
}

interface Logged {
  readonly line: string;
  readonly via: string | undefined;
}

export interface TaskAgentOptions {
  readonly version: '1.0' | '0.3';
  readonly tenant?: string;
  readonly signer?: Signer;
}

export async function startTaskAgent({ version, tenant = '', signer }: TaskAgentOptions): Promise<TaskAgent> {
  const app = express();
  const log: Logged[] = [];
  app.use((request, _response, next) => {
    log.push({ line: `${request.method} ${request.url}`, via: request.headers.via });
    next();
  });
  const server = http.createServer(app);
  const url = await listening(server);
  const card = cardAt(url, version, tenant);
  const handler = new DefaultRequestHandler(card, new InMemoryTaskStore(), createExecutor());
  const compat = version === '0.3' ? { legacyCompat: { enabled: true } } : {};
  const agentCardProvider = signer === undefined ? handler : () => signer.sign(card);
  const served = { requestHandler: handler, userBuilder: UserBuilder.noAuthentication, ...compat };
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider, cache: { maxAge: 300 }, ...compat }));
  app.get('/jwks.json', (_request, response) => void response.json(signer?.jwks ?? { keys: [] }));
  app.use('/rpc', jsonRpcHandler(served));
  app.use('/rest', restHandler(served));
  return { url, card, log, stop: () => closed(server) };
}

function cardAt(url: string, protocolVersion: string, tenant: string): AgentCard {
  return AgentCard.fromJSON({
    name: 'Tasks',
    description: 'Has tasks.',
    version: '1.0.0',
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    supportedInterfaces: [
      { url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion, tenant },
      { url: `${url}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion, tenant },
    ],
    capabilities: { streaming: true },
    skills: [{ id: 'work', name: 'Work', description: 'Works.', tags: ['work'] }],
  });
}

function createExecutor(): AgentExecutor {
  const waiting = new Map<string, { readonly contextId: string; readonly done: () => void }>();
  return {
    execute({ taskId, contextId, userMessage }, bus) {
      const task: Task = {
        id: taskId,
        contextId,
        status: statusOf(TaskState.TASK_STATE_WORKING),
        artifacts: [],
        history: [userMessage],
        metadata: {},
      };
      bus.publish(AgentEvent.task(task));
      const [part] = userMessage.parts;
      const text = part?.content?.$case === 'text' ? part.content.value : '';
      // The server ends the stream when this resolves.
      if (text === 'wait') return new Promise((done) => void waiting.set(taskId, { contextId, done }));
      bus.publish(
        AgentEvent.statusUpdate({ taskId, contextId, status: statusOf(TaskState.TASK_STATE_COMPLETED), metadata: {} }),
      );
      bus.finished();
      return Promise.resolve();
    },
    cancelTask(taskId, bus) {
      const { contextId = '', done } = waiting.get(taskId) ?? {};
      bus.publish(
        AgentEvent.statusUpdate({ taskId, contextId, status: statusOf(TaskState.TASK_STATE_CANCELED), metadata: {} }),
      );
      bus.finished();
      done?.();
      return Promise.resolve();
    },
  };
}

const statusOf = (state: TaskState): TaskStatus => ({ state, message: undefined, timestamp: undefined });

function listening(server: http.Server): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (address === null || typeof address === 'string') reject(new Error('no port'));
      else resolve(`http://127.0.0.1:${address.port}`);
    });
  });
}

function closed(server: http.Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
