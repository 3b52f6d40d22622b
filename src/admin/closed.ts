import { problemAnswer } from '../bindings/problem.ts';
import type { Answer } from '../kernel/answer.ts';
import { refuse } from '../kernel/refusal.ts';

/** The admin listener while there is no admin API: nobody has authority. */
export const answerClosed = (): Answer =>
  problemAnswer(refuse('unauthorized', 'This release has no admin API; nothing can be changed here.'), {
    kind: 'other',
    agent: null,
  });
