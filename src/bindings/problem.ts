import type { Answer } from '../kernel/answer.ts';
import { type Fault, type FaultCode, fault } from '../kernel/faults.ts';
import type { AgentName } from '../kernel/ids.ts';
import type { RequestKind, RequestResult } from '../kernel/outcome.ts';
import type { Refusal } from '../kernel/refusal.ts';

/** For whom a refusal is counted. */
export interface RefusedTrace {
  readonly kind: RequestKind;
  readonly agent: AgentName | null;
}

/** The members of an RFC 9457 problem, in the order in which they are written. */
export interface Problem {
  readonly type: string;
  readonly code: FaultCode;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly agent?: AgentName;
  readonly receipt?: string;
}

/** Says a refusal as RFC 9457 members. */
export function problemOf(refusal: Refusal): Problem {
  const { code, detail, agent, receipt } = refusal;
  const { title } = fault(code);
  return {
    type: `/problems/${code}`,
    code,
    status: statusOf(refusal),
    title,
    detail,
    ...(agent === undefined ? {} : { agent }),
    ...(receipt === undefined ? {} : { receipt }),
  };
}

/** Answers with a refusal as `application/problem+json`. */
export function problemAnswer(refusal: Refusal, trace: RefusedTrace): Answer {
  const fields = ['Content-Type', 'application/problem+json', ...refusalFields(refusal)];
  const body = new TextEncoder().encode(`${JSON.stringify(problemOf(refusal))}\n`);
  return { status: statusOf(refusal), fields, body, trace: refusalTrace(refusal, trace) };
}

export const statusOf = (refusal: Refusal): number => refusal.status ?? fault(refusal.code).status;

/** What is counted and logged of a refusal. */
export function refusalTrace(refusal: Refusal, { kind, agent }: RefusedTrace): Answer['trace'] {
  const { code, receipt, kill } = refusal;
  return {
    kind,
    agent,
    code,
    result: resultOf(code),
    ...(receipt === undefined ? {} : { receipt }),
    ...(kill === undefined ? {} : { kill }),
  };
}

/** Refusals by rule with a status that elsewhere means that something failed. */
const DENIED: ReadonlySet<FaultCode> = new Set([
  'change-held',
  'first-use-held',
  'loop-detected',
  'overloaded',
  'address-forbidden',
  'redirect-refused',
]);

function resultOf(code: FaultCode): RequestResult {
  if (code === 'killed') return 'killed';
  return fault(code).status < 500 || DENIED.has(code) ? 'denied' : 'error';
}

/** The fields that a refusal has besides its body's: never stored, and what HTTP asks for with its status. */
export function refusalFields(refusal: Refusal): readonly string[] {
  const status = statusOf(refusal);
  const fields = ['Cache-Control', 'no-store'];
  const origin = proxyStatus(refusal, fault(refusal.code));
  if (origin !== undefined) fields.push('Proxy-Status', origin);
  const retryAfter = refusal.retryAfter ?? RETRY_AFTER.get(refusal.code);
  if (retryAfter !== undefined) fields.push('Retry-After', String(retryAfter));
  if (refusal.allow !== undefined) fields.push('Allow', refusal.allow.join(', '));
  // "A server … MAY include it in other response messages" — RFC 9110 §11.6.1: a 403 says so what scope was wanting.
  if (status === 401 || (status === 403 && refusal.challenge !== undefined))
    fields.push('WWW-Authenticate', refusal.challenge ?? challengeFor(refusal.code));
  if (status === 407) fields.push('Proxy-Authenticate', refusal.challenge ?? challengeFor(refusal.code));
  return fields;
}

/** Refusals that always say when to come back, in seconds: a switch waits for a person, a limit for other requests. */
const RETRY_AFTER: ReadonlyMap<FaultCode, number> = new Map([
  ['killed', 60],
  ['overloaded', 1],
  ['rate-limited', 1],
]);

/** "If the request lacks any authentication information … SHOULD NOT include an error code" — RFC 6750 §3.1. */
const challengeFor = (code: FaultCode): string =>
  code.startsWith('token-') ? 'Bearer error="invalid_token"' : 'Bearer';

/** RFC 9209: why the origin could not be had, where one was involved. */
function proxyStatus(refusal: Refusal, { proxyError }: Fault): string | undefined {
  const error = refusal.proxyError ?? proxyError;
  if (error === undefined) return undefined;
  const received = refusal.receivedStatus === undefined ? '' : `; received-status=${refusal.receivedStatus}`;
  return `cardea; error=${error}${received}`;
}
