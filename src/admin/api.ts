import type { Answer } from '../kernel/answer.ts';
import type { Ask } from '../kernel/ask.ts';
import { type Refusal, refuse } from '../kernel/refusal.ts';
import { seconds } from '../kernel/units.ts';
import { problem } from './answers.ts';
import type { Administrator, CheckAuthority } from './authority.ts';
import { readOrder } from './body.ts';
import { type Bucket, createBucket } from './bucket.ts';
import { pageAnswer } from './console-page.ts';
import type { AdminPorts } from './ports.ts';
import { ADMIN_ROUTES, type AdminRoute, type ChangeEndpoint, type Endpoint } from './routes.ts';

/** Answers one request to the admin listener. */
export type AdminHandle = (ask: Ask) => Promise<Answer>;

/**
 * Makes the admin API for one listener. Authority comes before everything: whoever has none learns of no path, and gets the
 * console's page, which holds nothing, and its sign-in. The Host was checked by the listener.
 */
export function createAdmin(ports: AdminPorts, authority: CheckAuthority): AdminHandle {
  // A purge that is repeated in a loop would send every caller to the origins.
  const pace = createBucket({ burst: 20, perSecond: 5 });
  return async (ask) => {
    const [path = ''] = ask.target.split('?', 1);
    const page = ports.console === null ? undefined : pageAnswer(ports.console.files, ask, path);
    if (page !== undefined) return page;
    const found = ADMIN_ROUTES.find((route) => route.path.test(path));
    const arrival = found === undefined ? undefined : own(found.methods, ask.method);
    if (arrival?.does === 'sign-in') return arrival.run({ ports, ask });
    const who = authority(ask);
    if (!who.ok) return refuseNoted(ports, who.refusal);
    if (found === undefined)
      return problem(refuse('not-found', 'The admin API has no such path; docs/admin-api.md lists them.'));
    const named = found.path.exec(path)?.[1] ?? '';
    return answer({ ports, ask, named, who: who.value, pace }, found);
  };
}

interface Turn {
  readonly ports: AdminPorts;
  readonly ask: Ask;
  readonly named: string;
  readonly who: Administrator;
  readonly pace: Bucket;
}

async function answer(turn: Turn, { methods }: AdminRoute): Promise<Answer> {
  const { method } = turn.ask;
  // HEAD asks what GET would say; the listener leaves the body out.
  const endpoint = own(methods, method === 'HEAD' ? 'GET' : method);
  if (endpoint === undefined) return problem(wrongMethod(methods));
  const { ports, ask, named, who } = turn;
  if (endpoint.does !== 'watch' && ask.field('cardea-console-background') !== '?1') who.session?.use();
  switch (endpoint.does) {
    case 'read':
    case 'watch':
      return endpoint.run({ ports, ask, named, session: who.session });
    case 'change':
      return change(turn, endpoint);
    case 'sign-in':
      return endpoint.run({ ports, ask });
  }
}

const own = (methods: AdminRoute['methods'], method: string): Endpoint | undefined =>
  method === 'GET' || method === 'POST' || method === 'DELETE' ? methods[method] : undefined;

async function change({ ports, ask, named, who, pace }: Turn, endpoint: ChangeEndpoint): Promise<Answer> {
  if (endpoint.pace === 'limited' && !pace.take(ports.clock.now())) {
    return problem(refuse('rate-limited', 'Too many changes at once; wait a second.', { retryAfter: seconds(1) }));
  }
  const order = await readOrder(ask, endpoint.members);
  return order.ok ? endpoint.run({ ports, ask, order: order.value, named, ...who }) : problem(order.refusal);
}

const wrongMethod = (methods: AdminRoute['methods']): Refusal => {
  const allow = Object.keys(methods).flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return refuse('method-not-allowed', `This path knows ${allow.join(', ')}.`, { allow });
};

/** Who had no authority is counted: a receipt a minute, however often they try. */
function refuseNoted({ ledger }: AdminPorts, refusal: Refusal): Answer {
  const receipt = ledger.refused({ agent: null, code: refusal.code, principal: null, tenant: null });
  return problem({ ...refusal, receipt });
}
