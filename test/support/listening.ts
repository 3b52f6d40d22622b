import http2 from 'node:http2';
import type { Answer } from '../../src/kernel/answer.ts';
import type { Ask } from '../../src/kernel/ask.ts';
import type { Event } from '../../src/kernel/event.ts';
import type { Fields } from '../../src/kernel/fields.ts';
import { listenerName } from '../../src/kernel/ids.ts';
import type { ListenAddress } from '../../src/kernel/listen-address.ts';
import { FRONT_LIMITS, type FrontLimits } from '../../src/listen/limits.ts';
import type { ListenerTls } from '../../src/listen/secure.ts';
import { type Listener, createListener } from '../../src/listen/listener.ts';
import { FakeClock } from './fake-clock.ts';
import { RawSocket } from './raw-socket.ts';

/** A listener on a free port of loopback, with a handler of the test's own. */
export interface Listening {
  readonly listener: Listener;
  readonly port: number;
  readonly clock: FakeClock;
  /** What the handler was asked. */
  readonly asks: Ask[];
  readonly events: Event[];
  /** A raw connection that is closed with the listener. */
  connect(): Promise<RawSocket>;
  /** An HTTP/2 session that is closed with the listener. */
  session(): http2.ClientHttp2Session;
  close(): Promise<void>;
}

export type Handler = (ask: Ask) => Answer | Promise<Answer>;

/** An answer as a handler gives it. */
export const answer = (status: number, body: Answer['body'] | string = 'ok', fields: Fields = []): Answer => ({
  status,
  fields,
  body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
  trace: { kind: 'other', agent: null, result: 'hit' },
});

/** What a test says of its listener: limits, and where it is if not on a free port. */
export interface ListeningOptions extends Partial<FrontLimits> {
  readonly address?: ListenAddress;
  readonly principal?: string;
  readonly tls?: ListenerTls;
  readonly isProxy?: boolean;
}

const LOOPBACK: ListenAddress = { kind: 'tcp', host: '127.0.0.1', port: 0 };

export async function listening(
  handle: Handler,
  { address = LOOPBACK, principal, tls, isProxy, ...limits }: ListeningOptions = {},
  names: readonly string[] = [],
): Promise<Listening> {
  const clock = new FakeClock();
  const asks: Ask[] = [];
  const events: Event[] = [];
  const open = new Set<{ close(): void }>();
  const listener = createListener({
    name: listenerName('agents'),
    address,
    principal: principal ?? null,
    tls: tls ?? null,
    isProxy: isProxy ?? false,
    names: new Set(names),
    limits: { connections: 2_000, ...FRONT_LIMITS, ...limits },
    handle(ask) {
      asks.push(ask);
      return handle(ask);
    },
    clock,
    observer: { record: (event) => void events.push(event) },
  });
  const bound = await listener.open();
  const port = bound.kind === 'tcp' ? bound.port : 0;
  return {
    listener,
    port,
    clock,
    asks,
    events,
    async connect() {
      const socket = await RawSocket.connect(port);
      open.add(socket);
      return socket;
    },
    session() {
      const session = http2.connect(`http://127.0.0.1:${port}`);
      session.on('error', () => undefined);
      open.add({ close: () => session.destroy() });
      return session;
    },
    async close() {
      for (const each of open) each.close();
      await listener.drain(Promise.resolve());
    },
  };
}

export interface Http2Got {
  /** NaN where no answer came. */
  readonly status: number;
  readonly headers: Readonly<http2.IncomingHttpHeaders>;
  readonly body: string;
  /** The code of the error that ended the stream, if one did. */
  readonly error: string | undefined;
}

/** One request on a session, with its end. */
export function ask2(
  session: http2.ClientHttp2Session,
  headers: http2.OutgoingHttpHeaders,
  body?: string,
): Promise<Http2Got> {
  return new Promise((resolve) => {
    const stream = session.request({ ':path': '/', ...headers }, { endStream: body === undefined });
    let head: http2.IncomingHttpHeaders = {};
    let text = '';
    let error: string | undefined;
    stream.on('response', (received) => {
      head = received;
    });
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    stream.on('error', (found: NodeJS.ErrnoException) => {
      error = found.code;
    });
    stream.on('close', () => resolve({ status: Number(head[':status']), headers: head, body: text, error }));
    if (body !== undefined) stream.end(body);
  });
}
