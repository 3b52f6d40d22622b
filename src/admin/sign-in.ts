import type { Answer } from '../kernel/answer.ts';
import type { Ask } from '../kernel/ask.ts';
import { type Outcome, accepted, refuse, refused } from '../kernel/refusal.ts';
import { json, problem } from './answers.ts';
import { foreignPage } from './authority.ts';
import { type Order, bad, readOrder } from './body.ts';
import type { Call } from './changes.ts';
import { setCookie } from './cookie.ts';
import type { AdminPorts } from './ports.ts';
import type { Look } from './reads.ts';

/** How a person comes in with a browser, and goes. */

/** A request of somebody who has no authority yet. */
export interface Arrival {
  readonly ports: AdminPorts;
  readonly ask: Ask;
}

const PROOFS = ['token', 'code'] as const;

/** Opens a session for the admin token or a link's code. */
export async function signIn({ ports, ask }: Arrival): Promise<Answer> {
  if (ports.console === null) return problem(noConsole());
  const foreign = foreignPage(ask);
  if (foreign !== undefined) return problem(foreign);
  const order = await readOrder(ask, PROOFS);
  if (!order.ok) return problem(order.refusal);
  const proof = proofOf(order.value);
  if (!proof.ok) return problem(proof.refusal);
  const opened = ports.console.door.signIn(proof.value.by, proof.value.shown);
  if (!opened.ok) {
    const { code } = opened.refusal;
    const receipt = ports.ledger.refused({ agent: null, code, principal: null, tenant: null });
    return problem({ ...opened.refusal, receipt });
  }
  const { session, cookie, key } = opened.value;
  await noteSignIn(ports);
  return withCookie(json({ key, expires: session.expires }), setCookie(ask, cookie));
}

function proofOf(order: Order): Outcome<{ readonly by: 'token' | 'code'; readonly shown: string }> {
  const [by, ...more] = PROOFS.filter((name) => order.has(name));
  const shown = by === undefined ? undefined : order.get(by);
  if (by === undefined || more.length > 0 || typeof shown !== 'string')
    return refused(bad('Send either token, the admin token, or code, that of a link.'));
  return accepted({ by, shown });
}

const noteSignIn = ({ ledger, clock }: AdminPorts): Promise<boolean> =>
  ledger.commit({
    kind: 'change',
    id: ledger.issue(),
    at: clock.now(),
    action: 'sign-in',
    about: [],
    reason: null,
    by: 'admin',
  });

/** How long the session that asks goes on. */
export function showSession({ session }: Look): Answer {
  if (session === null) return problem(noSession());
  return json({ expires: session.expires, idleUntil: session.idleUntil() });
}

export async function signOut({ ask, session }: Call): Promise<Answer> {
  if (session === null) return problem(noSession());
  session.end();
  return withCookie({ ...json(null), status: 204, body: null }, setCookie(ask, null));
}

/** Makes an address that signs a browser in once. Its code stands behind the #, which no browser sends and no log gets. */
export async function makeLink({ ports, ask, session }: Call): Promise<Answer> {
  if (ports.console === null) return problem(noConsole());
  // A session must not outlive itself through another one.
  if (session !== null)
    return problem(refuse('unauthorized', 'Links are made with the admin token: cardea console.', { status: 403 }));
  const { code, expires } = ports.console.door.makeLink();
  return json({ url: `${ask.base}/console/#code=${code}`, expires });
}

const withCookie = (answer: Answer, cookie: string): Answer => ({
  ...answer,
  fields: [...answer.fields, 'Set-Cookie', cookie],
});

const noSession = () => refuse('not-found', 'No session of the console asks here.');
const noConsole = () =>
  refuse(
    'not-found',
    'The console is not here: no browser can open a socket in the file system. Set listen.admin to an address, such as 127.0.0.1:8643.',
  );
