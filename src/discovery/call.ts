import { readHttpJson } from '../bindings/http-json-path.ts';
import { refuseHttpJson, refuseJsonRpc, type RpcId } from '../bindings/operation.ts';
import { type OperationName, operationOf } from '../bindings/operations.ts';
import type { RefusedTrace } from '../bindings/problem.ts';
import { callerVersion } from '../bindings/version.ts';
import type { Binding } from '../card/pick-interface.ts';
import type { Answer } from '../kernel/answer.ts';
import type { Ask, CallerVersion } from '../kernel/ask.ts';
import type { ByteStream } from '../kernel/fields.ts';
import type { AgentName } from '../kernel/ids.ts';
import { type Outcome, type Refusal, accepted, refuse, refused } from '../kernel/refusal.ts';
import { type ReadHead, readRpc } from './call-body.ts';

/** One A2A operation that a caller asks of an agent, read as far as its way depends on it. */
export interface Call {
  readonly ask: Ask;
  readonly binding: Binding;
  readonly version: CallerVersion;
  /** Null for a method that an extension brings. */
  readonly operation: OperationName | null;
  /** `''` for none. */
  readonly tenant: string;
  /** What stands behind the interface's own URL: `''` for JSON-RPC, else the raw path. */
  readonly below: string;
  /** Gives the body, for one attempt to send it. */
  readonly body: () => ByteStream | null;
  /** True where the body can be given again after it was read. */
  readonly repeatable: boolean;
}

/** The form that a caller's SDK reads errors in. */
export interface ErrorForm {
  readonly binding: Binding;
  /** The JSON-RPC request's id; null for HTTP+JSON. */
  readonly id: RpcId;
}

/** A call, or why it is none, and the form in which its caller reads either. */
export interface ReadCall {
  readonly form: ErrorForm;
  readonly call: Outcome<Call>;
}

/** JSON-RPC is spoken at the base URL itself, with or without its slash; HTTP+JSON below it. */
const isBase = (below: string): boolean => below === '' || below === '/';

/**
 * Reads a call.
 * @param below the raw path under the agent's base URL.
 */
export function readCall(ask: Ask, below: string): ReadCall | Promise<ReadCall> {
  if (isBase(below) && ask.method === 'POST') return readRpc(ask.body).then((head) => jsonRpcCall(ask, head));
  return { form: { binding: 'HTTP+JSON', id: null }, call: httpJsonCall(ask, below) };
}

function httpJsonCall(ask: Ask, below: string): Outcome<Call> {
  if (isBase(below)) {
    const detail = 'JSON-RPC is spoken here, by POST; HTTP+JSON has its operations below this URL.';
    return refused(refuse('method-not-allowed', detail, { allow: ['POST'] }));
  }
  const version = callerVersion(ask.field('a2a-version'), ask.target);
  if (!version.ok) return version;
  const read = readHttpJson(ask.method, below, version.value);
  if (!read.ok) return read;
  return accepted({
    ask,
    binding: 'HTTP+JSON',
    version: version.value,
    ...read.value,
    below,
    body: () => ask.body,
    repeatable: ask.body === null,
  });
}

function jsonRpcCall(ask: Ask, { head, wrong, body, whole }: ReadHead): ReadCall {
  const form: ErrorForm = { binding: 'JSONRPC', id: head.id };
  const version = callerVersion(ask.field('a2a-version'), ask.target);
  if (!version.ok) return { form, call: version };
  if (wrong !== undefined || head.method === undefined) {
    const what = wrong ?? 'it names no method before its params';
    return { form, call: refused(refuse('bad-request', `This is no JSON-RPC request that can be sent on: ${what}.`)) };
  }
  const operation = operationOf(head.method);
  const { tenant } = head;
  const common = { ask, binding: 'JSONRPC' as const, version: version.value };
  return { form, call: accepted({ ...common, operation, tenant, below: '', body, repeatable: whole }) };
}

/** Says no in the form that the caller's SDK reads. */
export const refuseCall = ({ binding, id }: ErrorForm, refusal: Refusal, trace: RefusedTrace): Answer =>
  binding === 'JSONRPC' ? refuseJsonRpc(refusal, id, trace) : refuseHttpJson(refusal, trace);

/** Says no in a stream of events that has begun, as its last one. */
export function lastEvent(form: ErrorForm, refusal: Refusal, agent: AgentName): Uint8Array {
  const { body } = refuseCall(form, refusal, { kind: 'forwarded', agent });
  const text = body instanceof Uint8Array ? new TextDecoder().decode(body).trimEnd() : '';
  return new TextEncoder().encode(`${form.binding === 'HTTP+JSON' ? 'event: error\n' : ''}data: ${text}\n\n`);
}
