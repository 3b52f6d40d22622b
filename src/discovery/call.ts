import { readHttpJson } from '../bindings/http-json-path.ts';
import { refuseHttpJson, refuseJsonRpc, type RpcId } from '../bindings/operation.ts';
import { type OperationName, operationOf } from '../bindings/operations.ts';
import type { RefusedTrace } from '../bindings/problem.ts';
import { callerVersion } from '../bindings/version.ts';
import { type Binding, unknownTenant } from '../card/pick-interface.ts';
import type { Answer } from '../kernel/answer.ts';
import type { Ask, CallerVersion } from '../kernel/ask.ts';
import type { ByteStream } from '../kernel/fields.ts';
import type { AgentName } from '../kernel/ids.ts';
import { type Outcome, type Refusal, accepted, refuse, refused } from '../kernel/refusal.ts';
import { type ReadHead, readMessage, readRpc } from './call-body.ts';

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
  /** The id that a refusal needs, which may stand behind what the form was read from. */
  readonly lateId: () => Promise<RpcId>;
}

/** JSON-RPC is spoken at the base URL itself, with or without its slash; HTTP+JSON below it. */
const isBase = (below: string): boolean => below === '' || below === '/';

/**
 * Reads a call.
 * @param below the raw path under the agent's base URL.
 * @param read what was read of its body, where that has begun.
 */
export async function readCall(ask: Ask, below: string, read?: ReadHead): Promise<ReadCall> {
  if (isBase(below) && ask.method === 'POST') return jsonRpcCall(ask, read ?? (await readRpc(ask.body)));
  const call = httpJsonCall(ask, below);
  const body = ask.body;
  const whole = call.ok && body !== null ? await withBody(call.value, body) : call;
  return { form: HTTP_JSON, call: whole, lateId: async () => null };
}

const HTTP_JSON: ErrorForm = { binding: 'HTTP+JSON', id: null };

/** Holds the tenant in a body to that of its path. */
async function withBody(call: Call, given: ByteStream): Promise<Outcome<Call>> {
  const coding = call.ask.field('content-encoding') ?? 'identity';
  if (coding.toLowerCase() !== 'identity') {
    return refused(refuse('bad-request', 'A call is not taken in a content coding.', { status: 415 }));
  }
  const { wrong, strays, body, whole } = await readMessage(given, call.tenant);
  if (wrong !== undefined) return refused(refuse('bad-request', `This is no call that can be sent on: ${wrong}.`));
  return strays ? refused(unknownTenant()) : accepted({ ...call, body, repeatable: whole });
}

/** Servers take fields of a request from its query too. */
function straysByQuery({ target }: Ask, tenant: string): boolean {
  const mark = target.indexOf('?');
  const members = mark === -1 ? [] : [...new URLSearchParams(target.slice(mark + 1))];
  return members.some(([name, value]) => name.toLowerCase() === 'tenant' && value !== '' && value !== tenant);
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
  if (straysByQuery(ask, read.value.tenant)) return refused(unknownTenant());
  return accepted({
    ask,
    binding: 'HTTP+JSON',
    version: version.value,
    ...read.value,
    below,
    body: () => null,
    repeatable: true,
  });
}

function jsonRpcCall(ask: Ask, { head, wrong, body, whole, lateId }: ReadHead): ReadCall {
  const form: ErrorForm = { binding: 'JSONRPC', id: head.id };
  const version = callerVersion(ask.field('a2a-version'), ask.target);
  if (!version.ok) return { form, call: version, lateId };
  if (wrong !== undefined || head.method === undefined) {
    const what = wrong ?? 'it names no method before its params';
    const refusal = refuse('bad-request', `This is no JSON-RPC request that can be sent on: ${what}.`);
    return { form, lateId, call: refused(refusal) };
  }
  const operation = operationOf(head.method);
  const { tenant } = head;
  const common = { ask, binding: 'JSONRPC' as const, version: version.value };
  return { form, lateId, call: accepted({ ...common, operation, tenant, below: '', body, repeatable: whole }) };
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

/** A tenant that is not there is answered like an agent that is not there: neither names the agent. */
export const named = (refusal: Refusal, agent: AgentName, kind: RefusedTrace['kind']): [Refusal, RefusedTrace] =>
  refusal.code === 'unknown-agent'
    ? [refusal, { kind: 'other', agent: null }]
    : [
        { ...refusal, agent },
        { kind, agent },
      ];
