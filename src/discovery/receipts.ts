import { fieldValue } from '../http/fields.ts';
import type { Fields } from '../kernel/fields.ts';
import type { ReceiptId } from '../kernel/ids.ts';
import type { ExchangeReceipt } from '../kernel/receipt.ts';
import { type EpochMs, between } from '../kernel/units.ts';
import type { FetchResult, WholeResponse } from '../ports.ts';
import type { CardTarget, Refreshed } from './refresh.ts';

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
  const admission = refreshed.ok ? refreshed.entry.admission : null;
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
    warnings: admission?.warnings ?? [],
    outcome: refreshed.outcome,
    code: refreshed.ok ? null : refreshed.refusal.code,
    why: refreshed.ok ? null : refreshed.refusal.detail,
    policy: target.agent.policy,
    took: between(exchange.requestedAt, now),
  };
}

function cachingFields(fields: Fields): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of CACHING) {
    const value = fieldValue(fields, name);
    if (value !== undefined) found[name] = value.slice(0, LONGEST_FIELD);
  }
  return found;
}
