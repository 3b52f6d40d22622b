import { CHANGE_CLASSES, type ChangeClass } from '../kernel/change.ts';
import type { Registry } from 'prom-client';
import type { AgentName, CardDigest } from '../kernel/ids.ts';
import { KILL_KINDS, type KillKind } from '../kernel/kill.ts';
import { CARD_STATES, type CardState, SIGNATURE_VERDICTS, type SignatureVerdict } from '../kernel/outcome.ts';
import type { EpochMs } from '../kernel/units.ts';
import type { MetricName } from './metric-table.ts';
import { type Show, showGauge } from './shown.ts';

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
  /** Every registry that is configured. */
  registries(): readonly { readonly name: string; readonly lastSuccess: EpochMs }[];
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
  readonly registries: ReturnType<GaugeSources['registries']>;
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
    registries: sources.registries(),
    kills: sources.kills(),
    config: sources.config(),
  });
  let reading: Reading | undefined;
  const gauge: DefineGauge = (name, fill) => showGauge(registry, name, (show) => fill(show, (reading ??= readAll())));
  defineCardGauges(gauge);
  for (const unit of ['entries', 'bytes'] as const) {
    gauge(`cardea_cache_${unit}`, (show, { cache }) => {
      for (const [kind, held] of Object.entries(cache)) show({ kind }, held[unit]);
    });
  }
  gauge('cardea_keys_last_success_timestamp_seconds', (show, { keys }) => {
    for (const { name, lastSuccess } of keys) show({ keys: name }, lastSuccess / 1000);
  });
  gauge('cardea_registry_last_success_timestamp_seconds', (show, { registries }) => {
    for (const { name, lastSuccess } of registries) show({ registry: name }, lastSuccess / 1000);
  });
  gauge('cardea_kill_switch_active', (show, { kills }) => {
    for (const scope of KILL_KINDS) show({ scope }, kills.kinds.has(scope) ? 1 : 0);
  });
  gauge('cardea_principals_active', (show, { principals }) => show({}, principals));
  gauge('cardea_kill_persisted', (show, { kills }) => show({}, kills.persisted ? 1 : 0));
  gauge('cardea_config_last_reload_successful', (show, { config }) => show({}, config.lastSuccessful ? 1 : 0));
  gauge('cardea_config_last_reload_success_timestamp_seconds', (show, { config }) => show({}, config.adoptedAt / 1000));
  gauge('cardea_config_info', (show, { config }) => show({ digest: config.digest }, 1));
  gauge('cardea_build_info', (show) => show({ version: build.version, node: build.node }, 1));
  return { read: () => void (reading = readAll()) };
}

type DefineGauge = (name: MetricName, fill: (show: Show, reading: Reading) => void) => void;

function defineCardGauges(gauge: DefineGauge): void {
  const perCard = (name: MetricName, set: (show: Show, card: CardGauge) => void): void =>
    gauge(name, (show, { cards }) => {
      for (const card of cards) set(show, card);
    });
  perCard('cardea_card_last_success_timestamp_seconds', (show, { agent, lastSuccess }) =>
    show({ agent }, lastSuccess / 1000),
  );
  perCard('cardea_card_fresh_until_timestamp_seconds', (show, { agent, freshUntil }) =>
    show({ agent }, freshUntil / 1000),
  );
  perCard('cardea_card_stale_since_timestamp_seconds', (show, { agent, staleSince }) =>
    show({ agent }, staleSince / 1000),
  );
  perCard('cardea_card_state', (show, { agent, state: holds }) => {
    for (const state of CARD_STATES) show({ agent, state }, state === holds ? 1 : 0);
  });
  perCard('cardea_card_signature', (show, { agent, signature }) => {
    for (const verdict of SIGNATURE_VERDICTS) show({ agent, verdict }, verdict === signature ? 1 : 0);
  });
  gauge('cardea_card_pending_changes', (show, { cards, unnamed }) => {
    const others = unnamed === null ? [] : [{ agent: 'other', pending: unnamed }];
    for (const { agent, pending } of [...cards, ...others])
      for (const of of CHANGE_CLASSES) show({ agent, class: of }, pending[of] ?? 0);
  });
  perCard('cardea_card_info', (show, { agent, version, protocolVersion, digest }) => {
    if (digest === null) return;
    show({ agent, version: shortVersion(version), protocol_version: protocolVersion ?? '', digest }, 1);
  });
}

/** A version is a label, and an origin writes it: it is cut down to what a label can bear. */
const LONGEST_VERSION = 32;

const shortVersion = (version: string | null): string =>
  (version ?? '').replace(/[^0-9A-Za-z.+-]/g, '').slice(0, LONGEST_VERSION);
