import { fieldValue } from '../http/fields.ts';
import { conditionFields, selectForUpdate } from '../http/validation.ts';
import type { Entry } from '../kernel/entry.ts';
import type { EntryKey, Generation, ReceiptId, Url } from '../kernel/ids.ts';
import { type Refusal, refuse } from '../kernel/refusal.ts';
import { type EpochMs, between } from '../kernel/units.ts';
import { type Stopped, refusedBy } from '../policy/kills.ts';
import type { AgentRule, Limits } from '../policy/rules.ts';
import type { Clock, FetchOrder, FetchResult, Fetcher, Ledger, Store, WholeResponse } from '../ports.ts';
import type { CardRequest } from './card-request.ts';
import { cardLimits, notSent } from './exchange-bounds.ts';
import { agentTags, originTags } from './key.ts';
import type { OwnCredentials } from './own-credentials.ts';
import { NOTHING_SHOWN, exchangeShowing } from './showing.ts';
import type { Stops } from './stops.ts';

/** One card to bring up to date: for whom, by which request, and what is stored already. */
export interface CardTarget {
  readonly agent: AgentRule;
  readonly key: EntryKey;
  readonly request: CardRequest;
  /** The stored entry that the request selects, admitted under today's policy. */
  readonly stored: Entry | undefined;
}

/** An attempt as it is known once the origin has answered or failed. */
export interface Attempt {
  readonly target: CardTarget;
  readonly id: ReceiptId;
  readonly generation: Generation;
  readonly url: Url;
  readonly conditional: boolean;
  readonly requestedAt: EpochMs;
  readonly receivedAt: EpochMs;
  readonly result: FetchResult<WholeResponse>;
}

interface Doors {
  readonly clock: Clock;
  readonly fetcher: Fetcher;
  readonly own: OwnCredentials;
  readonly store: Pick<Store, 'generation'>;
  readonly ledger: Pick<Ledger, 'issue'>;
  readonly stops: Stops;
  readonly kills: Stopped;
}

/** What to ask for, and whom to tell of a URL that has no card. */
interface CardOrder {
  readonly target: CardTarget;
  readonly limits: Limits;
  /** Hears of an answer that another exchange followed: a URL without a card, or a credential that is another one now. */
  readonly passedOver: (attempt: Attempt, response: WholeResponse) => void;
}

/** Tries the agent's URLs in order, the next one only after a 404, all under one deadline. */
export async function attemptCards(doors: Doors, { target, limits, passedOver }: CardOrder): Promise<Attempt> {
  const { cards, credentials } = target.agent;
  const shown = credentials === 'none' ? NOTHING_SHOWN : doors.own.show(credentials);
  const exchange = exchangesFor(doors, target, limits);
  const over = (one: Attempt): void => {
    if (one.result.ok) passedOver(one, one.result.response);
  };
  const attempt = async (url: Url): Promise<Attempt> => {
    const send = (authorization: string | null): Promise<Attempt> => exchange(url, authorization);
    const made = await exchangeShowing(shown, { send, isRefused, passedOver: over });
    return made.ok ? made.value : unsent(doors, target, { url, refusal: made.refusal });
  };
  const [first, ...others] = cards;
  if (first === undefined) throw new Error(`agent ${target.agent.name} has no card URL`);
  let last = await attempt(first);
  for (const url of others) {
    if (!last.result.ok || last.result.response.status !== 404) break;
    over(last);
    last = await attempt(url);
  }
  return last;
}

/** Makes the exchanges of one refresh: one generation, one deadline, one way to be stopped. */
function exchangesFor(doors: Doors, target: CardTarget, limits: Limits) {
  const signal = doors.stops.signal(agentTags(target.agent));
  const generation = doors.store.generation();
  const startedAt = doors.clock.now();
  return async (url: Url, authorization: string | null): Promise<Attempt> => {
    const id = doors.ledger.issue();
    const conditions = target.stored?.url === url ? conditionFields([target.stored]) : [];
    const credential = authorization === null ? [] : ['Authorization', authorization];
    const requestedAt = doors.clock.now();
    const order: FetchOrder = {
      purpose: 'card',
      agent: target.agent.name,
      url,
      method: 'GET',
      fields: [...target.request.fields, ...conditions, ...credential],
      body: null,
      rule: target.agent.egress,
      limits: cardLimits(limits, between(startedAt, requestedAt)),
      refuseHop: (to) => refusedBy(doors.kills.active(), originTags(to), target.agent.name),
      signal,
    };
    const result = await doors.fetcher.fetch(order);
    const receivedAt = doors.clock.now();
    return { target, id, generation, url, conditional: conditions.length > 0, requestedAt, receivedAt, result };
  };
}

/** Where there is nothing to show, nothing is sent. */
function unsent(
  { clock, ledger, store }: Doors,
  target: CardTarget,
  { url, refusal }: { readonly url: Url; readonly refusal: Refusal },
): Attempt {
  const result = { ok: false, refusal, trail: notSent(url), sent: false } as const;
  const now = clock.now();
  const made = { requestedAt: now, receivedAt: now, conditional: false, result };
  return { target, id: ledger.issue(), generation: store.generation(), url, ...made };
}

const isRefused = ({ result }: Attempt): boolean => result.ok && result.response.status === 401;

/** True for a 304 whose validator is not the stored card's. */
export const speaksOfAnother = ({ result, target, conditional }: Attempt): boolean =>
  result.ok &&
  result.response.status === 304 &&
  conditional &&
  target.stored !== undefined &&
  selectForUpdate([target.stored], result.response.fields).length === 0;

/** Every place that had a part in an answer, redirects included: a kill of any of them is a kill of the card. */
export const urlsOf = ({ url, result: { trail } }: Attempt): readonly Url[] => [
  url,
  ...trail.redirects,
  trail.finalUrl,
];

/** Says what came instead of a card. */
export function unexpectedStatus(attempt: Attempt, response: WholeResponse): Refusal {
  const challenge = fieldValue(response.fields, 'www-authenticate');
  const asked = challenge === undefined ? '' : ` It asks for credentials: ${challenge.slice(0, 200)}.`;
  const where = attempt.target.agent.cards.join(' or ');
  return refuse('origin-status', `The origin answered ${response.status} at ${where}.${asked}`, {
    receivedStatus: response.status,
  });
}
