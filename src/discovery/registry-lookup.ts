import { conditionFields, mayConfirm } from '../http/validation.ts';
import { readerOf } from '../http/fields.ts';
import { parseRetryAfter } from '../http/retry-after.ts';
import type { EgressRule } from '../kernel/egress-rule.ts';
import type { Url } from '../kernel/ids.ts';
import { coversOrigin, parseTarget } from '../kernel/origins.ts';
import { type Refusal, RefusalError, refuse } from '../kernel/refusal.ts';
import { type Listing, RegistryError, type RegistryKind } from '../kernel/registry.ts';
import { type Bytes, type EpochMs, type Ms, between, ms } from '../kernel/units.ts';
import { type Stopped, killed, killOf } from '../policy/kills.ts';
import { coverOf } from '../policy/registered.ts';
import type { RegistryRule, Rules } from '../policy/rules.ts';
import type { Clock, Fetcher, FetchResult, Ledger, Observer, WholeResponse } from '../ports.ts';
import type { ReadRegistry, RegistryFiles } from '../ports/registries.ts';
import { originTags } from './key.ts';
import { deniedOrFailed, otherReceipt } from './receipts.ts';
import type { Stops } from './stops.ts';

/** What was answered at each URL of a registry, so that its origin can be asked whether it still is. */
export type Answers = ReadonlyMap<Url, WholeResponse>;

/** How reading a registry ended. */
export type Looked =
  | { readonly ok: true; readonly listings: ReadonlyMap<string, Listing>; readonly answers: Answers }
  | { readonly ok: false; readonly refusal: Refusal; readonly retryAfter: Ms | null };

/** What is wanted of a registry, what is known of it, and what ends the reading. */
export interface LookOrder {
  readonly rule: RegistryRule;
  readonly identifiers: ReadonlySet<string>;
  readonly answers: Answers;
  readonly signal: AbortSignal;
}

/** Reads a registry once, nested documents included. Never rejects for what it finds there. */
export type LookUp = (order: LookOrder) => Promise<Looked>;

export interface LookUpDoors {
  readonly clock: Clock;
  readonly fetcher: Fetcher;
  readonly ledger: Ledger;
  readonly observer: Observer;
  readonly kills: Stopped;
  readonly stops: Stops;
  readonly registryFiles: Pick<RegistryFiles, 'read'>;
  /** One for each kind of registry. */
  readonly registryReaders: Readonly<Record<RegistryKind, ReadRegistry>>;
}

/** The documents of one registry that are fetched one after the other have so many times the limit of one. */
const WHOLE = 4;
/** Answers that are kept to be asked about again, of one registry; what is beyond is fetched whole each time. */
const MOST_KEPT = 8 * 1024 * 1024;

export const createLookUp =
  (doors: LookUpDoors, rules: () => Rules): LookUp =>
  async (order) => {
    const reading = new Reading(doors, rules(), order);
    try {
      const read = doors.registryReaders[order.rule.kind];
      const { identifiers } = order;
      const open = (url: Url): Promise<Uint8Array | null> => reading.openNested(url);
      const listings = await read(await reading.first(), { base: reading.base, identifiers, open });
      return { ok: true, listings, answers: reading.kept };
    } catch (error) {
      if (error instanceof RefusalError) return { ok: false, refusal: error.refusal, retryAfter: reading.retryAfter };
      if (error instanceof RegistryError)
        return { ok: false, refusal: unreadable(order.rule, error), retryAfter: null };
      throw error;
    }
  };

const unreadable = ({ source }: RegistryRule, { message }: RegistryError): Refusal =>
  source.from === 'url'
    ? refuse('origin-status', `What ${source.url} answers cannot be read: ${message}.`, { receivedStatus: 200 })
    : refuse('origin-unreachable', `${source.file} cannot be read: ${message}.`);

/** One reading of one registry. */
class Reading {
  readonly kept = new Map<Url, WholeResponse>();
  retryAfter: Ms | null = null;
  readonly #doors: LookUpDoors;
  readonly #rules: Rules;
  readonly #order: LookOrder;
  readonly #startedAt: EpochMs;
  #bytes = 0;

  constructor(doors: LookUpDoors, rules: Rules, order: LookOrder) {
    this.#doors = doors;
    this.#rules = rules;
    this.#order = order;
    this.#startedAt = doors.clock.now();
  }

  get base(): Url | null {
    const { source } = this.#order.rule;
    return source.from === 'url' ? source.url : null;
  }

  first(): Promise<Uint8Array> {
    const { source } = this.#order.rule;
    return source.from === 'url'
      ? this.#fetch(source.url, source.egress)
      : this.#doors.registryFiles.read(source.file, this.#most);
  }

  /** A registry may go on at its own origin, as it is reached itself, and wherever a rule lets a card be. */
  openNested(url: Url): Promise<Uint8Array | null> {
    const egress = this.#egressTo(url);
    if (egress !== undefined) return this.#fetch(url, egress);
    const about = { registry: this.#order.rule.name, url };
    const msg = 'a nested catalog is passed over: no rule in origins covers it';
    this.#doors.observer.record({ kind: 'notice', level: 'warn', msg, about });
    return Promise.resolve(null);
  }

  #egressTo(url: Url): EgressRule | undefined {
    const { source } = this.#order.rule;
    const target = parseTarget(url);
    if (!target.ok) return undefined;
    if (source.from === 'url' && source.egress.allowed.some((own) => coversOrigin(own, target.value)))
      return source.egress;
    const cover = coverOf(url, this.#rules);
    if (!cover.ok) return undefined;
    const { scheme, host, port } = target.value;
    return { ...cover.value.rule.egress, allowed: [{ scheme, host, wildcard: false, port }] };
  }

  get #most(): Bytes {
    return this.#rules.limits.cardBytes;
  }

  async #fetch(url: Url, egress: EgressRule): Promise<Uint8Array> {
    const held = this.#order.answers.get(url);
    let answer = await this.#exchange(url, egress, held);
    // A confirmation of another answer than the one asked about says nothing of either: then only the document itself helps.
    if (answer === 'unrelated') answer = await this.#exchange(url, egress, undefined);
    if (answer === 'unrelated') throw new RefusalError(refuse('origin-status', `${url} answers 304 to no condition.`));
    this.#bytes += answer.body.length;
    if (this.#bytes <= MOST_KEPT) this.kept.set(url, answer);
    return answer.body;
  }

  async #exchange(url: Url, egress: EgressRule, held: WholeResponse | undefined): Promise<WholeResponse | 'unrelated'> {
    const { clock, ledger } = this.#doors;
    const id = ledger.issue();
    const requestedAt = clock.now();
    const conditions = held === undefined ? [] : conditionFields([held]);
    const result = await this.#ask(url, egress, ['Accept', ACCEPT, ...conditions]);
    const at = clock.now();
    const answer = answerOf(url, result, conditions.length > 0 ? held : undefined);
    const refusal = answer.is === 'refused' ? answer.refusal : null;
    const outcome =
      answer.is === 'refused'
        ? result.ok
          ? 'status'
          : deniedOrFailed({ refusal: result.refusal })
        : OUTCOMES[answer.is];
    const took = between(requestedAt, at);
    const receipt = otherReceipt({ id, purpose: 'registry', at, result, outcome, refusal, took });
    ledger.record({ ...receipt, conditional: conditions.length > 0 });
    if (answer.is === 'unrelated') return 'unrelated';
    if (answer.is !== 'refused') return answer.response;
    if (result.ok) this.retryAfter = parseRetryAfter(readerOf(result.response.fields)('retry-after'), at);
    throw new RefusalError(answer.refusal);
  }

  /** No redirect is followed: what is configured is this URL, and an open redirect on its origin must not put in another registry. */
  #ask(url: Url, rule: EgressRule, fields: readonly string[]): Promise<FetchResult<WholeResponse>> {
    const { fetcher, kills, stops, clock } = this.#doors;
    const { connect, response } = this.#rules.limits;
    const tags = originTags(url);
    const stop = killOf(kills.active(), tags);
    if (stop !== undefined) throw new RefusalError(killed(stop, null));
    const left = WHOLE * response - between(this.#startedAt, clock.now());
    const total = ms(Math.max(1, Math.min(response, left)));
    return fetcher.fetch({
      purpose: 'registry',
      agent: null,
      url,
      method: 'GET',
      fields,
      body: null,
      rule,
      limits: { connect, total, idle: total, bytes: this.#most, redirects: 0 },
      signal: AbortSignal.any([this.#order.signal, stops.signal(tags)]),
    });
  }
}

const ACCEPT = 'application/ai-catalog+json, application/json;q=0.9';
const OUTCOMES = { fetched: 'stored', confirmed: 'not_modified', unrelated: 'rejected' } as const;

type Answer =
  | { readonly is: 'fetched' | 'confirmed'; readonly response: WholeResponse }
  | { readonly is: 'unrelated' }
  | { readonly is: 'refused'; readonly refusal: Refusal };

function answerOf(url: Url, result: FetchResult<WholeResponse>, asked: WholeResponse | undefined): Answer {
  if (!result.ok) return { is: 'refused', refusal: result.refusal };
  const { response } = result;
  if (response.status === 200) return { is: 'fetched', response };
  if (response.status === 304 && asked !== undefined)
    return mayConfirm(asked.fields, response.fields) ? { is: 'confirmed', response: asked } : { is: 'unrelated' };
  const detail = `The origin answered ${response.status} at ${url}, where a registry should be.`;
  return { is: 'refused', refusal: refuse('origin-status', detail, { receivedStatus: response.status }) };
}
