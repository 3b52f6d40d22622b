import type { Url } from '../kernel/ids.ts';
import type { RegistryReceipt } from '../kernel/receipt.ts';
import { type Outcome, refuse, refused } from '../kernel/refusal.ts';
import type { EpochMs } from '../kernel/units.ts';
import { isSame } from '../policy/keep-unchanged.ts';
import { placeAgents, type Said } from '../policy/registered.ts';
import type { AgentRule, Registration, RegistryRule, Rules } from '../policy/rules.ts';
import type { Clock, Ledger, Observer } from '../ports.ts';
import type { RegistryFiles, RegistryRecord } from '../ports/registries.ts';
import { FollowedRegistry, sourceOf } from './followed-registry.ts';
import type { LookUp } from './registry-lookup.ts';

/** Every registry that is configured, and what they say of the agents that name them. */
export interface Registries {
  /** Follows the registries of this configuration from now on, and no others. */
  follow(given: Rules): void;
  /** Lays what they say now over a configuration. */
  place(given: Rules): Rules;
  /** Writes down what they say otherwise than before, and from where cards are taken now. */
  note(before: Rules, next: Rules): void;
  /** Begins to read them at their pace. */
  begin(): void;
  /** Reads one now; resolves when what it says is in force, or why it cannot be had. */
  lookUp(name: string): Promise<Outcome<null>>;
  /** Resolves when the agent's registry has been asked once, whatever came of it. */
  firstHeard(agent: AgentRule): Promise<void>;
  /** Resolves when all have been asked once. */
  allHeard(): Promise<void>;
  /** When each was last had; 0 for never. */
  list(): readonly { readonly name: string; readonly lastSuccess: EpochMs }[];
  /** Resolves when none is being read. */
  settled(): Promise<void>;
  stop(): void;
}

interface Parts {
  readonly clock: Clock;
  readonly ledger: Pick<Ledger, 'issue' | 'record'>;
  readonly observer: Observer;
  readonly lookUp: LookUp;
  readonly registryFiles: RegistryFiles;
  readonly registryRecord: RegistryRecord;
  /** Puts in force what is said otherwise than before. */
  readonly changed: () => Promise<void>;
}

export const createRegistries = (parts: Parts): Registries => new Followed(parts);

class Followed implements Registries {
  readonly #parts: Parts;
  readonly #registries = new Map<string, { readonly source: string; readonly followed: FollowedRegistry }>();
  #hasBegun = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  follow({ registries, agents }: Rules): void {
    const wanted = new Map(registries.map((rule) => [rule.name, rule]));
    for (const [name, { source, followed }] of this.#registries) {
      const rule = wanted.get(name);
      if (rule !== undefined && sourceKey(rule) === source) continue;
      followed.stop();
      this.#registries.delete(name);
    }
    for (const rule of registries) this.#followOne(rule, identifiersIn(agents.values(), rule.name));
  }

  place(given: Rules): Rules {
    const now = this.#parts.clock.now();
    return placeAgents(given, (entry) => this.#says(entry, now));
  }

  note(before: Rules, next: Rules): void {
    for (const [name, { followed }] of this.#registries) followed.placed(placesIn(next.agents.values(), name));
    for (const agent of next.agents.values()) {
      const { registered, cards } = agent;
      if (registered === null) continue;
      const [place] = cards;
      const was = before.agents.get(agent.name);
      if (was?.cards[0] === place && isSame(was?.registered, registered)) continue;
      this.#parts.ledger.record(this.#receiptOf(agent, registered));
    }
  }

  begin(): void {
    this.#hasBegun = true;
    for (const { followed } of this.#registries.values()) followed.begin();
  }

  async lookUp(name: string): Promise<Outcome<null>> {
    return this.#followed(name)?.lookUp() ?? refused(refuse('not-found', 'No registry of this name is configured.'));
  }

  async firstHeard({ registered }: AgentRule): Promise<void> {
    if (registered !== null && this.#hasBegun) await this.#followed(registered.registry)?.firstHeard;
  }

  async allHeard(): Promise<void> {
    await Promise.all([...this.#registries.values()].map(({ followed }) => followed.firstHeard));
  }

  list(): ReturnType<Registries['list']> {
    return [...this.#registries].map(([name, { followed }]) => ({ name, lastSuccess: followed.lastSuccess }));
  }

  async settled(): Promise<void> {
    for (const { followed } of this.#registries.values()) await followed.settled();
  }

  stop(): void {
    for (const { followed } of this.#registries.values()) followed.stop();
  }

  #followed(name: string): FollowedRegistry | undefined {
    return this.#registries.get(name)?.followed;
  }

  #says(entry: Registration, now: EpochMs): Said {
    const unasked: Said = { status: 'unknown', card: null, said: 'it was not asked yet', place: null };
    return this.#followed(entry.registry)?.says(entry, now) ?? unasked;
  }

  #followOne(rule: RegistryRule, identifiers: ReadonlySet<string>): void {
    const known = this.#followed(rule.name);
    if (known !== undefined) return known.follow(rule, identifiers);
    const followed = new FollowedRegistry(rule, identifiers, this.#parts);
    this.#registries.set(rule.name, { source: sourceKey(rule), followed });
    if (this.#hasBegun) followed.begin();
  }

  #receiptOf({ name: agent, cards }: AgentRule, registered: Registration): RegistryReceipt {
    const { clock, ledger } = this.#parts;
    const { registry, id: entry, status, action, said, misplaced } = registered;
    const { code = null, detail: why = null } = misplaced ?? {};
    const url = cards[0] ?? null;
    return {
      kind: 'registry',
      id: ledger.issue(),
      at: clock.now(),
      agent,
      registry,
      entry,
      status,
      action,
      said,
      url,
      code,
      why,
    };
  }
}

/** A registry that is somewhere else, or read in another way, is another one. */
const sourceKey = (rule: RegistryRule): string => `${rule.kind} ${sourceOf(rule)}`;

/** From where the cards of a registry's entries are taken. */
const placesIn = (agents: Iterable<AgentRule>, registry: string): ReadonlyMap<string, Url> =>
  new Map(
    [...agents].flatMap(({ registered, cards: [place] }) =>
      registered?.registry === registry && place !== undefined ? [[registered.id, place] as const] : [],
    ),
  );

const identifiersIn = (agents: Iterable<AgentRule>, registry: string): ReadonlySet<string> =>
  new Set([...agents].flatMap(({ registered }) => (registered?.registry === registry ? [registered.id] : [])));
