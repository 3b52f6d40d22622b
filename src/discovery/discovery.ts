import type { SigningKey } from '../card/sign.ts';
import type { Entry } from '../kernel/entry.ts';
import type { Tag } from '../kernel/ids.ts';
import type { NameHash } from '../kernel/principal.ts';
import type { Refusal } from '../kernel/refusal.ts';
import type { Clock, Coder, Evidence, Fetcher, KillBook, Observer, Store } from '../ports.ts';
import type { ExtendedStore, RevocationBook, Secrets } from '../ports/callers.ts';
import type { RegistryFiles, RegistryRecord } from '../ports/registries.ts';
import { isBlockedByRegistry } from '../policy/registered.ts';
import { buildRoutes } from '../policy/route.ts';
import type { Place } from '../policy/places.ts';
import type { AgentRule, Rules } from '../policy/rules.ts';
import { createAcceptedCard } from './accepted-card.ts';
import { adoptRules, placeAgain, type Snapshot } from './adopt.ts';
import { type AllKeys, allKeys } from './all-keys.ts';
import type { KeyArchive } from './archived-keys.ts';
import { type CardBook, type Update, createCardBook } from './card-book.ts';
import { type CardStatus, cardStatus } from './card-status.ts';
import { createCors } from './cors.ts';
import { type Handle, createHandle } from './handle.ts';
import { createFetchKeys } from './fetch-keys.ts';
import { createGate } from './gate.ts';
import { createJudge } from './judge.ts';
import { createJudgeAgain } from './judge-again.ts';
import { fetching } from './fetching.ts';
import { createForward } from './forward.ts';
import { createAgentLists } from './list-agents.ts';
import { createLocalCard } from './local-card.ts';
import { createRefuseOperation } from './operation.ts';
import { createRefresh } from './refresh.ts';
import { inForceIn } from './in-force.ts';
import { agentCardKey } from './key.ts';
import { createEra } from './era.ts';
import { createExtended, type Extended } from './extended.ts';
import { type OwnCredentials, createOwnCredentials } from './own-credentials.ts';
import { createExtendedReviews, type ExtendedReviews } from './extended-reviews.ts';
import { createCallers } from './callers.ts';
import { createIssuers } from './issuers.ts';
import { type ReviewDesk, createReviewDesk } from './review-desk.ts';
import { type Registries, createRegistries } from './registries.ts';
import { type LookUpDoors, createLookUp } from './registry-lookup.ts';
import { stoppedBy } from './stopped.ts';
import { type Reviews, createReviews } from './reviews.ts';
import { type Revoke, createRevoke } from './revoke.ts';
import { type Schedule, createSchedule } from './schedule.ts';
import { createStops, type Stops } from './stops.ts';
import { switching } from './switching.ts';
import { createServeCard } from './serve-card.ts';
import { createServeKeys } from './serve-keys.ts';
import { createServeOrigin } from './serve-origin.ts';
import { createTrust, type Trust } from './trust.ts';
import { lookAgain, unnamedWaiting } from './waiting.ts';
import { createCodings } from './with-codings.ts';

/** The use case, whole: what the listeners call, what keeps cards fresh, and what is known of them. */
export interface Discovery {
  readonly handle: Handle;
  readonly book: CardBook;
  readonly schedule: Schedule;
  readonly trust: Trust;
  /** What was taken, what waits, and what people decided. */
  readonly reviews: Reviews;
  /** What waits of the cards that callers have of their own. */
  readonly extendedReviews: ExtendedReviews;
  readonly desk: ReviewDesk;
  /**
   * Why nothing but the public card of this agent may be used, where a change of its security or endpoints waits for review: extended
   * cards, cached tokens and forwarding ask before each use. Undefined where they may go on.
   */
  suspended(agent: AgentRule): Refusal | undefined;
  /** Resolves when the first snapshot's keys are read, and what was decided before; nothing may be asked before. */
  readonly ready: Promise<void>;
  /** Fetches every key set and every card once, `concurrency` cards at a time. */
  prefetch(concurrency: number): Promise<void>;
  /** What a URL is to the rules in force. */
  find(url: string): Place;
  /** Fetches and judges one card now, for the commands that run without a daemon. */
  fetchOnce(agent: AgentRule): Promise<Update>;
  /** How every named agent's card stands now. */
  statuses(): readonly CardStatus[];
  /** The rules of the cards without a name of which something waits for review. */
  unnamedWaiting(): readonly AgentRule[];
  /** The registries that agents name. */
  readonly registries: Pick<Registries, 'lookUp' | 'list'>;
  /** Begins what goes on by itself: registries are read from now on. */
  begin(): void;
  /** When each set of keys was last had, those of issuers included; 0 for never. */
  keySets(): ReturnType<Trust['sets']>;
  /** The snapshot that is in force. */
  rules(): Rules;
  /**
   * Adopts another snapshot of the rules, whole and between two requests: what was judged under the old one is judged again before
   * it is served, what is on its way under rules that are gone stores nothing. One at a time.
   */
  adopt(rules: Rules): Promise<void>;
  /** True for an entry that room is never made by dropping: the last card of an agent that is configured, at its URL of today. */
  isPinned(entry: Entry): boolean;
  /** Resolves when nothing is on its way. */
  settled(): Promise<void>;
  /** Judges every stored card under today's rules: nothing that an earlier start judged is served on its word. */
  judgeStored(): Promise<void>;
  /**
   * Makes a kill that the kill book already holds felt: what is on its way ends at once, and what is stored goes for good.
   * A fetch that began before cannot put anything back.
   */
  kill(scope: Tag): Promise<void>;
  /** Takes out everything that carries one of the tags, extended cards included; resolves to how many entries it concerned. */
  purge(tags: readonly Tag[], soft: boolean): Promise<number>;
  /** Refuses every token that a principal or a tenant has, and takes out what is held for it. */
  readonly revoke: Revoke;
  /** Fetches and judges again what a lifted kill covered. */
  resume(scope: Tag): void;
  /** Ends background work and what is on its way. */
  stop(): Promise<void>;
}

export interface Doors extends Pick<LookUpDoors, 'registryReaders'> {
  readonly clock: Clock;
  readonly fetcher: Fetcher;
  readonly store: Store;
  /** Where extended cards live. */
  readonly extended: ExtendedStore;
  readonly secrets: Secrets;
  readonly ledger: Evidence;
  readonly observer: Observer;
  readonly kills: KillBook;
  readonly revocations: RevocationBook;
  readonly coder: Coder;
  /** What signs the cards that are rewritten. */
  readonly cardKey: SigningKey;
  /** Where fetched keys outlive a restart; null for nowhere. */
  readonly archive: KeyArchive | null;
  readonly registryFiles: RegistryFiles;
  readonly registryRecord: RegistryRecord;
  /** Cuts the answers that are being written under a tag. */
  readonly cut: (scope: Tag) => void;
}

/** Puts the parts of the use case together around the doors. */
export function createDiscovery(doors: Doors, first: Rules): Discovery {
  const stopping = new AbortController();
  const snapshot: Snapshot = { given: first, rules: first, routes: buildRoutes(first) };
  const parts = createParts(doors, snapshot, createStops(stopping.signal));
  const { trust, keys, own, book, schedule, extended, handle, reviews, extendedReviews, desk, registries } = parts;
  const ready = prepare(parts, first);
  const settled = async (): Promise<void> => {
    for (const each of [registries, keys, own, extended, book]) await each.settled();
  };
  const agents = (): readonly AgentRule[] => [...snapshot.rules.agents.values()];
  return {
    handle,
    book,
    schedule,
    trust,
    reviews,
    extendedReviews,
    desk,
    suspended: (agent) => reviews.suspended(agent),
    ready,
    registries,
    begin: () => registries.begin(),
    ...fetching(parts, snapshot, ready),
    keySets: () => keys.sets(),
    settled,
    statuses: () => agents().map((agent) => cardStatus(book, agent, doors.clock.now())),
    ...lookingAt(snapshot, reviews),
    async adopt(given) {
      await ready;
      await reviews.load([...given.agents.values()]);
      await adoptRules(given, { ...doors, ...parts, snapshot });
      lookAgain(parts, snapshot);
    },
    isPinned: (entry) => isOfToday(entry, snapshot.rules),
    judgeStored: () => judgeAll(book, agents()),
    revoke: createRevoke(doors),
    ...switching(doors, snapshot, parts),
    async stop() {
      schedule.stop();
      registries.stop();
      keys.stop();
      stopping.abort();
      await settled();
    },
  };
}

function isOfToday({ agent: name, key }: Entry, { agents }: Rules): boolean {
  const agent = name === null ? undefined : agents.get(name);
  return agent !== undefined && key === agentCardKey(agent) && !isBlockedByRegistry(agent);
}

/** Learns what the rules need before anything is decided by them: the keys, and what was decided about each agent's cards before. */
async function prepare({ keys, reviews }: DiscoveryParts, rules: Rules): Promise<void> {
  const follow = await keys.prepare(rules);
  await reviews.load([...rules.agents.values()]);
  follow();
}

const lookingAt = (snapshot: Snapshot, reviews: Reviews): Pick<Discovery, 'rules' | 'find' | 'unnamedWaiting'> => ({
  unnamedWaiting: () => unnamedWaiting(reviews, snapshot),
  rules: () => snapshot.rules,
  find: (url) => snapshot.routes.find(url),
});

async function judgeAll(book: CardBook, agents: readonly AgentRule[]): Promise<void> {
  for (const agent of agents) {
    await book.relive(agent);
    await book.judgeStored(agent);
  }
}

interface DiscoveryParts
  extends Pick<Discovery, 'trust' | 'book' | 'schedule' | 'handle' | 'reviews' | 'extendedReviews' | 'desk'> {
  readonly registries: Registries;
  readonly stops: Stops;
  readonly extended: Extended;
  readonly own: OwnCredentials;
  readonly keys: AllKeys;
}

/** What decides on changed cards. */
function createReviewing(doors: Doors): Pick<Discovery, 'reviews' | 'extendedReviews'> {
  const reviews = createReviews(doors);
  return { reviews, extendedReviews: createExtendedReviews({ ...doors, reviews }) };
}

function createParts(given: Doors, snapshot: Snapshot, stops: Stops): DiscoveryParts {
  const doors = { ...given, kills: stoppedBy(given.kills, () => snapshot.rules) };
  const { clock, ledger, archive, revocations, kills } = doors;
  const now = (): ReturnType<Clock['now']> => clock.now();
  const limits = (): Rules['limits'] => snapshot.rules.limits;
  const rules = (): Rules => snapshot.rules;
  const isInForce = inForceIn(rules);
  const changed = (): Promise<void> => placeAgain({ ...doors, ...parts, snapshot });
  const registries = followRegistries({ ...doors, stops }, snapshot, changed);
  const fetchKeys = createFetchKeys({ ...doors, stops }, limits);
  const trust = createTrust({ clock, archive, fetchKeys });
  const issuers = createIssuers({ clock, archive, fetchKeys, withdrawn: (key) => extended.withdraw(key) });
  const hash: NameHash = (kind, name) => ledger.keyedHash(kind, name);
  const callers = createCallers({ clock, issuers, rules, hash, revocations });
  const own = createOwnCredentials({ ...doors, stops }, limits);
  const judge = createJudge({ clock, trust, rules });
  const codings = createCodings(doors.coder, doors.store);
  const judging = { trust, judge, codings, isInForce };
  const reviewing = createReviewing(given);
  const refresh = createRefresh({ ...doors, ...judging, own, gate: createGate({ ...reviewing, judge, kills }), stops });
  const judgeAgain = createJudgeAgain({ ...doors, ...reviewing, ...judging });
  const book = createCardBook({ ...doors, ...reviewing, ...judging, limits, refresh, judgeAgain, registries });
  const desk = createReviewDesk({ ...doors, ...reviewing, ...judging, book, forgive: () => extended.forgive() });
  const schedule = createSchedule({ clock, book }, snapshot.rules);
  const refuseOperation = createRefuseOperation(book);
  const acceptedCard = createAcceptedCard(book, now, (agent) => reviewing.reviews.suspended(agent));
  const forward = createForward({ ...doors, rules, stops, acceptedCard });
  const era = createEra({ snapshot, kills, revocations });
  const shared = { ...doors, ...reviewing, rules, stops, judge, trust, callers, own, hash, isInForce, era };
  const serveCard = createServeCard({ book, now, era, codings });
  const cards = { serveCard, localCard: createLocalCard(doors.cardKey, codings) };
  const extended = createExtended({ ...shared, ...cards, acceptedCard, forward, otherwise: refuseOperation });
  const handle = createHandle({
    ...extended,
    routes: () => snapshot.routes,
    isInForce,
    kills,
    callers,
    ledger,
    serveCard: cards.serveCard,
    serveKeys: createServeKeys(doors.cardKey),
    serveOrigin: createServeOrigin({ ...doors, limits, stops }),
    refuseOperation,
    lists: createAgentLists(book, rules, now),
    cors: createCors(() => rules().cors),
  });
  const known = { ...reviewing, desk, registries, keys: allKeys(trust, issuers) };
  const parts = { ...known, stops, trust, own, book, schedule, extended, handle };
  return parts;
}

/** What registries said before counts from the beginning. */
function followRegistries(
  doors: LookUpDoors & Pick<Doors, 'registryFiles' | 'registryRecord'>,
  snapshot: Snapshot,
  changed: () => Promise<void>,
): Registries {
  const lookUp = createLookUp(doors, () => snapshot.rules);
  const registries = createRegistries({ ...doors, lookUp, changed });
  registries.follow(snapshot.given);
  snapshot.rules = registries.place(snapshot.given);
  snapshot.routes = buildRoutes(snapshot.rules);
  return registries;
}
