import {
  type ExtendedReading,
  originChallenge,
  readHttpJsonError,
  readRpcAnswer,
} from '../bindings/extended-answer.ts';
import { extendedRequest } from '../bindings/extended-card.ts';
import { parseCard } from '../card/parse.ts';
import type { CarriedInterface } from '../card/pick-interface.ts';
import { declaresChallenge } from '../card/security.ts';
import { fieldValue } from '../http/fields.ts';
import type { FaultCode } from '../kernel/faults.ts';
import type { Fields } from '../kernel/fields.ts';
import type { ReceiptId, Tag } from '../kernel/ids.ts';
import { type Refusal, refuse } from '../kernel/refusal.ts';
import { type EpochMs, type Ms, bytes, ms } from '../kernel/units.ts';
import { type Stopped, refusedBy } from '../policy/kills.ts';
import type { AgentRule, Limits, Rules } from '../policy/rules.ts';
import type { Clock, FetchOrder, FetchResult, Fetcher, Ledger, WholeResponse } from '../ports.ts';
import { notSent } from './exchange-bounds.ts';
import { interfaceEgress, OF_ONE_INTERFACE } from './interface-egress.ts';
import { callTags } from './key.ts';
import type { PublicCard } from './public-card.ts';
import type { Stops } from './stops.ts';

/** One exchange for an extended card: what was sent where, and what came of it. */
export interface ExtendedExchange {
  readonly id: ReceiptId;
  readonly used: CarriedInterface;
  readonly requestedAt: EpochMs;
  readonly receivedAt: EpochMs;
  readonly result: FetchResult<WholeResponse>;
  readonly answer:
    | {
        readonly is: 'card';
        readonly body: Uint8Array;
        readonly contentType: string | undefined;
        readonly fields: Fields;
      }
    | { readonly is: 'refused'; readonly refusal: Refusal; readonly status: number | null };
}

export interface ExchangeOrder {
  readonly agent: AgentRule;
  readonly card: PublicCard;
  readonly interfaces: readonly CarriedInterface[];
  readonly authorization: string | null;
  readonly extensions: string;
  /** When all of it has to be over. */
  readonly deadline: EpochMs;
  /** What a kill can name of the public card that the interfaces stand in, and of the caller. */
  readonly about: readonly Tag[];
}

export interface ExchangeDoors {
  readonly clock: Clock;
  readonly fetcher: Fetcher;
  readonly ledger: Ledger;
  readonly kills: Stopped;
  readonly stops: Stops;
  readonly rules: () => Rules;
}

/** Before none of these an answer came; a redirect is none either, and asking for a card twice does no harm. */
const TRY_NEXT: ReadonlySet<FaultCode> = new Set([...OF_ONE_INTERFACE, 'redirect-refused']);

/** A card in its envelope. */
const ENVELOPE = 1_024;

/** Asks by one interface after the other, under one deadline, until one answers. */
export async function exchangeExtended(
  doors: ExchangeDoors,
  order: ExchangeOrder,
  told: (exchange: ExtendedExchange) => void,
): Promise<ExtendedExchange> {
  const [first, ...others] = order.interfaces;
  if (first === undefined) throw new Error('no interface was picked');
  let last = await exchangeOver(doors, order, first);
  for (const next of others) {
    if (last.result.ok || !TRY_NEXT.has(last.result.refusal.code) || doors.clock.now() >= order.deadline) break;
    told(last);
    last = await exchangeOver(doors, order, next);
  }
  return last;
}

async function exchangeOver(
  doors: ExchangeDoors,
  order: ExchangeOrder,
  used: CarriedInterface,
): Promise<ExtendedExchange> {
  const { clock, ledger } = doors;
  const id = ledger.issue();
  const requestedAt = clock.now();
  const result = await send(doors, order, used, ms(Math.max(1, order.deadline - requestedAt)));
  const answer = result.ok
    ? readAnswer(order, used, result.response)
    : ({ is: 'refused', refusal: result.refusal, status: null } as const);
  return { id, used, requestedAt, receivedAt: clock.now(), result, answer };
}

/** What is stopped is not asked, and what is stopped meanwhile ends at once: a credential is on its way there. */
async function send(
  doors: ExchangeDoors,
  order: ExchangeOrder,
  used: CarriedInterface,
  total: Ms,
): Promise<FetchResult<WholeResponse>> {
  const { agent, about } = order;
  const tags = callTags(agent, used.url, about);
  const stopped = (): Refusal | undefined => refusedBy(doors.kills.active(), tags, agent.name);
  const request = extendedRequest(used, { extensions: order.extensions });
  const rule = interfaceEgress(agent, used.url, doors.rules());
  const unsent = (refusal: Refusal): FetchResult<WholeResponse> => ({
    ok: false,
    refusal,
    trail: notSent(request.url),
    sent: false,
  });
  const before = stopped();
  if (before !== undefined) return unsent(before);
  if (!rule.ok) return unsent(rule.refusal);
  const watched = doors.stops.watch(tags);
  const result = await doors.fetcher.fetch(
    orderFor(doors, order, request, { rule: rule.value, total, signal: watched.signal }),
  );
  watched.forget();
  const killed = result.ok ? undefined : stopped();
  return result.ok || killed === undefined ? result : { ...result, refusal: killed };
}

function orderFor(
  { rules }: ExchangeDoors,
  { agent, authorization }: ExchangeOrder,
  request: ReturnType<typeof extendedRequest>,
  { rule, total, signal }: Pick<FetchOrder, 'rule' | 'signal'> & { readonly total: Ms },
): FetchOrder {
  return {
    purpose: 'card',
    agent: agent.name,
    url: request.url,
    method: request.method,
    fields: authorization === null ? request.fields : [...request.fields, 'Authorization', authorization],
    body: request.body === null ? null : streamOf(request.body),
    rule,
    // No redirect is followed: a credential is for this interface alone.
    limits: { ...limitsOf(rules().limits), total },
    signal,
  };
}

const limitsOf = ({ connect, response, cardBytes }: Limits) => ({
  connect,
  idle: response,
  bytes: bytes(cardBytes + ENVELOPE),
  redirects: 0,
});

async function* streamOf(body: Uint8Array): AsyncGenerator<Uint8Array> {
  yield body;
}

function readAnswer(order: ExchangeOrder, used: CarriedInterface, response: WholeResponse): ExtendedExchange['answer'] {
  const { status, fields, body } = response;
  if (status === 401 || status === 403) return { is: 'refused', refusal: challenged(order, response, status), status };
  if (used.binding === 'HTTP+JSON' && status === 200)
    return { is: 'card', body, contentType: fieldValue(fields, 'content-type'), fields };
  return concluded(order, response, readBinding(order, used, response));
}

/** A challenge that the card did not declare is no answer of this agent: handed on, it would fish for other credentials. */
function challenged({ card, agent }: ExchangeOrder, { fields }: WholeResponse, status: 401 | 403): Refusal {
  const challenge = fieldValue(fields, 'www-authenticate');
  if (challenge === undefined || declaresChallenge(card.security, challenge)) return originChallenge(status, challenge);
  const detail = `The agent ${agent.name} answered ${status} and asks for credentials of a scheme that its card does not declare.`;
  return refuse('origin-status', detail, { receivedStatus: status });
}

function readBinding(
  { agent }: ExchangeOrder,
  { binding }: CarriedInterface,
  response: WholeResponse,
): ExtendedReading {
  const { maxBytes, maxDepth } = agent.card;
  const parsed = parseCard(response.body, { maxBytes: bytes(maxBytes + ENVELOPE), maxDepth: maxDepth + 1 });
  if (binding === 'HTTP+JSON') return readHttpJsonError(response.status, parsed.ok ? parsed.value : undefined);
  if (!parsed.ok) return { is: 'nonsense', what: `the answer (${response.status}) is no JSON-RPC response` };
  return readRpcAnswer(parsed.value);
}

function concluded(
  order: ExchangeOrder,
  response: WholeResponse,
  reading: ExtendedReading,
): ExtendedExchange['answer'] {
  const { status, fields } = response;
  switch (reading.is) {
    case 'card':
      return {
        is: 'card',
        body: new TextEncoder().encode(JSON.stringify(reading.card)),
        contentType: 'application/json',
        fields,
      };
    case 'refused':
      return { is: 'refused', refusal: reading.refusal, status };
    case 'nonsense': {
      const detail = `The extended card of ${order.agent.name} cannot be had: ${reading.what}.`;
      return { is: 'refused', refusal: refuse('origin-status', detail, { receivedStatus: status }), status };
    }
  }
}
