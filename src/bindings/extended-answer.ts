import { type FaultCode, fault } from '../kernel/faults.ts';
import { type Refusal, refuse } from '../kernel/refusal.ts';
import { RPC_ID } from './extended-card.ts';

/** What an origin answered, as far as the binding reads it. Values are strict JSON, read by whoever holds the parser. */
export type ExtendedReading =
  /** The card itself; its bytes are to be judged. */
  | { readonly is: 'card'; readonly card: unknown }
  /** The origin's own no. */
  | { readonly is: 'refused'; readonly refusal: Refusal }
  /** An answer that is none. */
  | { readonly is: 'nonsense'; readonly what: string };

const A2A_CODES: ReadonlyMap<number, FaultCode> = new Map([
  [-32004, 'extended-not-supported'],
  [-32007, 'extended-not-configured'],
  [-32009, 'version-not-supported'],
  // A server that does not know the operation has no extended card, whatever its card says.
  [-32601, 'extended-not-configured'],
]);

const A2A_REASONS: ReadonlyMap<string, FaultCode> = new Map([
  ['UNSUPPORTED_OPERATION', 'extended-not-supported'],
  ['EXTENDED_AGENT_CARD_NOT_CONFIGURED', 'extended-not-configured'],
  ['AUTHENTICATED_EXTENDED_CARD_NOT_CONFIGURED', 'extended-not-configured'],
  ['VERSION_NOT_SUPPORTED', 'version-not-supported'],
]);

const DETAILS: Readonly<Partial<Record<FaultCode, string>>> = {
  'extended-not-supported': 'The agent answered that it does not support extended cards.',
  'extended-not-configured': 'The agent answered that it has no extended card, although its public card declares one.',
  'version-not-supported': 'The agent answered that it does not speak the version that its own card declares.',
};

/** Reads the envelope of a JSON-RPC answer (A2A 1.0 §9, 0.3 §7). */
export function readRpcAnswer(envelope: unknown): ExtendedReading {
  if (!isRecord(envelope) || envelope['jsonrpc'] !== '2.0') return nonsense('the answer is no JSON-RPC response');
  const { id, result, error } = envelope;
  if (result !== undefined && error !== undefined) return nonsense('the answer has both a result and an error');
  if (error !== undefined) {
    const code = isRecord(error) && typeof error['code'] === 'number' ? error['code'] : undefined;
    const known = code === undefined ? undefined : A2A_CODES.get(code);
    return known === undefined ? nonsense(`the agent answered with the error ${code ?? 'without a code'}`) : no(known);
  }
  // What is for another request is for another caller.
  if (id !== RPC_ID) return nonsense('the answer has the id of another request');
  return isRecord(result) ? { is: 'card', card: result } : nonsense('the result is no object');
}

/** Reads an HTTP+JSON answer that is not 200 (A2A 1.0 §11.6), with the body where it is JSON. */
export function readHttpJsonError(status: number, body: unknown): ExtendedReading {
  const known = a2aError(body);
  if (known !== undefined) return no(known);
  if (status === 404 || status === 405 || status === 501) return no('extended-not-configured', status);
  return nonsense(`the agent answered ${status}`);
}

function a2aError(body: unknown): FaultCode | undefined {
  if (!isRecord(body)) return undefined;
  const error = isRecord(body['error']) ? body['error'] : body;
  const details = Array.isArray(error['details']) ? error['details'] : [];
  const reasons = details.map((detail) => (isRecord(detail) ? detail['reason'] : undefined));
  const byReason = reasons.map((reason) => (typeof reason === 'string' ? A2A_REASONS.get(reason) : undefined));
  const { code } = error;
  return byReason.find((each) => each !== undefined) ?? (typeof code === 'number' ? A2A_CODES.get(code) : undefined);
}

/** An origin's 401 or 403, with its challenge. */
export function originChallenge(status: 401 | 403, challenge: string | undefined): Refusal {
  const detail = `The agent answered ${status} to the credential that it was shown.`;
  return refuse('extended-refused', detail, {
    status,
    receivedStatus: status,
    ...(challenge === undefined ? {} : { challenge }),
  });
}

const no = (code: FaultCode, status?: number): ExtendedReading => ({
  is: 'refused',
  refusal: refuse(code, DETAILS[code] ?? fault(code).meaning, status === undefined ? {} : { receivedStatus: status }),
});

const nonsense = (what: string): ExtendedReading => ({ is: 'nonsense', what });

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
