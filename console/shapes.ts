/** What the admin API answers, as the page reads it. Types only: nothing of this is served. */
import type { Verdict } from '../src/kernel/entry.ts';
import type { AgentView, PendingView, ReviewView } from '../src/admin/ports.ts';

export type { InForceView, KillPreview } from '../src/admin/ports.ts';
export type { Kill } from '../src/kernel/kill.ts';
export type { Verdict } from '../src/kernel/entry.ts';
export type { Receipt } from '../src/kernel/receipt.ts';
export type { Decision } from '../src/ports.ts';

export type Agent = AgentView;

/** `GET /agents/{a}`. */
export interface AgentDetail extends AgentView {
  readonly review: Omit<ReviewView, 'pending'> & { readonly pending: readonly Omit<PendingView, 'card'>[] };
}

/** What waits, and what it is worth by today's keys: a verdict, or why it would be refused. */
export interface Pending extends PendingView {
  readonly verdict: Verdict | null;
  readonly refusal: { readonly code: string; readonly detail: string } | null;
}

/** `GET /agents/{a}/change`. */
export interface Waiting {
  readonly agent: string;
  readonly suspended: string | null;
  readonly firstUse: ReviewView['rule']['firstUse'];
  readonly pending: readonly Pending[];
}

/** A change as the daemon tells it; docs/review.md says what each member means. */
export interface Change {
  readonly class: string;
  readonly action: 'allow' | 'report' | 'hold' | 'block';
  readonly pointer: string;
  readonly oldPointer: string;
  readonly before?: unknown;
  readonly after?: unknown;
  readonly effect: 'widens' | 'narrows' | null;
  readonly cues: readonly string[];
  readonly required?: true;
  readonly resembles?: { readonly id: string; readonly why: 'renamed' | 'near-id' };
  readonly of?: 'card-url' | 'signatures';
}

/** One of `GET /changes`: what waits, of agents and of cards without a name. */
export interface WaitingChange {
  readonly agent: string;
  readonly variant: PendingView['variant'];
  readonly digest: string;
  readonly why: Pending['why'];
  readonly classes: readonly string[];
}
