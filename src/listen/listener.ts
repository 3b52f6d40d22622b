import { once } from 'node:events';
import type net from 'node:net';
import { problemAnswer } from '../bindings/problem.ts';
import type { Answer } from '../kernel/answer.ts';
import type { Ask } from '../kernel/ask.ts';
import type { FaultCode } from '../kernel/faults.ts';
import type { ListenerName } from '../kernel/ids.ts';
import { type Refusal, refuse } from '../kernel/refusal.ts';
import { between } from '../kernel/units.ts';
import type { Clock, Observer } from '../ports.ts';
import { type AskContext, readAsk } from './ask.ts';
import { type Front, type FrontLimits, type Incoming, type Outgoing, createFront } from './front.ts';
import { reply } from './reply.ts';

export interface ListenerOptions {
  readonly name: ListenerName;
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly names: ReadonlySet<string>;
  readonly limits: FrontLimits;
  readonly handle: (ask: Ask) => Answer | Promise<Answer>;
  readonly clock: Clock;
  readonly observer: Observer;
}

/** One open port. */
export interface Listener {
  readonly name: ListenerName;
  /** Binds the port; resolves to where it is, throws an Error that says which listener cannot be opened and why. */
  open(): Promise<{ readonly address: string; readonly port: number }>;
  /** Stops accepting and lets accepted requests finish; what is left at `hardStop` is cut. */
  drain(hardStop: Promise<void>): Promise<void>;
}

export function createListener(options: ListenerOptions): Listener {
  const context: AskContext = { listener: options.name, scheme: 'http', names: options.names };
  const front: Front = createFront(
    {
      request: (request, response) => void serve(options, context, front, request, response),
      nonsense: (error, socket) => refuseRaw(socket, nonsense(error)),
      connect: (socket) => refuseRaw(socket, NO_TUNNEL),
    },
    options.limits,
  );
  return {
    name: options.name,
    open: () => bind(front.server, options),
    drain: front.drain,
  };
}

/** Reads, handles and answers one request, whatever happens; a broken handler is an `internal` problem, never a crash. */
async function serve(
  options: ListenerOptions,
  context: AskContext,
  front: Front,
  request: Incoming,
  response: Outgoing,
): Promise<void> {
  const startedAt = options.clock.now();
  const ask = readAsk(request, response, context);
  const answer = ask.ok ? await handled(options, ask.value) : problemAnswer(ask.refusal, UNREAD);
  try {
    await reply(request, response, answer, front.draining());
  } catch (error) {
    options.observer.record(broken(error, options.name));
    response.destroy();
  }
  options.observer.record({
    kind: 'request',
    listener: options.name,
    method: request.method ?? '',
    status: answer.status,
    trace: answer.trace,
    took: between(startedAt, options.clock.now()),
  });
}

async function handled(options: ListenerOptions, ask: Ask): Promise<Answer> {
  try {
    return await options.handle(ask);
  } catch (error) {
    options.observer.record(broken(error, options.name));
    return problemAnswer(refuse('internal', 'Cardea could not answer; its log says more.'), UNREAD);
  }
}

const UNREAD = { kind: 'other', agent: null } as const;

const broken = (error: unknown, listener: ListenerName) =>
  ({
    kind: 'notice',
    level: 'error',
    msg: 'a request broke',
    about: { listener, error: error instanceof Error ? (error.stack ?? error.message) : String(error) },
  }) as const;

const NO_TUNNEL = refuse(
  'method-not-allowed',
  'Cardea is no tunnel: it must see what it serves. Use http:// URLs, which it fetches over https.',
  {
    allow: ['GET', 'HEAD', 'POST'],
  },
);

/** What Node's parser could not read, or would not wait for. */
function nonsense(error: NodeJS.ErrnoException): Refusal | undefined {
  switch (error.code) {
    case 'ECONNRESET':
    case 'EPIPE':
      return undefined;
    case 'HPE_HEADER_OVERFLOW':
      return refuse('request-too-large', 'The request head is too long.', { status: 431 });
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return refuse('request-timeout', 'The request did not arrive in time.');
    default:
      return refuse('bad-request', 'The bytes are no HTTP request.');
  }
}

/** Answers on a socket that has no request object, and ends it. */
function refuseRaw(socket: net.Socket, refusal: Refusal | undefined): void {
  if (refusal === undefined || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, fields, body } = problemAnswer(refusal, UNREAD);
  const lines = [`HTTP/1.1 ${status} ${REASONS[refusal.code] ?? 'Refused'}`, 'Connection: close'];
  for (let at = 0; at + 1 < fields.length; at += 2) lines.push(`${fields[at]}: ${fields[at + 1]}`);
  const text = body instanceof Uint8Array ? Buffer.from(body) : Buffer.alloc(0);
  lines.push(`Content-Length: ${text.length}`, '', '');
  socket.once('error', () => socket.destroy());
  socket.end(Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), text]), () => socket.destroy());
}

const REASONS: Partial<Record<FaultCode, string>> = {
  'bad-request': 'Bad Request',
  'method-not-allowed': 'Method Not Allowed',
  'request-timeout': 'Request Timeout',
  'request-too-large': 'Request Header Fields Too Large',
};

async function bind(
  server: net.Server,
  { host, port, name }: ListenerOptions,
): Promise<{ address: string; port: number }> {
  server.listen({ host, port });
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new Error(`listener ${name}: cannot open ${host}:${port}: ${reasonOf(error)}`, { cause: error });
  }
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error(`listener ${name}: has no port`);
  return { address: bound.address, port: bound.port };
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') return 'the port is taken; stop the other program or choose another port';
  if (code === 'EACCES') return 'ports below 1024 need privileges; choose a higher port';
  if (code === 'EADDRNOTAVAIL') return 'this machine has no such address';
  return error instanceof Error ? error.message : String(error);
}
