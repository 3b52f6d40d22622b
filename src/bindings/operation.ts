import type { Answer } from '../kernel/answer.ts';
import { fault } from '../kernel/faults.ts';
import type { Refusal } from '../kernel/refusal.ts';
import { type RefusedTrace, problemOf, refusalFields, refusalTrace, statusOf } from './problem.ts';

/** A JSON-RPC request id as it is echoed; null where none could be read (JSON-RPC 2.0 §5). */
export type RpcId = string | number | null;

/** Cardea's own errors under JSON-RPC: the implementation-defined server error. */
const SERVER_ERROR = -32000;

/** Refuses an HTTP+JSON operation: google.rpc.Status in `error`, the problem's members beside it (A2A 1.0 §11.6). */
export function refuseHttpJson(refusal: Refusal, trace: RefusedTrace): Answer {
  const status = statusOf(refusal);
  const { rpc } = fault(refusal.code);
  const error = { code: status, status: rpc, message: messageOf(refusal), details: [errorInfo(refusal)] };
  return json(status, { error, ...problemOf(refusal) }, refusal, trace);
}

/** Refuses a JSON-RPC operation: A2A's own errors on HTTP 200, all else as a server error on the table's status (A2A 1.0 §9.5). */
export function refuseJsonRpc(refusal: Refusal, id: RpcId, trace: RefusedTrace): Answer {
  const { a2a } = fault(refusal.code);
  const error = { code: a2a?.jsonRpc ?? SERVER_ERROR, message: messageOf(refusal), data: [errorInfo(refusal)] };
  return json(a2a === undefined ? statusOf(refusal) : 200, { jsonrpc: '2.0', id, error }, refusal, trace);
}

const messageOf = (refusal: Refusal): string => `${fault(refusal.code).title}: ${refusal.detail}`;

/** google.rpc.ErrorInfo: A2A's own reasons keep A2A's domain, Cardea's have Cardea's. */
function errorInfo(refusal: Refusal): object {
  const { a2a } = fault(refusal.code);
  const { type, detail, agent, receipt } = problemOf(refusal);
  return {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: a2a?.reason ?? refusal.code.toUpperCase().replaceAll('-', '_'),
    domain: a2a === undefined ? 'cardea' : 'a2a-protocol.org',
    metadata: {
      type,
      detail,
      ...(agent === undefined ? {} : { agent }),
      ...(receipt === undefined ? {} : { receipt }),
    },
  };
}

const json = (status: number, value: object, refusal: Refusal, trace: RefusedTrace): Answer => ({
  status,
  fields: ['Content-Type', 'application/json', ...refusalFields(refusal)],
  body: new TextEncoder().encode(`${JSON.stringify(value)}\n`),
  trace: refusalTrace(refusal, trace),
});
