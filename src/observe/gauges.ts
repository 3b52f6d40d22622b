import { CHANGE_CLASSES, type ChangeClass } from '../kernel/change.ts';
import { Gauge, type Registry } from 'prom-client';
import type { AgentName, CardDigest } from '../kernel/ids.ts';
import { KILL_KINDS, type KillKind } from '../kernel/kill.ts';
import { CARD_STATES, type CardState, SIGNATURE_VERDICTS, type SignatureVerdict } from '../kernel/outcome.ts';
import type { EpochMs } from '../kernel/units.ts';
import { type MetricName, named } from './metric-table.ts';

/** How one agent's card stands, as far as metrics show it. */
export interface CardGauge {
  readonly agent: AgentName;
  readonly state: CardState;
  readonly lastSuccess: EpochMs;
  readonly freshUntil: EpochMs;
  readonly staleSince: EpochMs;
  readonly signature: SignatureVerdict | null;
  readonly version: string | null;
  readonly protocolVersion: string | null;
  readonly digest: CardDigest | null;
  readonly pending: { readonly [Class in ChangeClass]?: number };
}

/** What is read at each scrape rather than counted. */
export interface GaugeSources {
  /** One per configured agent; asked once a scrape. */
  cards(): readonly CardGauge[];
  /** What waits of cards without a name, together; null where no rule lets any. */
  unnamed(): CardGauge['pending'] | null;
  /** Every key set that the configuration names. */
  keys(): readonly { readonly name: string; readonly lastSuccess: EpochMs }[];
  /** What the store holds, by kind. */
  cache(): Readonly<Record<string, { readonly entries: number; readonly bytes: number }>>;
  /** Callers for whom an extended card is held. */
  principals(): number;
  kills(): { readonly kinds: ReadonlySet<KillKind>; readonly persisted: boolean };
  config(): { readonly digest: string; readonly adoptedAt: EpochMs; readonly lastSuccessful: boolean };
}

/** What the running program is. */
export interface Build {
  readonly version: string;
  readonly node: string;
}

/** Everything that one scrape shows, read at one moment. */
interface Reading {
  readonly cards: ReturnType<GaugeSources['cards']>;
  readonly unnamed: ReturnType<GaugeSources['unnamed']>;
  readonly keys: ReturnType<GaugeSources['keys']>;
  readonly cache: ReturnType<GaugeSources['cache']>;
  readonly principals: number;
  readonly kills: ReturnType<GaugeSources['kills']>;
  readonly config: ReturnType<GaugeSources['config']>;
}

/** How things stand is read when it is asked for, since freshness changes by itself; nothing of the last scrape stays. */
export function createGauges(registry: Registry, sources: GaugeSources, build: Build): { read(): void } {
  const readAll = (): Reading => ({
    cards: sources.cards(),
    unnamed: sources.unnamed(),
    keys: sources.keys(),
    cache: sources.cache(),
    principals: sources.principals(),
    kills: sources.kills(),
    config: sources.config(),
  });
  let reading: Reading | undefined;
  const gauge: DefineGauge = (name, fill) => {
    const each = new Gauge({
      ...named(name),
      registers: [],
      collect() {
        this.reset();
        fill(this, (reading ??= readAll()));
      },
    });
    registry.registerMetric(each);
  };
  defineCardGauges(gauge);
  for (const unit of ['entries', 'bytes'] as const) {
    gauge(`cardea_cache_${unit}`, (each, { cache }) => {
      for (const [kind, held] of Object.entries(cache)) each.set({ kind }, held[unit]);
    });
  }
  gauge('cardea_keys_last_success_timestamp_seconds', (each, { keys }) => {
    for (const { name, lastSuccess } of keys) each.set({ keys: name }, lastSuccess / 1000);
  });
  gauge('cardea_kill_switch_active', (each, { kills }) => {
    for (const scope of KILL_KINDS) each.set({ scope }, kills.kinds.has(scope) ? 1 : 0);
  });
  gauge('cardea_principals_active', (each, { principals }) => each.set(principals));
  gauge('cardea_kill_persisted', (each, { kills }) => each.set(kills.persisted ? 1 : 0));
  gauge('cardea_config_last_reload_successful', (each, { config }) => each.set(config.lastSuccessful ? 1 : 0));
  gauge('cardea_config_last_reload_success_timestamp_seconds', (each, { config }) => each.set(config.adoptedAt / 1000));
  gauge('cardea_config_info', (each, { config }) => each.set({ digest: config.digest }, 1));
  gauge('cardea_build_info', (each) => each.set({ version: build.version, node: build.node }, 1));
  return { read: () => void (reading = readAll()) };
}

type DefineGauge = (name: MetricName, fill: (gauge: Gauge, reading: Reading) => void) => void;

function defineCardGauges(gauge: DefineGauge): void {
  const perCard = (name: MetricName, set: (gauge: Gauge, card: CardGauge) => void): void =>
    gauge(name, (each, { cards }) => {
      for (const card of cards) set(each, card);
    });
  perCard('cardea_card_last_success_timestamp_seconds', (each, { agent, lastSuccess }) =>
    each.set({ agent }, lastSuccess / 1000),
  );
  perCard('cardea_card_fresh_until_timestamp_seconds', (each, { agent, freshUntil }) =>
    each.set({ agent }, freshUntil / 1000),
  );
  perCard('cardea_card_stale_since_timestamp_seconds', (each, { agent, staleSince }) =>
    each.set({ agent }, staleSince / 1000),
  );
  perCard('cardea_card_state', (each, { agent, state: holds }) => {
    for (const state of CARD_STATES) each.set({ agent, state }, state === holds ? 1 : 0);
  });
  perCard('cardea_card_signature', (each, { agent, signature }) => {
    for (const verdict of SIGNATURE_VERDICTS) each.set({ agent, verdict }, verdict === signature ? 1 : 0);
  });
  gauge('cardea_card_pending_changes', (each, { cards, unnamed }) => {
    const others = unnamed === null ? [] : [{ agent: 'other', pending: unnamed }];
    for (const { agent, pending } of [...cards, ...others])
      for (const of of CHANGE_CLASSES) each.set({ agent, class: of }, pending[of] ?? 0);
  });
  perCard('cardea_card_info', (each, { agent, version, protocolVersion, digest }) => {
    if (digest === null) return;
    each.set({ agent, version: shortVersion(version), protocol_version: protocolVersion ?? '', digest }, 1);
  });
}

/** A version is a label, and an origin writes it: it is cut down to what a label can bear. */
const LONGEST_VERSION = 32;

const shortVersion = (version: string | null): string =>
  (version ?? '').replace(/[^0-9A-Za-z.+-]/g, '').slice(0, LONGEST_VERSION);
