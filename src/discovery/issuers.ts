import type { KeySet } from '../card/keys.ts';
import { type EpochMs, epochMs } from '../kernel/units.ts';
import type { IssuerRule, Rules } from '../policy/rules.ts';
import type { TokenKey } from '../policy/verify-token.ts';
import type { Clock } from '../ports.ts';
import { fromArchive, type KeyArchive } from './archived-keys.ts';
import type { FetchKeys } from './fetch-keys.ts';
import { RemoteKeys } from './remote-keys.ts';

/** A configured issuer, with the keys that it publishes. */
export interface Issuer {
  readonly rule: IssuerRule;
  /** What may verify its tokens now; null where its keys are too old or were never had. */
  keys(now: EpochMs): readonly TokenKey[] | null;
  /** True while it publishes the key with this thumbprint. */
  holds(thumbprint: string, now: EpochMs): boolean;
  /** Asks for its keys anew, as far as their cool-down allows. */
  renew(): Promise<void>;
}

/** Whose tokens name callers: exactly those that are configured, and their keys come from nowhere else. */
export interface Issuers {
  find(iss: unknown): Issuer | undefined;
  /** True where any issuer is configured. */
  any(): boolean;
  /** Reads the issuers of another snapshot; nothing changes before the function that it resolves to is called. */
  prepare(rules: Rules): Promise<() => void>;
  prefetch(): Promise<void>;
  sets(): readonly { readonly name: string; readonly lastSuccess: EpochMs }[];
  settled(): Promise<void>;
  stop(): void;
}

interface Parts {
  readonly clock: Clock;
  readonly fetchKeys: FetchKeys;
  readonly archive: KeyArchive | null;
  /** Told of each key that an issuer has taken away: what it vouched for ends. */
  readonly withdrawn: (thumbprint: string) => void;
}

export const createIssuers = (parts: Parts): Issuers => new KnownIssuers(parts);

class KnownIssuers implements Issuers {
  readonly #parts: Parts;
  #issuers: ReadonlyMap<string, PublishedIssuer> = new Map();
  #maxStale: Rules['keysMaxStale'] = NO_TIME;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  find(iss: unknown): Issuer | undefined {
    return typeof iss === 'string' ? this.#issuers.get(iss) : undefined;
  }

  any(): boolean {
    return this.#issuers.size > 0;
  }

  async prepare(rules: Rules): Promise<() => void> {
    const next = new Map<string, PublishedIssuer>();
    for (const rule of rules.issuers) {
      const before = this.#issuers.get(rule.issuer);
      const isSame = before !== undefined && JSON.stringify(before.rule) === JSON.stringify(rule);
      next.set(rule.issuer, isSame ? before : await this.#open(rule));
    }
    return () => this.#follow(rules, next);
  }

  #follow({ keysMaxStale }: Rules, next: ReadonlyMap<string, PublishedIssuer>): void {
    this.#maxStale = keysMaxStale;
    // What was read by other claims, or vouched for by an issuer that is gone, has to be found out anew.
    for (const [name, issuer] of this.#issuers) if (next.get(name) !== issuer) issuer.end();
    this.#issuers = next;
    for (const issuer of next.values()) issuer.look(this.#parts.clock.now());
  }

  async prefetch(): Promise<void> {
    await Promise.all([...this.#issuers.values()].map((issuer) => issuer.renew()));
  }

  sets(): ReturnType<Issuers['sets']> {
    return [...this.#issuers].map(([name, { remote }]) => ({ name, lastSuccess: remote.lastSuccess() }));
  }

  async settled(): Promise<void> {
    await Promise.all([...this.#issuers.values()].map(({ remote }) => remote.settled()));
  }

  stop(): void {
    for (const { remote } of this.#issuers.values()) remote.stop();
  }

  async #open(rule: IssuerRule): Promise<PublishedIssuer> {
    const { clock, fetchKeys, archive, withdrawn } = this.#parts;
    const changed = (): void => opened.look(clock.now());
    const remote = new RemoteKeys(rule.keys, { clock, fetchKeys, maxStale: () => this.#maxStale, changed });
    const opened = new PublishedIssuer(rule, remote, withdrawn);
    const archived = archive === null ? undefined : await fromArchive(rule.keys, await archive.loadKeySets());
    if (archived !== undefined) remote.restore(archived);
    opened.look(clock.now());
    return opened;
  }
}

const NO_TIME = 0 as Rules['keysMaxStale'];

class PublishedIssuer implements Issuer {
  readonly rule: IssuerRule;
  readonly remote: RemoteKeys;
  readonly #withdrawn: (thumbprint: string) => void;
  #set: KeySet;
  #thumbprints: ReadonlySet<string>;

  constructor(rule: IssuerRule, remote: RemoteKeys, withdrawn: (thumbprint: string) => void) {
    this.rule = rule;
    this.remote = remote;
    this.#withdrawn = withdrawn;
    this.#set = remote.read(epochMs(0));
    this.#thumbprints = new Set();
  }

  keys(now: EpochMs): readonly TokenKey[] | null {
    return this.#isUsable(now) ? this.#set.keys : null;
  }

  holds(thumbprint: string, now: EpochMs): boolean {
    return this.#isUsable(now) && this.#thumbprints.has(thumbprint);
  }

  renew(): Promise<void> {
    return this.remote.renew();
  }

  /** Reads what the set says after an attempt to renew it. */
  look(now: EpochMs): void {
    this.#set = this.remote.read(now);
    const before = this.#thumbprints;
    this.#thumbprints = new Set(this.#set.keys.map(({ thumbprint }) => thumbprint));
    for (const each of before) if (!this.#thumbprints.has(each)) this.#withdrawn(each);
  }

  end(): void {
    this.remote.stop();
    for (const each of this.#thumbprints) this.#withdrawn(each);
  }

  #isUsable(now: EpochMs): boolean {
    return this.#set.fetchedAt !== null && now < this.remote.usableUntil();
  }
}
