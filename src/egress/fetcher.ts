import type { Readable } from 'node:stream';
import { endToEnd } from '../kernel/end-to-end.ts';
import type { ByteStream } from '../kernel/fields.ts';
import type { Url } from '../kernel/ids.ts';
import { type Refusal, RefusalError } from '../kernel/refusal.ts';
import type { Clock, FetchOrder, FetchResult, Fetcher, StreamedResponse, WholeResponse } from '../ports.ts';
import type { ArrivingBody } from './arriving.ts';
import { readBody } from './body.ts';
import type { Sharing } from './connection-key.ts';
import { createConnections } from './connections.ts';
import { createConnector } from './connector.ts';
import { type Incoming, type SendRequest, STREAMED, WHOLE, createExchange } from './exchange.ts';
import { exchangeFailure } from './failures.ts';
import { type Gate, createGate } from './gate.ts';
import { decideHop } from './hop.ts';
import { hopFields, requestFields, valuesOf, withoutCoding } from './message-fields.ts';
import type { Target } from '../kernel/origins.ts';
import type { BoundAddress } from './own-listeners.ts';
import { permitTarget } from './permit.ts';
import type { Resolver } from './resolve.ts';
import type { Sight } from './sight.ts';
import { watchedUpload, watchedDownload } from './streams.ts';
import { createTlsStore } from './tls-files.ts';
import { type TrailKeeper, keepTrail } from './trail.ts';
import { type Watch, startWatch } from './watch.ts';

/** What the Fetcher is built from. */
export interface FetcherParts {
  readonly clock: Clock;
  readonly resolver: Resolver;
  readonly limits: {
    /** Whole exchanges at one time (`limits.concurrency`). */
    readonly concurrency: number;
    /** Streamed exchanges at one time (`limits.forwardConcurrency`). */
    readonly forwardConcurrency: number;
  };
  /** Where this process listens; never dialled. */
  readonly ownAddresses: () => readonly BoundAddress[];
  /** Hears what is seen on the way to origins, where somebody wants to know. */
  readonly saw?: (sight: Sight) => void;
}

export interface ClosableFetcher extends Fetcher {
  /** Closes every connection; exchanges under way break. */
  close(): Promise<void>;
}

// A prefetch of every agent at start must fit; what waits longer than its own deadline is refused anyway.
const WHOLE_QUEUE = 1_024;
// No origin takes the last quarter: one that hangs for `limits.response` leaves the others their room.
const KEPT_FREE = 0.25;

/** Builds the one door to the network. */
export function createFetcher(parts: FetcherParts): ClosableFetcher {
  const { clock, ownAddresses, limits } = parts;
  const connections = createConnections(clock);
  const connector = createConnector(parts);
  const doors = { connections, connector, tlsStore: createTlsStore(), ownAddresses };
  const [send, stream] = [createExchange(doors, WHOLE), createExchange(doors, STREAMED)];
  const whole = createGate({
    width: () => limits.concurrency,
    each: () => limits.concurrency - Math.floor(limits.concurrency * KEPT_FREE),
    queue: () => WHOLE_QUEUE,
    setting: 'limits.concurrency',
  });
  const streamed = createGate({
    width: () => limits.forwardConcurrency,
    each: () => limits.forwardConcurrency,
    queue: () => limits.forwardConcurrency,
    setting: 'limits.forwardConcurrency',
  });
  return {
    fetch: (order) => guarded(order, { clock, gate: whole, run: (run) => fetchWhole(send, run) }),
    open: (order) => guarded(order, { clock, gate: streamed, run: (run) => openStream(stream, run) }),
    close: connections.close,
  };
}

/** One exchange under way. */
interface Run {
  readonly order: FetchOrder;
  readonly target: Target;
  readonly watch: Watch;
  readonly trail: TrailKeeper;
  /** Ends the watch and makes room for the next exchange; once. */
  readonly finish: () => void;
}

interface Conduct<Response> {
  readonly clock: Clock;
  readonly gate: Gate;
  /** Must call `finish` in the end, unless it throws. */
  readonly run: (run: Run) => Promise<Response>;
}

/** Permission first, then room, then the exchange; whatever goes wrong becomes a refusal, and the trail is there. */
async function guarded<Response>(order: FetchOrder, conduct: Conduct<Response>): Promise<FetchResult<Response>> {
  const trail = keepTrail(order.url);
  const no = (refusal: Refusal): FetchResult<Response> => ({
    ok: false,
    refusal,
    trail: trail.read(),
    sent: trail.sent(),
  });
  const permitted = permitTarget(order.url, order.rule);
  if (!permitted.ok) return no(permitted.refusal);
  const target = permitted.value;
  const watch = startWatch(conduct.clock, order.limits, order);
  let finish = watch.stop;
  try {
    const entry = await conduct.gate.enter(target.origin, watch.signal);
    if ('refusal' in entry) return no(entry.refusal);
    finish = () => {
      watch.stop();
      entry.leave();
    };
    const response = await conduct.run({ order, target, watch, trail, finish });
    return { ok: true, response, trail: trail.read() };
  } catch (error) {
    finish();
    return no(exchangeFailure(error, { target, rule: order.rule }, watch.signal));
  } finally {
    if (finish === watch.stop) watch.stop();
  }
}

const outgoing = ({ order, watch, trail }: Run, target: Target, sharing: Sharing) => ({
  target,
  sharing,
  rule: order.rule,
  method: order.method,
  connect: order.limits.connect,
  purpose: order.purpose,
  interim: order.interim,
  signal: watch.signal,
  trail,
});

/** Fetches a bounded answer, redirects followed as far as the rule and the limit allow. */
async function fetchWhole(send: SendRequest<ArrivingBody>, run: Run): Promise<WholeResponse> {
  const { order, watch } = run;
  const asked: Url[] = [];
  const body = order.body === null ? null : watchedUpload(order.body, watch);
  let fields = requestFields(order.fields, { codings: 'decode', hasBody: body !== null });
  let target = run.target;
  for (;;) {
    asked.push(target.url);
    const incoming = await send({ ...outgoing(run, target, 'origin'), fields, body });
    const response = await readWhole(incoming, run, target);
    const locations = valuesOf(response.fields, 'location');
    const { status } = response;
    const hop = decideHop({
      status,
      locations,
      from: target,
      asked,
      method: order.method,
      limit: order.limits.redirects,
      rule: order.rule,
    });
    if (hop.kind === 'deliver') {
      run.finish();
      return response;
    }
    if (hop.kind === 'refuse') throw new RefusalError(hop.refusal);
    const stopped = order.refuseHop?.(hop.target.url);
    if (stopped !== undefined) throw new RefusalError(stopped);
    run.trail.redirect(hop.target.url);
    fields = hopFields(fields, hop.sameOrigin);
    target = hop.target;
  }
}

async function readWhole(
  incoming: Incoming<ArrivingBody>,
  { order, watch }: Run,
  target: Target,
): Promise<WholeResponse> {
  const { status, fields, stream } = incoming;
  watch.body();
  try {
    const from = target.origin;
    const { bytes, complete } = await readBody({
      stream,
      fields,
      status,
      from,
      limit: order.limits.bytes,
      touch: watch.touch,
    });
    incoming.release(complete ? 'whole' : 'broken');
    return { status, fields: withoutCoding(endToEnd(fields)), body: bytes };
  } catch (error) {
    incoming.release('broken');
    throw error;
  }
}

/** Opens a stream both ways. Redirects are the caller's business: they pass through like any other status. */
async function openStream(send: SendRequest<Readable>, run: Run): Promise<StreamedResponse> {
  const { order, watch, target } = run;
  const body = order.body === null ? null : watchedUpload(order.body, watch);
  watch.body();
  const fields = requestFields(order.fields, { codings: 'pass', hasBody: body !== null });
  const incoming = await send({ ...outgoing(run, target, 'rule'), fields, body });
  watch.touch();
  return { status: incoming.status, fields: endToEnd(incoming.fields), body: downloadOf(incoming, run) };
}

function downloadOf(incoming: Incoming<Readable>, run: Run): ByteStream {
  const { order, target, watch } = run;
  const end = (outcome: 'whole' | 'broken'): void => {
    incoming.release(outcome);
    run.finish();
  };
  const explain = (error: unknown): Refusal => exchangeFailure(error, { target, rule: order.rule }, watch.signal);
  const empty = order.method === 'HEAD' || incoming.status === 204 || incoming.status === 304;
  return watchedDownload(incoming.stream, { watch, end, explain, empty });
}
