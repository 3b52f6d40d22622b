import type { CarriedInterface } from '../card/pick-interface.ts';
import { fieldValue } from '../http/fields.ts';
import type { Answer } from '../kernel/answer.ts';
import type { Entry } from '../kernel/entry.ts';
import type { Direction, Passed } from '../kernel/event.ts';
import type { ReceiptId, Tag } from '../kernel/ids.ts';
import { type Outcome, type Refusal, accepted, refuse, refused } from '../kernel/refusal.ts';
import { type Bytes, type EpochMs, between, bytes, ms } from '../kernel/units.ts';
import { type Stopped, refusedBy } from '../policy/kills.ts';
import type { AgentRule, Rules } from '../policy/rules.ts';
import type { Clock, FetchOrder, FetchResult, Fetcher, Ledger, Observer, StreamedResponse } from '../ports.ts';
import { type Call, type ErrorForm, lastEvent } from './call.ts';
import { notSent } from './exchange-bounds.ts';
import { answerFields, callFields, callUrl, withoutQuery } from './forward-fields.ts';
import { interfaceEgress } from './interface-egress.ts';
import { callTags } from './key.ts';
import { countUpload, Passage } from './passage.ts';
import { forwardReceipt } from './receipts.ts';
import type { Stops, Watched } from './stops.ts';

export interface ForwardDoors {
  readonly clock: Clock;
  readonly fetcher: Fetcher;
  readonly ledger: Ledger;
  readonly observer: Observer;
  readonly kills: Stopped;
  readonly stops: Stops;
  readonly rules: () => Rules;
}

/** A call with all that goes with it, whichever interface carries it. */
export interface Attempt {
  readonly call: Call;
  readonly form: ErrorForm;
  readonly agent: AgentRule;
  /** The accepted card that it goes by. */
  readonly entry: Entry;
  readonly basePath: string;
  /** What a kill could name of whoever calls. */
  readonly callerTags: readonly Tag[];
}

/** How sending a call to one interface ended. */
export type Sent =
  | { readonly ok: true; readonly answer: Answer }
  | { readonly ok: false; readonly refusal: Refusal; readonly sent: boolean };

/** One attempt, once it is known where it goes and what ends it. */
interface Exchange {
  readonly attempt: Attempt;
  readonly to: CarriedInterface;
  readonly tags: readonly Tag[];
  readonly watched: Watched;
  /** Ends the exchange when its answer is let go. */
  readonly letGo: AbortController;
  readonly startedAt: EpochMs;
}

/** The same when its answer is there. */
interface Answered extends Exchange {
  readonly receipt: ReceiptId;
}

/** Sends a call to one interface and hands on what it answers, while it answers. Nothing is stored. */
export async function sendCall(doors: ForwardDoors, attempt: Attempt, to: CarriedInterface): Promise<Sent> {
  const exchange = begin(doors, attempt, to);
  const stopped = killedBy(doors, exchange);
  if (stopped !== undefined) return failed(exchange, stopped, 'unsent');
  const id = doors.ledger.issue();
  const result = await open(doors, exchange);
  const response = result.ok ? judgeAnswer(result.response) : refused(killedBy(doors, exchange) ?? result.refusal);
  doors.ledger.record(
    forwardReceipt(
      { id, agent: attempt.agent, entry: attempt.entry, to: withoutQuery(to.url), requestedAt: exchange.startedAt },
      { result, response },
      doors.clock.now(),
    ),
  );
  if (response.ok) return { ok: true, answer: answerOf(doors, { ...exchange, receipt: id }, response.value) };
  return failed(exchange, { ...response.refusal, receipt: id }, result.ok || result.sent ? 'sent' : 'unsent');
}

function begin(doors: ForwardDoors, attempt: Attempt, to: CarriedInterface): Exchange {
  const { agent, entry, callerTags } = attempt;
  const tags = callTags(agent, to.url, [...entry.tags, ...callerTags]);
  const watched = doors.stops.watch(tags);
  return { attempt, to, tags, watched, letGo: new AbortController(), startedAt: doors.clock.now() };
}

function failed(exchange: Exchange, refusal: Refusal, state: 'sent' | 'unsent'): Sent {
  end(exchange);
  return { ok: false, refusal, sent: state === 'sent' };
}

/** Frees what stands behind an exchange; the connection breaks where it is not over yet. */
function end({ watched, letGo }: Exchange): void {
  watched.forget();
  letGo.abort(new Error('the answer is not wanted any more'));
}

const killedBy = ({ kills }: ForwardDoors, { tags, attempt }: Exchange): Refusal | undefined =>
  refusedBy(kills.active(), tags, attempt.agent.name);

async function open(doors: ForwardDoors, exchange: Exchange): Promise<FetchResult<StreamedResponse>> {
  const { attempt, to } = exchange;
  const { call, agent } = attempt;
  const url = callUrl(to.url, call.below, call.ask.target);
  const permitted = interfaceEgress(agent, to.url, doors.rules());
  if (permitted.ok) return doors.fetcher.open(orderFor(doors, exchange, { url, rule: permitted.value }));
  return { ok: false, refusal: permitted.refusal, trail: notSent(url), sent: false };
}

function orderFor(doors: ForwardDoors, exchange: Exchange, way: Pick<FetchOrder, 'url' | 'rule'>): FetchOrder {
  const { attempt, watched, letGo } = exchange;
  const { call, agent } = attempt;
  const { connect, streamIdle } = doors.rules().limits;
  const body = call.body();
  return {
    purpose: 'forward',
    agent: agent.name,
    ...way,
    method: call.ask.method,
    fields: callFields(call.ask.fields),
    body: body === null ? null : countUpload(body, (count) => tellBytes(doors, agent, 'request', count)),
    limits: { connect, total: ms(0), idle: streamIdle, bytes: bytes(0), redirects: 0 },
    ...(call.ask.interim === undefined ? {} : { interim: call.ask.interim }),
    signal: AbortSignal.any([watched.signal, letGo.signal, call.ask.signal()]),
  };
}

/** A redirect would lead the caller, and its token, around Cardea. */
function judgeAnswer(response: StreamedResponse): Outcome<StreamedResponse> {
  const { status } = response;
  if (status < 300 || status > 399 || status === 304) return accepted(response);
  const detail = `The agent's interface answered ${status}, a redirect; its card must name the URL that calls are to go to.`;
  return refused(refuse('redirect-refused', detail, { receivedStatus: status }));
}

function answerOf(doors: ForwardDoors, exchange: Answered, response: StreamedResponse): Answer {
  const { attempt, to, tags, startedAt, receipt } = exchange;
  const { agent, basePath, form } = attempt;
  const tell = (what: Passed): void => doors.observer.record({ kind: 'forward', agent: agent.name, what });
  tell({ is: 'opened', firstByte: between(startedAt, doors.clock.now()) });
  const speaks = isEventStream(response);
  const body = new Passage({
    body: response.body,
    moved: (count) => tellBytes(doors, agent, 'response', count),
    over: () => {
      end(exchange);
      tell({ is: 'closed' });
    },
    lastWords: () => {
      const refusal = speaks ? killedBy(doors, exchange) : undefined;
      return refusal && lastEvent(form, refusal, agent.name);
    },
  });
  const fields = answerFields(response.fields, response.status, { used: withoutQuery(to.url), basePath });
  const trace = { kind: 'forwarded', result: 'forwarded', agent: agent.name, receipt } as const;
  return { status: response.status, fields, body, trace, tags, lastWords: speaks };
}

const isEventStream = ({ fields }: StreamedResponse): boolean =>
  /^text\/event-stream\b/i.test(fieldValue(fields, 'content-type') ?? '') &&
  fieldValue(fields, 'content-encoding') === undefined;

const tellBytes = (doors: ForwardDoors, agent: AgentRule, direction: Direction, count: Bytes): void =>
  doors.observer.record({ kind: 'forward', agent: agent.name, what: { is: 'bytes', direction, bytes: count } });
