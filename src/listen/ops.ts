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

/** Answers `/livez /readyz /startupz /metrics`, compared whole: a prefix match has let health paths into other handlers before. */
export function createOps(ports: OpsPorts): (ask: Ask) => Answer | Promise<Answer> {
  return (ask) => {
    const [path = '', query] = ask.target.split('?', 2);
    if (!PATHS.has(path))
      return problemAnswer(refuse('not-found', `Only ${[...PATHS].join(' ')} are served here.`), TRACE);
    if (ask.method !== 'GET' && ask.method !== 'HEAD') {
      return problemAnswer(
        refuse('method-not-allowed', 'Only GET and HEAD are served here.', { allow: ['GET', 'HEAD'] }),
        TRACE,
      );
    }
    switch (path) {
      case '/livez':
        return health({ ok: true, reasons: [] });
      case '/readyz':
        return health(ports.ready(new URLSearchParams(query).get('require') ?? undefined));
      case '/startupz':
        return health(ports.startup());
      default:
        return metrics(ports, ask);
    }
  };
}

const PATHS: ReadonlySet<string> = new Set(['/livez', '/readyz', '/startupz', '/metrics']);
const TRACE = { kind: 'other', agent: null } as const;

const health = ({ ok, reasons }: Readiness): Answer =>
  text(ok ? 200 : 503, 'text/plain; charset=utf-8', ok ? 'ok\n' : `${['not ready', ...reasons].join('\n')}\n`);

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
