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

/** The members of an RFC 9457 problem, in the contract's order. */
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
  const { code, receipt } = refusal;
  return { kind, agent, code, result: resultOf(code), ...(receipt === undefined ? {} : { receipt }) };
}

function resultOf(code: FaultCode): RequestResult {
  if (code === 'killed') return 'killed';
  const { status } = fault(code);
  return status >= 500 && status !== 508 ? 'error' : 'denied';
}

/** The fields that a refusal has besides its body's: never stored, and what HTTP asks for with its status. */
export function refusalFields(refusal: Refusal): readonly string[] {
  const status = statusOf(refusal);
  const fields = ['Cache-Control', 'no-store'];
  const origin = proxyStatus(refusal, fault(refusal.code));
  if (origin !== undefined) fields.push('Proxy-Status', origin);
  if (refusal.retryAfter !== undefined) fields.push('Retry-After', String(refusal.retryAfter));
  if (refusal.allow !== undefined) fields.push('Allow', refusal.allow.join(', '));
  if (status === 401) fields.push('WWW-Authenticate', refusal.challenge ?? 'Bearer');
  if (status === 407) fields.push('Proxy-Authenticate', refusal.challenge ?? 'Bearer');
  return fields;
}

/** RFC 9209: why the origin could not be had, where one was involved. */
function proxyStatus(refusal: Refusal, { proxyError }: Fault): string | undefined {
  const error = refusal.proxyError ?? proxyError;
  if (error === undefined) return undefined;
  const received = refusal.receivedStatus === undefined ? '' : `; received-status=${refusal.receivedStatus}`;
  return `cardea; error=${error}${received}`;
}
