import type { Readable } from 'node:stream';
import request from 'undici/lib/api/api-request.js';
import type { ByteStream, Fields } from '../kernel/fields.ts';
import { type Refusal, RefusalError, refuse } from '../kernel/refusal.ts';
import type { EgressRule } from '../kernel/egress-rule.ts';
import type { Purpose } from '../kernel/outcome.ts';
import type { FetchOrder } from '../ports.ts';
import { type Ms, ms } from '../kernel/units.ts';
import { type Sharing, createConnectionKeys, isAlone } from './connection-key.ts';
import { type ArrivingBody, sendForAnswer } from './arriving.ts';
import type { Connections, Lease } from './connections.ts';
import { type Connector, forbidOwn } from './connector.ts';
import { holdBody, isShortBody } from './held-body.ts';
import { interimListener } from './interim.ts';
import { tokensOf } from './message-fields.ts';
import type { Target } from '../kernel/origins.ts';
import type { BoundAddress } from './own-listeners.ts';
import { forbidAddress } from './permit.ts';
import type { TlsIdentity, TlsStore } from './tls-files.ts';
import type { TrailKeeper } from './trail.ts';

/** One request to send to a target that was permitted. */
export interface Outgoing {
  readonly target: Target;
  readonly rule: EgressRule;
  readonly sharing: Sharing;
  readonly method: string;
  readonly fields: Fields;
  readonly body: ByteStream | null;
  readonly connect: Ms;
  readonly purpose: Purpose;
  readonly interim: FetchOrder['interim'];
  readonly signal: AbortSignal;
  readonly trail: TrailKeeper;
}

/** An answer whose head has arrived. */
export interface Incoming<Body> {
  readonly status: number;
  readonly fields: Fields;
  readonly stream: Body;
  /** Must be called once, when the body was read whole or given up. */
  readonly release: Lease['release'];
}

export interface ExchangeDoors {
  readonly connections: Connections;
  readonly connector: Connector;
  readonly tlsStore: TlsStore;
  readonly ownAddresses: () => readonly BoundAddress[];
}

/** Sends one request and waits for the head of its answer. */
export type SendRequest<Body> = (outgoing: Outgoing) => Promise<Incoming<Body>>;

/** How an answer's body is had. */
interface Way<Body> {
  /** Sends one request over a connection that is lent to it. */
  readonly ask: (outgoing: Outgoing, lease: Lease) => Promise<Omit<Incoming<Body>, 'release'>>;
  readonly giveUp: (body: Body) => void;
}

// Far above any honest answer (about 30), far below what makes every later step slow.
const MAX_FIELD_LINES = 512;
/** "Idempotent": sending it again asks for the same thing (RFC 9110 §9.2.2). */
const IDEMPOTENT: readonly string[] = ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'];

/** What may be sent again risks nothing on a connection that the other side is just closing. */
const ANY_IDLE = ms(Number.POSITIVE_INFINITY);
/** What may not is given a connection that was used a moment ago, or a new one: servers close idle ones after some seconds. */
const LONGEST_IDLE = ms(1_000);

/** @param way `STREAMED`, or `WHOLE` where the body is read at once. */
export function createExchange<Body>(doors: ExchangeDoors, way: Way<Body>): SendRequest<Body> {
  const keyOf = createConnectionKeys();
  const over = async (lease: Lease, outgoing: Outgoing): Promise<Incoming<Body>> => {
    try {
      if (lease.reused) recheck(doors, outgoing, lease);
      outgoing.trail.sending();
      const { status, fields, stream } = await way.ask(outgoing, lease);
      const odd = oddHead(fields, outgoing.purpose);
      if (odd === null) return { status, fields, stream, release: lease.release };
      way.giveUp(stream);
      throw new RefusalError(refuseHead(outgoing.target, odd));
    } catch (error) {
      lease.release('broken');
      throw lease.alert() ?? error;
    }
  };
  return async (given) => {
    const { outgoing, repeatable } = await prepare(given);
    const identity = await doors.tlsStore.read(outgoing.rule.tls);
    const key = keyOf(outgoing, identity);
    const alone = isAlone(outgoing.fields);
    const dial = async (): Promise<Lease> => {
      const socket = await doors.connector(connection(outgoing, identity));
      return doors.connections.add(key, { origin: outgoing.target.origin, socket, alone });
    };
    const kept = alone ? undefined : doors.connections.take(key, repeatable ? ANY_IDLE : LONGEST_IDLE);
    if (kept === undefined) return over(await dial(), outgoing);
    try {
      return await over(kept, outgoing);
    } catch (error) {
      // A kept connection may have been closed, or poisoned, while nobody used it: once more over one that is surely new.
      // "a client … MAY … automatically retry" what is idempotent — RFC 9110 §9.2.2
      if (!repeatable || outgoing.signal.aborted || error instanceof RefusalError) throw error;
      return over(await dial(), outgoing);
    }
  };
}

const connection = ({ target, rule, connect, signal, trail }: Outgoing, identity: TlsIdentity) => ({
  target,
  rule,
  identity,
  timeout: connect,
  signal,
  trail,
});

/** The rule may be as it was, but what the connection leads to is judged for every request, not once per connection. */
function recheck(doors: ExchangeDoors, { target, rule, trail }: Outgoing, lease: Lease): void {
  trail.reused();
  if (rule.proxy !== null) return;
  const refusal = forbidAddress(target, lease.peer, rule) ?? forbidOwn(lease.peer, target.port, doors.ownAddresses());
  if (refusal !== null) throw new RefusalError(refusal);
}

/** A request, and whether it may and can be sent a second time. */
interface Prepared {
  readonly outgoing: Outgoing;
  readonly repeatable: boolean;
}

/** The short body of an idempotent request is read first: half a body on a connection that is just closing is lost otherwise. */
async function prepare(outgoing: Outgoing): Promise<Prepared> {
  const { method, body, fields } = outgoing;
  if (!IDEMPOTENT.includes(method)) return { outgoing, repeatable: false };
  if (body === null) return { outgoing, repeatable: true };
  if (!isShortBody(fields)) return { outgoing, repeatable: false };
  return { outgoing: { ...outgoing, body: await holdBody(body) }, repeatable: true };
}

/** With back-pressure, for as long as its reader likes. */
export const STREAMED: Way<Readable> = {
  async ask(outgoing, { client }) {
    const { signal, interim } = outgoing;
    const response = await request.call(client, {
      ...requestOf(outgoing),
      signal,
      responseHeaders: 'raw',
      ...(interim === undefined ? {} : { onInfo: interimListener(interim) }),
    });
    // A flat list, as asked for by `raw`.
    return { status: response.statusCode, fields: response.headers as unknown as Fields, stream: response.body };
  },
  giveUp: (stream) => void stream.on('error', () => {}).destroy(),
};

export const WHOLE: Way<ArrivingBody> = {
  ask(outgoing, { client }) {
    const { signal, interim } = outgoing;
    const hear = interim === undefined ? undefined : interimListener(interim);
    return sendForAnswer(client, requestOf(outgoing), { signal, interim: hear });
  },
  giveUp: (body) => body.destroy(),
};

const requestOf = ({ target, method, fields, body }: Outgoing) => ({
  path: target.path,
  method, // any token is sent; undici checks that it is one
  headers: [...fields],
  body: body as Readable | null, // any async iterable is taken, the type says less
});

const refuseHead = ({ origin }: Target, odd: string): Refusal =>
  refuse('origin-unreachable', `${origin} ${odd}.`, { proxyError: 'http_protocol_error' });

/** What the parser lets through and nobody can agree on; null for an ordinary head. */
function oddHead(fields: Fields, purpose: Purpose): string | null {
  const count = fields.length / 2;
  if (count > MAX_FIELD_LINES) return `answered with ${count} fields; more than ${MAX_FIELD_LINES} are not taken`;
  // The parser reads "gzip" or "identity" as "until the connection closes"; others read it otherwise (RFC 9112 §6.1).
  const codings = tokensOf(fields, 'transfer-encoding');
  // `content: any` passes what RFC 9112 §6.3 gives an end: without "chunked" the body goes on until the connection closes.
  if (purpose === 'any' && !codings.includes('chunked')) return null;
  if (codings.length > 0 && codings.join() !== 'chunked')
    return 'framed its answer by another transfer coding than chunked';
  return null;
}
