import { problemAnswer } from '../bindings/problem.ts';
import type { Answer } from '../kernel/answer.ts';
import type { Ask } from '../kernel/ask.ts';
import { refuse } from '../kernel/refusal.ts';

/** Whether something is so, and if not, why: a line per reason. */
export interface Readiness {
  readonly ok: boolean;
  readonly reasons: readonly string[];
}

/** What the ops listener asks the daemon. */
export interface OpsPorts {
  startup(): Readiness;
  /** @param require an agent whose card must be servable too. */
  ready(require: string | undefined): Readiness;
  metrics(accept: string | undefined): Promise<{ readonly type: string; readonly body: string }>;
}

type Page = (ask: Ask, query: URLSearchParams) => Answer | Promise<Answer>;

/** Answers `/livez /readyz /startupz /metrics`, compared whole: a prefix match has let health paths into other handlers before. */
export function createOps(ports: OpsPorts): (ask: Ask) => Answer | Promise<Answer> {
  const pages = new Map<string, Page>([
    ['/livez', () => health([{ ok: true, reasons: [] }])],
    ['/readyz', (_ask, query) => health(wanted(query).map((agent) => ports.ready(agent)))],
    ['/startupz', () => health([ports.startup()])],
    ['/metrics', (ask) => metrics(ports, ask)],
  ]);
  return (ask) => {
    const [path = '', query] = ask.target.split('?', 2);
    const page = pages.get(path);
    if (page === undefined) {
      return problemAnswer(refuse('not-found', `Only ${[...pages.keys()].join(' ')} are served here.`), TRACE);
    }
    if (ask.method === 'GET' || ask.method === 'HEAD') return page(ask, new URLSearchParams(query));
    const refusal = refuse('method-not-allowed', 'Only GET and HEAD are served here.', { allow: ['GET', 'HEAD'] });
    return problemAnswer(refusal, TRACE);
  };
}

const TRACE = { kind: 'other', agent: null } as const;

/** The agents that `require` names, once or more; undefined for none in particular. */
const wanted = (query: URLSearchParams): readonly (string | undefined)[] => {
  const named = query.getAll('require');
  return named.length === 0 ? [undefined] : named;
};

function health(all: readonly Readiness[]): Answer {
  const ok = all.every((each) => each.ok);
  const reasons = new Set(all.flatMap((each) => each.reasons));
  return text(ok ? 200 : 503, 'text/plain; charset=utf-8', ok ? 'ok\n' : `${['not ready', ...reasons].join('\n')}\n`);
}

async function metrics(ports: OpsPorts, ask: Ask): Promise<Answer> {
  const { type, body } = await ports.metrics(ask.field('accept'));
  return text(200, type, body);
}

const text = (status: number, type: string, body: string): Answer => ({
  status,
  fields: ['Content-Type', type, 'Cache-Control', 'no-store'],
  body: new TextEncoder().encode(body),
  trace: { ...TRACE, result: status === 200 ? 'hit' : 'denied' },
});
