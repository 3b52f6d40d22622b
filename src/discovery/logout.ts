import { problemAnswer } from '../bindings/problem.ts';
import type { Answer } from '../kernel/answer.ts';
import type { Ask } from '../kernel/ask.ts';
import { refuse } from '../kernel/refusal.ts';
import type { Caller } from './callers.ts';
import type { Sessions } from './sessions.ts';

/** `POST /logout`: drops everything held for the calling principal. Its credential stays what it is. */
export type Logout = (ask: Ask, caller: Caller) => Answer;

const TRACE = { kind: 'other', agent: null } as const;

export const createLogout =
  (sessions: Sessions): Logout =>
  (ask, caller) => {
    if (ask.method !== 'POST')
      return problemAnswer(refuse('method-not-allowed', 'Log out with POST.', { allow: ['POST'] }), TRACE);
    sessions.end(caller);
    // The same whether there was anything or not.
    return { status: 204, fields: ['Cache-Control', 'no-store'], body: null, trace: { ...TRACE, result: 'hit' } };
  };
