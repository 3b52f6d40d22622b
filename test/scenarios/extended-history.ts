import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { type Discovery, createDiscovery } from '../../src/discovery/discovery.ts';
import { type KillSwitch, createKillSwitch } from '../../src/discovery/kill-switch.ts';
import { type Revoke, createRevoke } from '../../src/discovery/revoke.ts';
import { fieldValue } from '../../src/http/fields.ts';
import type { Answer } from '../../src/kernel/answer.ts';
import type { Ask } from '../../src/kernel/ask.ts';
import { tag } from '../../src/kernel/ids.ts';
import type { RevocationBook } from '../../src/ports/callers.ts';
import { bytes } from '../../src/kernel/units.ts';
import type { Rules } from '../../src/policy/rules.ts';
import { createExtendedStore } from '../../src/store/extended.ts';
import { openKills } from '../../src/store/kills.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import { createRegistryFiles } from '../../src/store/registry-files.ts';
import { openRevocations } from '../../src/store/revocations.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { askOf, fieldsOf, knownBy, namesTenant, requestOf } from './extended-asks.ts';
import { OWN_CREDENTIAL, Origins } from './extended-origins.ts';
import type { Person } from './extended-people.ts';
import { type Moment, type Reading, Readings, type Setting } from './extended-readings.ts';
import { SETTINGS, START, type Stage, createStage } from './extended-stage.ts';
import type { Play, Step } from './extended-steps.ts';

/** Histories of callers, agents, operators, failures and time around the whole use case, in process and without a socket. */

/** Plays histories one after the other, and says how much was read in them. */
export async function createTheatre() {
  const stage = await createStage();
  const totals = { read: 0, kept: 0 };
  return {
    totals,
    async play({ cast, steps }: Play): Promise<void> {
      const history = await History.begin(stage, cast);
      try {
        for (const step of steps) await history.take(step);
        await history.end();
      } finally {
        await history.stop();
      }
      totals.read += history.readings.read;
      totals.kept += history.readings.kept;
    },
  };
}

/** What outlives a restart elsewhere, and here nothing. */
interface Books {
  readonly kills: Awaited<ReturnType<typeof openKills>>['book'];
  readonly revocations: RevocationBook;
}

class History {
  readonly readings = new Readings();
  readonly #stage: Stage;
  readonly #cast: readonly number[];
  readonly #clock = new FakeClock(START);
  readonly #origins: Origins;
  readonly #discovery: Discovery;
  readonly #kills: KillSwitch;
  readonly #revoke: Revoke;
  readonly #open = new Set<Promise<void>>();
  readonly #failures: unknown[] = [];
  readonly #seen = new Map<Person, number>();
  #order = 0;
  #setting = 0;

  private constructor(stage: Stage, cast: readonly number[], { kills, revocations }: Books) {
    this.#stage = stage;
    this.#cast = cast;
    const { observer, ledger, cardKey, rules, jwks } = stage;
    const clock = this.#clock;
    this.#origins = new Origins(this.readings, () => this.#now(), jwks);
    const maxBytes = bytes(16_000_000);
    const extended = createExtendedStore({ clock, observer, maxBytes });
    const discovery = createDiscovery(
      {
        clock,
        observer,
        ledger,
        kills,
        cardKey,
        revocations,
        archive: null,
        fetcher: this.#origins,
        store: createMemoryStore({ clock, observer, maxBytes, pinned: (entry) => discovery.isPinned(entry) }),
        extended,
        secrets: { read: async () => OWN_CREDENTIAL.replace('Bearer ', '') },
        coder: { code: async () => [] },
        registryFiles: createRegistryFiles(null),
        registryRecord: { last: () => undefined, doubt: () => null, save: async () => null },
        registryReaders: { 'ai-catalog': async () => new Map() },
        cut: () => undefined,
      },
      rules[0] as Rules,
    );
    this.#discovery = discovery;
    this.#revoke = createRevoke({ clock, revocations, extended, ledger });
    const cut = (scope: Parameters<Discovery['kill']>[0]): Promise<void> => discovery.kill(scope);
    const resume = (scope: Parameters<Discovery['kill']>[0]): void => discovery.resume(scope);
    this.#kills = createKillSwitch({ clock, kills, ledger, observer, cut, resume, fileThere: async () => false });
  }

  static async begin(stage: Stage, cast: readonly number[]): Promise<History> {
    const clock = new FakeClock(START);
    const [{ book }, { revocations }] = await Promise.all([openKills(null, clock), openRevocations(null, clock)]);
    const history = new History(stage, cast, { kills: book, revocations });
    await history.#discovery.prefetch(0).catch(() => undefined);
    return history;
  }

  /** The next place in the order of events. */
  #now(): Moment {
    this.#order += 1;
    return { order: this.#order, time: this.#clock.now(), setting: SETTINGS[this.#setting] as Setting };
  }

  #person(role: number): Person {
    return this.#stage.people[this.#cast[role] ?? 0] as Person;
  }

  async take(step: Step): Promise<void> {
    await this.#do(step);
    assert.deepEqual(this.#origins.faults, []);
    if (this.#failures.length > 0) throw this.#failures[0];
  }

  async #do(step: Step): Promise<void> {
    switch (step.does) {
      case 'ask':
        return this.#ask(step);
      case 'behave':
        return this.#origins.behave(step.agent, step.manner);
      case 'release':
        this.#origins.release(step.which);
        return this.#settle();
      case 'logout':
        return this.#logout(this.#person(step.who));
      case 'purge':
        if (!step.soft) this.readings.end(this.#now().order, `purge ${step.scope}`, coveredBy(step.scope));
        return void (await this.#discovery.purge([tag(step.scope)], step.soft));
      case 'kill':
        this.readings.kill(step.scope, this.#now().order, coveredBy(step.scope));
        await this.#kills.engage({ scope: tag(step.scope), reason: 'test', by: 'admin' });
        return this.#settle();
      case 'revoke':
        return this.#takeBack(this.#person(step.who), step.all);
      case 'rotate':
        this.#origins.rotate(step.to);
        return this.#wait(step.seconds);
      case 'lift':
        return this.#lift();
      case 'reload':
        this.#setting = 1 - this.#setting;
        await this.#discovery.adopt(this.#stage.rules[this.#setting] as Rules);
        return this.#settle();
      case 'publish':
        return this.#origins.publish(step.agent);
      case 'wait':
        return this.#wait(step.seconds);
    }
  }

  async #ask(step: Extract<Step, { does: 'ask' }>): Promise<void> {
    const shown = this.#person(step.shown);
    const proxy = step.proxy === null ? null : this.#person(step.proxy);
    const who = knownBy(shown, proxy);
    // Signatures are checked off this thread: afterwards nothing that the request does leaves it.
    await this.#known(who);
    const { tenant, extensions } = step;
    // Whoever shows the agent nothing gets a card where Cardea shows something of its own.
    const agent = shown.header === '' ? 'vault' : step.agent;
    const version = step.operation.endsWith('0.3') ? '0.3' : '1.0';
    const reading: Reading = {
      who,
      shown,
      agent,
      tenant: namesTenant(step) ? tenant : '',
      version,
      extensions,
      began: this.#now(),
    };
    this.readings.begin(reading);
    const shows = { credentials: fieldsOf(who, shown), peer: who.peer };
    const request = requestOf({ ...step, agent }, shows, this.readings.tags());
    const answered = this.#origins
      .askedFor(reading, async () => this.#handle(request))
      .then((answer) => this.#look(reading, answer))
      .catch((error: unknown) => void this.#failures.push(error))
      .finally(() => void this.#open.delete(answered));
    this.#open.add(answered);
    await this.#settle();
  }

  async #known(who: Person): Promise<void> {
    const known = this.#clock.now();
    if (this.#seen.get(who) === known) return;
    this.#seen.set(who, known);
    await this.#handle({ ...askOf('GET', '/nowhere', fieldsOf(who, who)), peer: who.peer });
  }

  async #handle(request: Ask): Promise<Answer> {
    return this.#discovery.handle(request);
  }

  #look(reading: Reading, { status, fields, body }: Answer): void {
    const text = body instanceof Uint8Array ? new TextDecoder().decode(body) : '';
    const seen = { status, etag: fieldValue(fields, 'etag'), text: `${fields.join('\n')}\n${text}` };
    this.readings.look(reading, seen, this.#now());
  }

  async #logout(who: Person): Promise<void> {
    const { status } = await this.#handle({ ...askOf('POST', '/logout', fieldsOf(who, who)), peer: who.peer });
    const isSame = (each: Reading): boolean => each.who.vouched === who.vouched && each.who.name === who.name;
    // Whoever is refused or stopped has ended nothing.
    if (status === 204) this.readings.end(this.#now().order, 'logout', isSame);
    await this.#settle();
  }

  /** In force when the order returns; what it is written to waits for nobody here. */
  async #takeBack({ id, tenant }: Person, all: Extract<Step, { does: 'revoke' }>['all']): Promise<void> {
    const kind = all === 'its own' ? 'principal' : 'tenant';
    const name = kind === 'principal' ? id : tenant;
    // Whom only a hash names is revoked by it; no hash is known out here.
    if (name === null) return;
    const scope = `${kind}:${name}`;
    this.readings.revoke(scope, this.#now(), coveredBy(scope));
    const outcome = await this.#revoke({ kind, name, reason: 'test', by: 'admin' });
    assert.ok(outcome.ok);
    return this.#settle();
  }

  async #wait(seconds: number): Promise<void> {
    await this.#clock.advance(seconds * 1_000);
    return this.#settle();
  }

  async #lift(): Promise<void> {
    for (const { id, scope } of this.#kills.active()) {
      await this.#kills.lift({ id, reason: 'test', by: 'admin' });
      this.readings.lift(scope);
    }
    await this.#settle();
  }

  /** Waits for every answer that no slow origin holds up. */
  async #settle(): Promise<void> {
    if (this.#origins.waiting === 0) await Promise.race([Promise.all(this.#open), this.#stuck()]);
    for (let turns = 0; turns < 3; turns += 1) await turn();
  }

  async #stuck(): Promise<void> {
    while (this.#origins.waiting === 0 && this.#open.size > 0) await turn();
  }

  /** Everything that is still on its way arrives, and is looked at. */
  async end(): Promise<void> {
    while (this.#origins.waiting > 0) await this.take({ does: 'release', which: 0 });
    await this.take({ does: 'wait', seconds: 1 });
  }

  async stop(): Promise<void> {
    const stopped = this.#discovery.stop();
    while (this.#origins.waiting > 0) this.#origins.release(0);
    // Whoever waits for somebody else's fetch waits by the clock.
    await this.#clock.advance(60_000);
    await stopped;
  }
}

function coveredBy(scope: string): (reading: Reading) => boolean {
  const [, kind, name] = /^(\w+):?(.*)$/.exec(scope) ?? [];
  switch (kind) {
    case 'tenant':
      return ({ who }) => who.tenant === name;
    case 'principal':
      return ({ who }) => who.id === name;
    case 'agent':
      return ({ agent }) => agent === name;
    default:
      return () => true;
  }
}
