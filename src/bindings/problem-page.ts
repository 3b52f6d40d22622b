import type { Answer } from '../kernel/answer.ts';
import { FAULT_CODES, type FaultCode, fault } from '../kernel/faults.ts';
import { refuse } from '../kernel/refusal.ts';
import { problemAnswer } from './problem.ts';

/** `GET /problems/{code}`: what a refusal means and how to mend it. */
export function problemPage(code: string): Answer {
  const known = FAULT_CODES.find((each) => each === code);
  if (known === undefined)
    return problemAnswer(refuse('not-found', 'No such problem; GET /problems/ lists them.'), TRACE);
  return page(explain(known));
}

/** `GET /problems/`: all of them. */
export const problemIndex = (): Answer => page({ problems: FAULT_CODES.map(explain) });

const TRACE = { kind: 'other', agent: null } as const;

function explain(code: FaultCode): object {
  const { status, title, meaning, mend, retry } = fault(code);
  return { type: `/problems/${code}`, code, status, title, meaning, mend, retry };
}

const page = (value: object): Answer => ({
  status: 200,
  // The table is part of the program: it changes with a release and with nothing else.
  fields: ['Content-Type', 'application/json', 'Cache-Control', 'max-age=3600'],
  body: new TextEncoder().encode(`${JSON.stringify(value, null, 2)}\n`),
  trace: { ...TRACE, result: 'hit' },
});
