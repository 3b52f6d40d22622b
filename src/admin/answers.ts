import { problemAnswer } from '../bindings/problem.ts';
import type { Answer } from '../kernel/answer.ts';
import type { Refusal } from '../kernel/refusal.ts';

/** How the admin API answers: JSON that nobody keeps, or a problem. */

const TRACE = { kind: 'other', agent: null } as const;

export const json = (value: unknown, status = 200): Answer => ({
  status,
  fields: ['Content-Type', 'application/json', ...UNCACHED],
  body: new TextEncoder().encode(`${JSON.stringify(value)}\n`),
  trace: { ...TRACE, result: 'hit' },
});

export const problem = (refusal: Refusal): Answer => problemAnswer(refusal, TRACE);

/** A console page of ours must not be framed by others, and no answer is to be guessed into something that runs. */
export const UNCACHED = ['Cache-Control', 'no-store', 'X-Content-Type-Options', 'nosniff'] as const;
