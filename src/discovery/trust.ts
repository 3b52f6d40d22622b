import { identify } from '../card/key-identity.ts';
import type { KeySet } from '../card/keys.ts';
import { parseKeySet } from '../card/keyset.ts';
import type { PolicyDigest } from '../kernel/ids.ts';
import { type EpochMs, epochMs } from '../kernel/units.ts';
import type { AgentRule, KeySetRule, Rules } from '../policy/rules.ts';
import type { ArchivedKeySet, Clock } from '../ports.ts';
import { fromArchive, type KeyArchive } from './archived-keys.ts';
import type { FetchKeys, RemoteRule } from './fetch-keys.ts';
import { RemoteKeys } from './remote-keys.ts';

/** What a card of one agent is judged by now. */
export interface Basis {
  readonly sets: readonly KeySet[];
  /** Names the agent's rules and these keys together: a verdict under another one is reached again before it is served. */
  readonly policy: PolicyDigest;
}

/** The keys that may vouch for cards: which there are now, and the one way to get newer ones. */
export interface Trust {
  basis(agent: AgentRule): Basis;
  /** Asks for the agent's keys anew, as far as their cool-down allows. Documents of the configuration stay as they are. */
  renew(agent: AgentRule): Promise<void>;
  /** Fetches every set that was never asked for. */
  prefetch(): Promise<void>;
  /** Reads the key sets of another snapshot; nothing changes before the function that it resolves to is called. */
  prepare(rules: Rules): Promise<() => void>;
  /** When each named set was last had; 0 for never. */
  sets(): readonly { readonly name: string; readonly lastSuccess: EpochMs }[];
  /** Resolves when no keys are on their way. */
  settled(): Promise<void>;
  stop(): void;
}

interface Parts {
  readonly clock: Clock;
  readonly fetchKeys: FetchKeys;
  /** Where an earlier process has left its keys; null for nowhere. */
  readonly archive: KeyArchive | null;
}

/** Where one set is read from: the configuration holds it, or a URL does. */
type Source = { readonly from: 'document'; readonly set: KeySet } | { readonly from: 'url'; readonly keys: RemoteKeys };

interface KnownBasis extends Basis {
  readonly version: number;
  readonly until: EpochMs;
}

export const createTrust = (parts: Parts): Trust => new KeyTrust(parts);

const FOR_EVER = epochMs(Number.POSITIVE_INFINITY);

class KeyTrust implements Trust {
  readonly #parts: Parts;
  #sources: ReadonlyMap<KeySetRule, Source> = new Map();
  #rules: Rules | null = null;
  /** Counts what was learnt: a basis of an older count is made anew. */
  #version = 0;
  #archived: Promise<readonly ArchivedKeySet[]> | undefined;
  #bases = new WeakMap<AgentRule, KnownBasis>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** On the hit path: one look-up, and the clock only where a key or a set has an end. */
  basis(agent: AgentRule): Basis {
    const known = this.#bases.get(agent);
    const isToday = known !== undefined && known.version === this.#version;
    if (isToday && (known.until === FOR_EVER || this.#parts.clock.now() < known.until)) return known;
    const basis = this.#makeBasis(agent, this.#parts.clock.now());
    this.#bases.set(agent, basis);
    return basis;
  }

  async renew(agent: AgentRule): Promise<void> {
    const sources = agent.keySets.map((rule) => this.#sources.get(rule));
    await Promise.all(sources.flatMap((source) => (source?.from === 'url' ? [source.keys.renew()] : [])));
  }

  async prefetch(): Promise<void> {
    await Promise.all(this.#remotes().map((keys) => keys.renew()));
  }

  async prepare(rules: Rules): Promise<() => void> {
    const before = new Map([...this.#sources].map(([rule, source]) => [identityOf(rule), source]));
    const sources = new Map<KeySetRule, Source>();
    for (const rule of rules.keySets)
      sources.set(rule, this.#sources.get(rule) ?? (await this.#sourceOf(rule, before.get(identityOf(rule)))));
    return () => this.#follow(rules, sources);
  }

  #follow(rules: Rules, sources: ReadonlyMap<KeySetRule, Source>): void {
    const remotes = this.#remotes();
    this.#rules = rules;
    this.#sources = sources;
    this.#version += 1;
    const kept = new Set(this.#remotes());
    for (const keys of remotes) if (!kept.has(keys)) keys.stop();
    for (const [rule, source] of sources)
      if (source.from === 'url' && rule.source.from === 'url') source.keys.follow({ ...rule, source: rule.source });
  }

  sets(): ReturnType<Trust['sets']> {
    return [...this.#sources].flatMap(([{ name }, source]) =>
      source.from === 'url' ? [{ name, lastSuccess: source.keys.lastSuccess() }] : [],
    );
  }

  async settled(): Promise<void> {
    await Promise.all(this.#remotes().map((keys) => keys.settled()));
  }

  stop(): void {
    for (const keys of this.#remotes()) keys.stop();
  }

  #makeBasis(agent: AgentRule, now: EpochMs): KnownBasis {
    const sets = agent.keySets.map((rule) => this.#readSet(rule, now));
    const { policy, until } = identify(agent.policy, sets, now);
    const ends = agent.keySets.map((rule) => this.#usableUntil(rule)).filter((end) => end > now);
    return { sets, policy, version: this.#version, until: epochMs(Math.min(until, ...ends)) };
  }

  /** A set of another snapshot has nothing to say any more. */
  #readSet(rule: KeySetRule, now: EpochMs): KeySet {
    const source = this.#sources.get(rule);
    switch (source?.from) {
      case 'document':
        return source.set;
      case 'url':
        return source.keys.read(now);
      case undefined:
        return { name: rule.name, keys: [], revoked: rule.revoked, fetchedAt: null, usable: false };
    }
  }

  #usableUntil(rule: KeySetRule): EpochMs {
    const source = this.#sources.get(rule);
    return source?.from === 'url' ? source.keys.usableUntil() : FOR_EVER;
  }

  async #sourceOf(rule: KeySetRule, before: Source | undefined): Promise<Source> {
    if (rule.source.from === 'document') return this.#readDocument(rule, rule.source.document);
    const remote: RemoteRule = { ...rule, source: rule.source };
    if (before?.from === 'url') return before;
    const { clock, fetchKeys } = this.#parts;
    const maxStale = (): Rules['keysMaxStale'] => this.#rules?.keysMaxStale ?? NO_TIME;
    const keys = new RemoteKeys(remote, { clock, fetchKeys, maxStale, changed: this.#changed });
    const archived = await fromArchive(remote, await this.#loadArchive());
    if (archived !== undefined) keys.restore(archived);
    return { from: 'url', keys };
  }

  /** Read once: whatever this process fetches is newer. */
  #loadArchive(): Promise<readonly ArchivedKeySet[]> {
    return (this.#archived ??= this.#parts.archive?.loadKeySets() ?? Promise.resolve([]));
  }

  readonly #changed = (): void => void (this.#version += 1);

  async #readDocument({ name, revoked }: KeySetRule, document: Uint8Array): Promise<Source> {
    const reading = await parseKeySet(document, { name, revoked, fetchedAt: this.#parts.clock.now() });
    // Whoever loads the configuration has read it before.
    if (!reading.ok) throw new Error(`key set ${name}: ${reading.why}`);
    return { from: 'document', set: reading.set };
  }

  #remotes(): readonly RemoteKeys[] {
    return [...this.#sources.values()].flatMap((source) => (source.from === 'url' ? [source.keys] : []));
  }
}

const NO_TIME = 0 as Rules['keysMaxStale'];

/** What must be the same for keys that were fetched to be used on: the URL, the permission that they came by, and their scope. */
const identityOf = ({ name, jku, source }: KeySetRule): string =>
  source.from === 'url' ? JSON.stringify([name, jku, source.url, source.egress]) : '';
