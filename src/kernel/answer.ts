import type { ByteStream, Fields } from './fields.ts';
import type { FaultCode } from './faults.ts';
import type { AgentName, ReceiptId, Tag } from './ids.ts';
import type { KillKind } from './kill.ts';
import type { EpochMs } from './units.ts';
import type { RequestKind, RequestResult } from './outcome.ts';

/** What the observer is told of an answer; it becomes the metric labels and the canonical log line. */
export interface Trace {
  readonly kind: RequestKind;
  readonly result: RequestResult;
  readonly agent: AgentName | null;
  /** The problem's code, where the answer is one. */
  readonly code?: FaultCode;
  /** The `Cache-Status` member as served. */
  readonly cache?: string;
  readonly receipt?: ReceiptId;
  /** What kind of kill refused it, where one did. */
  readonly kill?: KillKind;
}

/** A response before the response (RFC 9110 §15.2): it announces something and is never stored. */
export interface Interim {
  /** 102 to 199: 100 is between two neighbours, 101 leaves HTTP. */
  readonly status: number;
  readonly fields: Fields;
}

/** One answer, ready to be written: nothing in it depends on the protocol that carries it. */
export interface Answer {
  readonly status: number;
  /** Final fields except those of the connection; `Content-Length` is the writer's, where the length is known. */
  readonly fields: Fields;
  /** Null for none; the writer leaves it out for HEAD, 204 and 304 and still states the length for HEAD. */
  readonly body: Uint8Array | ByteStream | null;
  readonly trace: Trace;
  /** What it was made from, where that can be killed: a kill of one of them cuts it off while it is being written. */
  readonly tags?: readonly Tag[];
  /**
   * Says whether the same request would get this very answer again now. Present on answers that are given again and again: what is made
   * of one is worth keeping.
   */
  readonly holds?: (now: EpochMs) => boolean;
  /** True where that says too whether the credential in the request's Authorization is still good: who shows the same one may get it. */
  readonly forCredential?: boolean;
  /** True where the body itself tells its reader of a kill, as its last words: it is given a moment to. */
  readonly lastWords?: boolean;
}

/** The answer with other fields: one of its own, for this request. */
export function withFields(answer: Answer, fields: Fields): Answer {
  const { holds: _, forCredential: __, ...once } = answer;
  return { ...once, fields };
}
