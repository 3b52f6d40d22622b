import { fieldValue } from '../http/fields.ts';
import type { Entry } from '../kernel/entry.ts';
import type { Fields } from '../kernel/fields.ts';
import type { ReceiptId, Url } from '../kernel/ids.ts';
import type { ExchangeReceipt, Trail } from '../kernel/receipt.ts';
import type { Outcome, Refusal } from '../kernel/refusal.ts';
import { type EpochMs, type Ms, between } from '../kernel/units.ts';
import { EGRESS_DENIALS, type FetchOutcome, type Purpose } from '../kernel/outcome.ts';
import type { FetchResult, StreamedResponse, WholeResponse } from '../ports.ts';
import { isStop } from '../policy/kills.ts';
import { doubtOf } from '../policy/registered.ts';
import type { AgentRule } from '../policy/rules.ts';
import type { CardTarget } from './attempt.ts';
import type { Caller } from './callers.ts';
import type { ExtendedExchange } from './extended-exchange.ts';
import type { ExtendedOutcome } from './extended-refresh.ts';
import { withoutQuery } from './forward-fields.ts';
import type { Refreshed } from './refresh.ts';

/** The fields that decide caching: kept in the receipt as received, since they explain everything that follows. */
const CACHING = ['cache-control', 'age', 'expires', 'date', 'etag', 'last-modified', 'vary', 'retry-after'] as const;
/** A field longer than this says nothing more about caching. */
const LONGEST_FIELD = 256;

interface Exchanged {
  readonly target: CardTarget;
  readonly id: ReceiptId;
  readonly conditional: boolean;
  readonly requestedAt: EpochMs;
  readonly result: FetchResult<WholeResponse>;
}

/** Writes down one exchange for a card and the verdict it led to. */
export function exchangeReceipt(exchange: Exchanged, refreshed: Refreshed, now: EpochMs): ExchangeReceipt {
  const { target, result } = exchange;
  // What came, whatever is served: a card that waits has its own digest and its own signatures.
  const admission = refreshed.reviewed?.admission ?? null;
  return {
    kind: 'exchange',
    id: exchange.id,
    at: now,
    purpose: 'card',
    agent: target.agent.name,
    variant: refreshed.ok ? refreshed.entry.variant : null,
    trail: result.trail,
    conditional: exchange.conditional,
    status: result.ok ? result.response.status : null,
    caching: result.ok ? cachingFields(result.response.fields) : {},
    digest: admission?.digest ?? null,
    version: admission?.facts.version ?? null,
    protocolVersion: admission?.facts.protocolVersion ?? null,
    interfaceUrl: admission?.facts.interfaceUrl ?? null,
    verdict: admission?.verdict ?? null,
    review: admission?.review ?? null,
    changes: refreshed.reviewed?.changes ?? [],
    warnings: [...(admission?.warnings ?? []), doubtOf(target.agent) ?? []].flat(),
    outcome: refreshed.outcome,
    code: refreshed.ok ? null : refreshed.refusal.code,
    why: refreshed.reviewed?.why ?? (refreshed.ok ? null : refreshed.refusal.detail),
    policy: admission?.policy ?? target.agent.policy,
    took: between(exchange.requestedAt, now),
  };
}

/** Tells an exchange that policy refused from one that broke on the way. */
export const deniedOrFailed = ({ refusal }: { readonly refusal: Refusal }): 'denied' | 'failed' =>
  EGRESS_DENIALS.includes(refusal.code) ? 'denied' : 'failed';

/** The same for a card, whose redirect may have led to what is stopped. */
export const unansweredBy = (refusal: Refusal): 'denied' | 'failed' | 'superseded' =>
  isStop(refusal.code) ? 'superseded' : deniedOrFailed({ refusal });

/** What is known of one exchange that streamed through. */
export interface StreamedExchange {
  readonly id: ReceiptId;
  readonly requestedAt: EpochMs;
  readonly conditional: boolean;
  readonly result: FetchResult<StreamedResponse>;
}

/** Writes down one exchange of an origin with `content: any`, when the head of its answer is there. */
export function streamReceipt(exchange: StreamedExchange, outcome: FetchOutcome, now: EpochMs): ExchangeReceipt {
  const { result } = exchange;
  const refusal = result.ok ? null : result.refusal;
  return {
    kind: 'exchange',
    id: exchange.id,
    at: now,
    purpose: 'any',
    agent: null,
    variant: null,
    trail: result.trail,
    conditional: exchange.conditional,
    status: result.ok ? result.response.status : null,
    caching: result.ok ? cachingFields(result.response.fields) : {},
    ...NO_CARD,
    outcome,
    code: refusal?.code ?? null,
    why: refusal?.detail ?? null,
    policy: null,
    took: between(exchange.requestedAt, now),
  };
}

/** A call that was sent on, and the card that said where to. */
export interface ForwardedExchange {
  readonly id: ReceiptId;
  readonly agent: AgentRule;
  readonly entry: Entry;
  readonly to: Url;
  readonly requestedAt: EpochMs;
}

/** What came of it: on the network, and by rule. */
export interface ForwardedEnd {
  readonly result: FetchResult<StreamedResponse>;
  readonly response: Outcome<StreamedResponse>;
}

/** Writes down one call that was sent on, when the head of its answer is there. Queries and what follows in bodies are the caller's. */
export function forwardReceipt(
  { id, agent, entry, to, requestedAt }: ForwardedExchange,
  { result, response }: ForwardedEnd,
  now: EpochMs,
): ExchangeReceipt {
  const refusal = response.ok ? null : response.refusal;
  const admission = entry.admission;
  return {
    kind: 'exchange',
    id,
    at: now,
    purpose: 'forward',
    agent: agent.name,
    variant: null,
    trail: withoutQueries(result.trail),
    conditional: false,
    status: result.ok ? result.response.status : null,
    caching: {},
    ...NO_CARD,
    digest: admission?.digest ?? null,
    interfaceUrl: to,
    outcome: refusal === null ? 'uncacheable' : result.ok ? 'rejected' : deniedOrFailed({ refusal }),
    code: refusal?.code ?? null,
    why: refusal?.detail ?? null,
    policy: admission?.policy ?? agent.policy,
    took: between(requestedAt, now),
  };
}

/** What a caller asks for may hold what nobody else may read. */
const withoutQueries = (trail: Trail): Trail => ({
  ...trail,
  requestedUrl: withoutQuery(trail.requestedUrl),
  finalUrl: withoutQuery(trail.finalUrl),
});

/** What is known of an exchange that was for no card. */
export interface OtherExchange {
  readonly id: ReceiptId;
  readonly purpose: Purpose;
  readonly at: EpochMs;
  readonly result: FetchResult<WholeResponse>;
  readonly outcome: FetchOutcome;
  readonly refusal: Refusal | null;
  readonly took: Ms;
}

/** Writes down one exchange for a token or for keys: nothing of what was asked or answered. */
export const otherReceipt = ({ id, purpose, at, result, outcome, refusal, took }: OtherExchange): ExchangeReceipt => ({
  kind: 'exchange',
  id,
  at,
  purpose,
  agent: null,
  variant: null,
  trail: result.trail,
  conditional: false,
  status: result.ok ? result.response.status : null,
  caching: {},
  ...NO_CARD,
  outcome,
  code: refusal?.code ?? null,
  why: refusal?.detail ?? null,
  policy: null,
  took,
});

/** One exchange for an extended card, and for whom. */
export interface ExtendedNote {
  readonly exchange: ExtendedExchange;
  readonly outcome: ExtendedOutcome;
  readonly agent: AgentRule;
  readonly caller: Pick<Caller, 'principalHash' | 'tenantHash'>;
}

/** Writes down one exchange for an extended card: who asked stands there by its hashes, and of the card its digest. */
export function extendedReceipt({ exchange, outcome, agent, caller }: ExtendedNote): ExchangeReceipt {
  const { result, used } = exchange;
  // What came, whatever is served.
  const admission = outcome.reviewed?.admission ?? null;
  return {
    kind: 'exchange',
    id: exchange.id,
    at: exchange.receivedAt,
    purpose: 'card',
    agent: agent.name,
    caller: { principal: caller.principalHash, tenant: caller.tenantHash },
    variant: null,
    trail: result.trail,
    conditional: false,
    status: result.ok ? result.response.status : null,
    caching: result.ok ? cachingFields(result.response.fields) : {},
    digest: admission?.digest ?? null,
    version: admission?.facts.version ?? null,
    protocolVersion: admission?.facts.protocolVersion ?? null,
    interfaceUrl: used.url,
    verdict: admission?.verdict ?? null,
    review: admission?.review ?? null,
    changes: outcome.reviewed?.changes ?? [],
    warnings: admission?.warnings ?? [],
    outcome: outcome.ok || result.ok ? outcome.outcome : deniedOrFailed(result),
    code: outcome.ok ? null : outcome.refusal.code,
    why: outcome.reviewed?.why ?? (outcome.ok ? null : outcome.refusal.detail),
    policy: admission?.policy ?? agent.policy,
    took: between(exchange.requestedAt, exchange.receivedAt),
  };
}

const NO_CARD = {
  digest: null,
  version: null,
  protocolVersion: null,
  interfaceUrl: null,
  verdict: null,
  review: null,
  changes: [],
  warnings: [],
} as const;

function cachingFields(fields: Fields): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of CACHING) {
    const value = fieldValue(fields, name);
    if (value !== undefined) found[name] = value.slice(0, LONGEST_FIELD);
  }
  return found;
}
