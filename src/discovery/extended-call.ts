import { readHttpJson } from '../bindings/http-json-path.ts';
import { type RpcId, refuseHttpJson, refuseJsonRpc } from '../bindings/operation.ts';
import type { RpcHead } from '../bindings/json-rpc-head.ts';
import { operationOf } from '../bindings/operations.ts';
import type { RefusedTrace } from '../bindings/problem.ts';
import { callerVersion } from '../bindings/version.ts';
import type { Answer } from '../kernel/answer.ts';
import type { Ask, CallerVersion } from '../kernel/ask.ts';
import type { Outcome, Refusal } from '../kernel/refusal.ts';
import { basePathOf } from './base-path.ts';

/** The form in which a caller is answered. */
export interface CallForm {
  readonly binding: 'JSONRPC' | 'HTTP+JSON';
  /** Null over HTTP+JSON. */
  readonly id: RpcId;
}

/** A caller's request for an agent's extended card. */
export interface ExtendedCall {
  readonly ask: Ask;
  readonly form: CallForm;
  readonly version: Outcome<CallerVersion>;
  /** `''` for none. */
  readonly tenant: string;
  /** Where the agent's base is for this caller; `''` for the root. */
  readonly basePath: string;
}

/**
 * Reads a request below an agent's base URL over HTTP+JSON; undefined where it is for anything else. Each version has a path of its
 * own, and each path is one question, whichever version the caller states.
 */
export function readExtendedPath(ask: Ask, below: string): ExtendedCall | undefined {
  if (ask.method !== 'GET' && ask.method !== 'HEAD') return undefined;
  for (const version of ['1.0', '0.3'] as const) {
    const read = readHttpJson('GET', below, version);
    if (!read.ok || read.value.operation !== 'GetExtendedAgentCard') continue;
    const { tenant } = read.value;
    const form = { binding: 'HTTP+JSON', id: null } as const;
    return { ask, tenant, form, version: versionOf(ask), basePath: basePathOf(ask, below) };
  }
  return undefined;
}

/** Reads one over JSON-RPC from what was read of its head. */
export function readExtendedRpc(ask: Ask, below: string, { method, id, tenant }: RpcHead): ExtendedCall | undefined {
  if (method === undefined || operationOf(method) !== 'GetExtendedAgentCard') return undefined;
  const form = { binding: 'JSONRPC', id } as const;
  return { ask, tenant, form, version: versionOf(ask), basePath: basePathOf(ask, below) };
}

const versionOf = (ask: Ask): Outcome<CallerVersion> => callerVersion(ask.field('a2a-version'), ask.target);

/** Says no in the form that the caller's SDK reads. */
export const refuseIn = ({ binding, id }: CallForm, refusal: Refusal, trace: RefusedTrace): Answer =>
  binding === 'JSONRPC' ? refuseJsonRpc(refusal, id, trace) : refuseHttpJson(refusal, trace);
