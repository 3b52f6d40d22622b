import type { Verdict } from '../kernel/entry.ts';
import type { Event } from '../kernel/event.ts';
import { type FaultCode, fault } from '../kernel/faults.ts';
import type { ExchangeReceipt, Receipt, VerdictReceipt } from '../kernel/receipt.ts';
import { areSafe, safeText, safeUrl } from './safe-text.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

type Member = string | number | boolean | null | undefined | readonly string[];
type Members = Readonly<Record<string, Member>>;

/** One canonical line: all that is said of one event. `docs/logs.md` lists the members; undefined ones are left out. */
export interface LogLine {
  readonly level: LogLevel;
  readonly msg: string;
  readonly members: Members;
}

/** Events that are worth a line; what passes through is counted alone. */
export type LoggedEvent = Exclude<Event, { readonly kind: 'forward' | 'lookup' }>;

/** Makes an event's line. No header, no body, no credential; whatever others wrote is made safe to show. */
export function logLine(event: LoggedEvent): LogLine {
  const line = rawLine(event);
  const { level, msg, members } = line;
  if (areSafe(textsOf(line))) return line;
  return { level, msg: safeText(msg), members: safeMembers(members) };
}

function rawLine(event: LoggedEvent): LogLine {
  switch (event.kind) {
    case 'request':
      return requestLine(event);
    case 'receipt':
      return receiptLine(event.receipt);
    case 'receipts-lost':
      return { level: 'error', msg: 'receipts lost', members: { count: event.count } };
    case 'evicted': {
      const { reason, count, bytes } = event;
      return { level: 'debug', msg: 'evicted', members: { reason, count, bytes } };
    }
    case 'notice':
      return { level: event.level, msg: event.msg, members: event.about ?? {} };
  }
}

const levelOf = (code: FaultCode | null | undefined): LogLevel => (code == null ? 'info' : fault(code).level);

function requestLine({ listener, method, status, trace, took }: Extract<Event, { kind: 'request' }>): LogLine {
  const { kind, result, agent, code, cache, receipt } = trace;
  const members = { listener, method, status, kind, result, agent, code, cache, receipt, ms: took };
  return { level: levelOf(code), msg: 'request', members };
}

function receiptLine(receipt: Receipt): LogLine {
  const msg = receipt.kind;
  switch (receipt.kind) {
    case 'exchange':
      return { level: levelOf(receipt.code), msg, members: exchangeMembers(receipt) };
    case 'verdict':
      return { level: levelOf(receipt.code), msg, members: verdictMembers(receipt) };
    // Whatever changes a running daemon is worth a line that nobody filters out.
    case 'review':
    case 'switch':
    case 'change': {
      const { kind: _, id, at: __, ...members } = receipt;
      return { level: 'warn', msg, members: { receipt: id, ...members } };
    }
    case 'registry': {
      const { kind: _, id, at: __, url, ...members } = receipt;
      const level = receipt.action === 'allow' && receipt.code === null ? 'info' : 'warn';
      return { level, msg, members: { receipt: id, ...members, url: url === null ? null : safeUrl(url) } };
    }
    // Each refusal has its request's line; this one adds them up.
    case 'refusal': {
      const { kind: _, id, at: __, ...members } = receipt;
      return { level: 'debug', msg, members: { receipt: id, ...members } };
    }
  }
}

function exchangeMembers(receipt: ExchangeReceipt): Members {
  const { trail, caching, verdict, warnings, interfaceUrl } = receipt;
  return {
    receipt: receipt.id,
    agent: receipt.agent,
    purpose: receipt.purpose,
    url: safeUrl(trail.requestedUrl),
    finalUrl: trail.finalUrl === trail.requestedUrl ? undefined : safeUrl(trail.finalUrl),
    redirects: trail.redirects.length === 0 ? undefined : trail.redirects.map(safeUrl),
    addresses: trail.addresses,
    reused: trail.reused,
    conditional: receipt.conditional,
    status: receipt.status,
    caching: Object.entries(caching).map(([name, value]) => `${name}: ${value}`),
    outcome: receipt.outcome,
    code: receipt.code,
    why: receipt.why,
    digest: receipt.digest,
    version: receipt.version,
    protocolVersion: receipt.protocolVersion,
    interface: interfaceUrl === null ? undefined : safeUrl(interfaceUrl),
    ...signatureMembers(verdict),
    review: receipt.review,
    changes: receipt.changes.length === 0 ? undefined : receipt.changes,
    warnings: warnings.length === 0 ? undefined : warnings,
    policy: receipt.policy,
    ms: receipt.took,
  };
}

function verdictMembers(receipt: VerdictReceipt): Members {
  const { id, agent, digest, verdict, review, outcome, code, why, policy } = receipt;
  return { receipt: id, agent, outcome, code, why, digest, ...signatureMembers(verdict), review, policy };
}

/** What was found about the signatures, by `Card-Status`'s names. */
function signatureMembers(verdict: Verdict | null): Members {
  return { signature: verdict?.signature ?? null, kid: verdict?.kid, keys: verdict?.keys, form: verdict?.form };
}

/** Lists are as long as what others sent: a line is not. */
const MOST_LISTED = 32;
/** Stands for a list that must be cut: no text that `areSafe` takes. */
const TOO_LONG = '\0';

function textsOf({ msg, members }: LogLine): readonly string[] {
  const texts = [msg];
  for (const value of Object.values(members)) {
    if (typeof value === 'string') texts.push(value);
    else if (typeof value === 'object' && value !== null)
      texts.push(...(value.length > MOST_LISTED ? [TOO_LONG] : value));
  }
  return texts;
}

function safeMembers(members: Members): Members {
  const safe: Record<string, Member> = {};
  for (const [name, value] of Object.entries(members)) safe[name] = safeMember(value);
  return safe;
}

function safeMember(value: Member): Member {
  if (typeof value === 'string') return safeText(value);
  if (typeof value !== 'object' || value === null) return value;
  const shown = value.slice(0, MOST_LISTED).map((each) => safeText(each));
  return value.length > MOST_LISTED ? [...shown, `… ${value.length - MOST_LISTED} more`] : shown;
}
