import type { Answer } from '../kernel/answer.ts';
import * as changes from './changes.ts';
import * as reads from './reads.ts';
import * as signIn from './sign-in.ts';

/** Every endpoint of the admin API: nothing is answered that does not stand here, and all but the sign-in ask for authority first. */

/** A path, exactly as it arrives: no other spelling reaches it. One group at most names what it is about. */
export interface AdminRoute {
  readonly path: RegExp;
  /** A path that it matches, for the docs and for whoever goes through all of them. */
  readonly example: string;
  readonly methods: { readonly [Method in 'GET' | 'POST' | 'DELETE']?: Endpoint };
}

export type Endpoint = ReadEndpoint | ChangeEndpoint | SignInEndpoint;

export interface ReadEndpoint {
  /** `watch`: it goes on by itself, so that no session of the console lasts longer for it. */
  readonly does: 'read' | 'watch';
  readonly run: (look: reads.Look) => Answer | Promise<Answer>;
}

export interface ChangeEndpoint {
  readonly does: 'change';
  /** The members that its body may have. */
  readonly members: readonly string[];
  /** `always`: an emergency is no time for a rate limit. */
  readonly pace: 'limited' | 'always';
  readonly run: (call: changes.Call) => Promise<Answer>;
}

/** The one that whoever has no authority may ask. */
export interface SignInEndpoint {
  readonly does: 'sign-in';
  readonly run: (arrival: signIn.Arrival) => Promise<Answer>;
}

const read = (run: ReadEndpoint['run']): ReadEndpoint => ({ does: 'read', run });
const limited = (run: ChangeEndpoint['run'], ...members: readonly string[]): ChangeEndpoint => ({
  does: 'change',
  members,
  pace: 'limited',
  run,
});
const always = (run: ChangeEndpoint['run'], ...members: readonly string[]): ChangeEndpoint => ({
  ...limited(run, ...members),
  pace: 'always',
});

const route = (example: string, path: RegExp, methods: AdminRoute['methods']): AdminRoute => ({
  example,
  path,
  methods,
});

/** An agent by its name, or a card without one by its URL, percent-encoded whole. */
const agentPath = (below: string): RegExp =>
  new RegExp(`^/agents/([a-z0-9-]{1,63}|https?%3A%2F%2F[A-Za-z0-9%.~_!*'()-]{1,6144})${below}$`);

export const ADMIN_ROUTES: readonly AdminRoute[] = [
  route('/agents', /^\/agents$/, { GET: read(reads.listAgents) }),
  route('/changes', /^\/changes$/, { GET: read(reads.listChanges) }),
  route('/agents/weather', agentPath(''), { GET: read(reads.showAgent) }),
  route('/agents/weather/card', agentPath('/card'), { GET: read(reads.showCard) }),
  route('/agents/weather/change', agentPath('/change'), { GET: read(reads.showChange) }),
  route('/agents/weather/approve', agentPath('/approve'), {
    POST: limited(changes.approve, 'digest', 'reason'),
  }),
  route('/agents/weather/reject', agentPath('/reject'), {
    POST: limited(changes.reject, 'digest', 'reason'),
  }),
  route('/agents/weather/refresh', agentPath('/refresh'), {
    POST: limited(changes.refresh, 'reason'),
  }),
  route('/receipts', /^\/receipts$/, { GET: read(reads.showReceipts) }),
  route('/receipts/verify', /^\/receipts\/verify$/, { GET: read(reads.verifyReceipts) }),
  route('/explain', /^\/explain$/, { GET: read(reads.showExplanation) }),
  route('/kill', /^\/kill$/, { GET: read(reads.listKills), POST: always(changes.kill, 'scope', 'reason') }),
  route('/kill/preview', /^\/kill\/preview$/, { GET: read(reads.previewKill) }),
  route('/kill/0a1b2c3d', /^\/kill\/([A-Za-z0-9-]{1,64})$/, { DELETE: always(changes.lift, 'reason') }),
  route('/config', /^\/config$/, { GET: read(reads.showConfig) }),
  route('/events', /^\/events$/, { GET: { does: 'watch', run: reads.watchEvents } }),
  route('/purge', /^\/purge$/, { POST: limited(changes.purge, 'tags', 'soft', 'reason') }),
  route('/principals/revoke', /^\/principals\/revoke$/, {
    POST: always(changes.revoke, 'principal', 'tenant', 'reason'),
  }),
  route('/registries/catalog/refresh', /^\/registries\/([a-z0-9._-]{1,63})\/refresh$/, {
    POST: always(changes.refreshRegistry, 'reason'),
  }),
  route('/reload', /^\/reload$/, { POST: limited(changes.reload, 'reason') }),
  route('/console/session', /^\/console\/session$/, {
    GET: read(signIn.showSession),
    POST: { does: 'sign-in', run: signIn.signIn },
    DELETE: always(signIn.signOut),
  }),
  route('/console/links', /^\/console\/links$/, { POST: limited(signIn.makeLink) }),
  route('/drain', /^\/drain$/, { POST: always(changes.drain, 'reason') }),
];
