import type { Readable } from 'node:stream';
import type { ByteStream, Fields } from '../kernel/fields.ts';
import { RefusalError, refuse } from '../kernel/refusal.ts';
import type { EgressRule } from '../kernel/egress-rule.ts';
import type { Ms } from '../kernel/units.ts';
import type { Connections, Lease } from './connections.ts';
import { type Connector, forbidOwn } from './connector.ts';
import { codeOf } from './failures.ts';
import type { Target } from './origins.ts';
import type { BoundAddress } from './own-listeners.ts';
import { forbidAddress } from './permit.ts';
import type { TlsIdentity, TlsStore } from './tls-files.ts';
import type { TrailKeeper } from './trail.ts';

/** One request to send to a target that was permitted. */
export interface Outgoing {
  readonly target: Target;
  readonly rule: EgressRule;
  readonly method: string;
  readonly fields: Fields;
  readonly body: ByteStream | null;
  readonly connect: Ms;
  readonly signal: AbortSignal;
  readonly trail: TrailKeeper;
}

/** An answer whose head has arrived. */
export interface Incoming {
  readonly status: number;
  readonly fields: Fields;
  readonly stream: Readable;
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
export type SendRequest = (outgoing: Outgoing) => Promise<Incoming>;

// Far above any honest answer (about 30), far below what makes every later step slow.
const MAX_FIELD_LINES = 512;
/** "Idempotent" and without body, so that sending it again asks for the same thing (RFC 9110 §9.2.2). */
const REPEATABLE: readonly string[] = ['GET', 'HEAD', 'OPTIONS', 'TRACE'];
const CLOSED: readonly string[] = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE', 'ERR_HTTP2_GOAWAY_SESSION', 'UND_ERR_INFO'];

export function createExchange(doors: ExchangeDoors): SendRequest {
  const send = async (outgoing: Outgoing, identity: TlsIdentity, key: string): Promise<Incoming> => {
    const kept = doors.connections.take(key);
    const lease =
      kept ?? doors.connections.add(key, outgoing.target.origin, await doors.connector(connection(outgoing, identity)));
    try {
      if (lease.reused) recheck(doors, outgoing, lease);
      return await ask(outgoing, lease);
    } catch (error) {
      lease.release('broken');
      if (kept === undefined || !isRepeatable(outgoing, error)) throw error;
      // "A client that receives a closed connection … MAY automatically retry" — RFC 9110 §9.2.2; the next one may be stale as well.
      return send(outgoing, identity, key);
    }
  };
  return async (outgoing) => {
    const identity = await doors.tlsStore.read(outgoing.rule.tls);
    return send(outgoing, identity, poolKey(outgoing, identity));
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

/** Everything that decided how the connection was made: a changed rule or certificate finds no old connection. */
const poolKey = ({ target, rule }: Outgoing, identity: TlsIdentity): string =>
  JSON.stringify([
    target.origin,
    rule.name,
    rule.proxy,
    rule.cleartext,
    rule.unsafeAddresses,
    rule.tls,
    identity.fingerprint,
  ]);

/** The rule may be as it was, but what the connection leads to is judged for every request, not once per connection. */
function recheck(doors: ExchangeDoors, { target, rule, trail }: Outgoing, lease: Lease): void {
  trail.reused();
  if (rule.proxy !== null) return;
  const refusal =
    forbidAddress(target.host, lease.peer, rule) ?? forbidOwn(lease.peer, target.port, doors.ownAddresses());
  if (refusal !== null) throw new RefusalError(refusal);
}

function isRepeatable({ method, body, signal }: Outgoing, error: unknown): boolean {
  return body === null && REPEATABLE.includes(method) && !signal.aborted && CLOSED.includes(codeOf(error));
}

async function ask({ target, method, fields, body, signal }: Outgoing, lease: Lease): Promise<Incoming> {
  const response = await lease.client.request({
    path: target.path,
    method: method as 'GET', // undici's type lists methods; any token is sent (it checks the token)
    headers: [...fields],
    body: body === null ? null : (body as Readable), // any async iterable is taken, the type says less
    signal,
    responseHeaders: 'raw',
  });
  const raw = response.headers as unknown as Fields; // a flat list, as asked for by `raw`
  if (raw.length / 2 > MAX_FIELD_LINES) {
    response.body.on('error', () => {}).destroy();
    const detail = `${target.origin} answered with ${raw.length / 2} fields; more than ${MAX_FIELD_LINES} are not taken.`;
    throw new RefusalError(refuse('origin-unreachable', detail, { proxyError: 'http_protocol_error' }));
  }
  return { status: response.statusCode, fields: raw, stream: response.body, release: lease.release };
}
