import assert from 'node:assert/strict';
import type { IssuerKey, Person } from './extended-people.ts';

/*
 * Who may read what, held against what was read. Nothing here knows how Cardea keeps cards: every body that an origin hands out bears
 * a number, the number says for whom and under what claims it was made, and whoever gets the number must be that one.
 */

/** One request as it was made. */
export interface Reading {
  /** By whom Cardea is to know the caller. */
  readonly who: Person;
  /** What it lets the origin see. */
  readonly shown: Person;
  readonly agent: string;
  readonly tenant: string;
  readonly version: string;
  readonly extensions: string;
  readonly began: Moment;
}

/** A place in the order of events, and what the clock said there. */
export interface Moment {
  readonly order: number;
  readonly time: number;
  /** Where agents are, and by what they are asked, at that moment. */
  readonly setting: Setting;
}

/** What one configuration says of the agents, as far as reading depends on it. */
export interface Setting {
  readonly hosts: Readonly<Record<string, string>>;
  /** Agents that are shown Cardea's own credential. */
  readonly own: readonly string[];
  /** Agents that only one tenant may see. */
  readonly hidden: Readonly<Record<string, string>>;
}

/** One body that an origin has handed out. */
interface Stamp {
  readonly reading: Reading;
  readonly host: string;
  readonly own: boolean;
  readonly began: Moment;
  /** When the origin gave it away. */
  readonly made: Moment;
}

/** An answer as its reader sees it, fields included. */
interface Seen {
  readonly status: number;
  readonly etag: string | undefined;
  readonly text: string;
}

/** Something after which bodies of before are nobody's any more. */
interface End {
  readonly order: number;
  readonly why: string;
  covers(reading: Reading): boolean;
}

interface Revoked {
  readonly scope: string;
  readonly time: number;
  covers(reading: Reading): boolean;
}

export class Readings {
  readonly #stamps: Stamp[] = [];
  readonly #tags = new Map<string, number>();
  readonly #ends: End[] = [];
  readonly #kills = new Map<string, End['covers']>();
  readonly #revoked: Revoked[] = [];
  /** The issuer's keys that Cardea has seen to be gone, and since when. */
  readonly #gone = new Map<IssuerKey, number>();
  readonly #newest = new Map<string, number>();
  /** Requests whose token is newer than all of its name and tenant before, and which of them have been answered; in order. */
  readonly #news = new Set<Reading>();
  readonly #answered = new Set<Reading>();
  /** How many bodies were read, and how many of them had been obtained for an earlier request. */
  read = 0;
  kept = 0;

  /** An origin makes a body; the answer is its mark. */
  stamp(stamp: Stamp): string {
    return `stamp-${this.#stamps.push(stamp) - 1};`;
  }

  /** Bodies that were asked for before this moment are no answer to those it covers. */
  end(order: number, why: string, covers: End['covers']): void {
    this.#ends.push({ order, why, covers });
  }

  revoke(scope: string, { order, time }: Moment, covers: End['covers']): void {
    this.end(order, `revocation of ${scope}`, covers);
    this.#revoked.push({ scope, time, covers });
  }

  /** Cardea has seen a set of keys without this one: it vouches for nothing any more, and for nothing that it has vouched for. */
  withdraw(key: IssuerKey, order: number): void {
    if (this.#gone.has(key)) return;
    this.#gone.set(key, order);
    this.end(order, `the end of the ${key} key`, (each) => each.who.key === key);
  }

  kill(scope: string, order: number, covers: End['covers']): void {
    this.end(order, `kill ${scope}`, covers);
    this.#kills.set(scope, covers);
  }

  lift(scope: string): void {
    this.#kills.delete(scope);
  }

  /** Entity tags that somebody has seen, whoever's they are. */
  tags(): readonly string[] {
    return [...this.#tags.keys()];
  }

  /** A request begins; whether its token is newer than all of its name and tenant before is known now. */
  begin(reading: Reading): void {
    const { who } = reading;
    if (!who.vouched || who.issued === null) return;
    const key = JSON.stringify([who.name, who.tenant]);
    const newest = this.#newest.get(key) ?? Number.NEGATIVE_INFINITY;
    if (who.issued <= newest) return;
    this.#newest.set(key, who.issued);
    this.#news.add(reading);
  }

  /** Looks at one whole answer: everything that its reader can see. */
  look(reading: Reading, { status, etag, text }: Seen, now: Moment): void {
    const found = [...text.matchAll(/stamp-(\d+);/g)].map(([, number]) => Number(number));
    const [only] = found;
    if (etag !== undefined && only !== undefined) this.#tags.set(etag, only);
    // "Not modified" says that the body is the one of that tag.
    const told = status === 304 && etag !== undefined ? this.#tags.get(etag) : undefined;
    for (const number of told === undefined ? found : [...found, told]) this.#check(reading, number, now);
    this.#note(reading, found.length > 0);
  }

  #check(reading: Reading, number: number, now: Moment): void {
    const stamp = this.#stamps[number];
    assert.ok(stamp, `a body that no origin has made: ${number}`);
    this.read += 1;
    assert.deepEqual(
      partitionOf(reading),
      partitionOf(stamp.reading),
      'a body that was obtained for another partition',
    );
    assert.deepEqual(shownBy(reading, stamp.own), shownBy(stamp.reading, stamp.own), 'obtained by another credential');
    const settings = [reading.began.setting, now.setting];
    assert.ok(
      settings.some(({ hosts }) => hosts[reading.agent] === stamp.host),
      `from ${stamp.host}, a place of before`,
    );
    assert.ok(
      settings.some(({ own }) => own.includes(reading.agent) === stamp.own),
      'by a way of asking of before',
    );
    assert.ok(
      settings.some((each) => maySee(each, reading)),
      'an agent that is hidden from the reader',
    );
    this.#inTime(reading, stamp);
    const ended = this.#ends.find((end) => end.order > stamp.began.order && end.covers(stamp.reading));
    assert.equal(ended?.why, undefined, 'a body of a session that is over');
    for (const { scope, time, covers } of this.#revoked) {
      const isBefore = reading.who.issued === null || reading.who.issued <= time;
      assert.ok(!covers(reading) || !isBefore, `in spite of the revocation of ${scope}`);
    }
    const gone = reading.who.key === null ? undefined : this.#gone.get(reading.who.key);
    assert.ok(gone === undefined || reading.began.order < gone, 'by a token whose key is gone');
    for (const [scope, covers] of this.#kills) assert.ok(!covers(reading), `in spite of the kill of ${scope}`);
  }

  #inTime(reading: Reading, stamp: Stamp): void {
    const { order, time } = reading.began;
    const { who } = reading;
    if (who.vouched && who.ends !== null) assert.ok(time < who.ends + SKEW, 'by a token that is over');
    // Whoever waited for it while it was made has it from the origin.
    if (stamp.made.order > order) return;
    this.kept += 1;
    for (const end of [...endsOf(reading, stamp.own), ...endsOf(stamp.reading, stamp.own)]) {
      assert.ok(time < end, 'kept beyond the end of a token');
    }
    assert.ok(time < stamp.began.time + LONGEST_SESSION, 'kept beyond the session');
  }

  /** A newer token of one name and tenant that says something else ends what was obtained by the earlier one. */
  #note(reading: Reading, isAnswered: boolean): void {
    const { who, began } = reading;
    // Whether a request that was refused has been heard is not known from outside.
    if (!isAnswered || !this.#news.has(reading)) return;
    const latest = [...this.#answered].findLast((each) => isSameSession(each, reading));
    if (latest !== undefined && latest.began.order > began.order) return;
    this.#answered.add(reading);
    if (latest === undefined || latest.who.authorisation === who.authorisation) return;
    // One between the two that is not answered yet may have been heard, and may have said the same as this one.
    const first = [...this.#news].find(
      (each) =>
        isSameSession(each, reading) &&
        each.began.order > latest.began.order &&
        each.who.authorisation === who.authorisation,
    );
    this.end(
      (first ?? reading).began.order,
      'other rights in a newer token',
      (each) => each.who.vouched && each.who.name === who.name,
    );
  }
}

const isSameSession = (one: Reading, other: Reading): boolean =>
  one.who.name === other.who.name && one.who.tenant === other.who.tenant;

const SKEW = 30_000;
const LONGEST_SESSION = 8 * 3_600_000;

/** All that an answer may differ by. */
const partitionOf = ({ agent, tenant, version, extensions, who }: Reading) => ({
  agent,
  tenant,
  version,
  extensions,
  rights: who.rights,
});

/** A credential that the caller is known by may be renewed; any other that is handed on must be the very same. */
const shownBy = ({ who, shown }: Reading, own: boolean): string =>
  own || (who.vouched && who.header === shown.header) ? '' : shown.header;

const endsOf = ({ who, shown }: Reading, own: boolean): number[] =>
  [who.vouched ? who.ends : null, own ? null : shown.ends].filter((end) => end !== null);

const maySee = ({ hidden }: Setting, { agent, who }: Reading): boolean =>
  hidden[agent] === undefined || hidden[agent] === who.tenant;
