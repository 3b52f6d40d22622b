import { scanJson } from '../card/scan.ts';
import { isObject, own } from '../card/json.ts';
import type { ByteStream } from '../kernel/fields.ts';
import type { Event } from '../kernel/event.ts';
import type { FetchOutcome } from '../kernel/outcome.ts';
import { type Outcome, accepted, refuse, refused } from '../kernel/refusal.ts';
import { type EpochMs, between, bytes, isDuring, later, ms } from '../kernel/units.ts';
import { type Stopped, killOf, killed } from '../policy/kills.ts';
import type { Limits, OauthClient } from '../policy/rules.ts';
import type { Clock, FetchResult, Fetcher, Ledger, Observer, WholeResponse } from '../ports.ts';
import type { Secrets } from '../ports/callers.ts';
import { originTags } from './key.ts';
import { deniedOrFailed, otherReceipt } from './receipts.ts';
import type { Presented } from './showing.ts';
import type { Stops } from './stops.ts';

export interface TokenDoors {
  readonly clock: Clock;
  readonly fetcher: Fetcher;
  readonly ledger: Ledger;
  readonly observer: Observer;
  readonly secrets: Secrets;
  readonly kills: Stopped;
  readonly stops: Stops;
}

interface HeldToken {
  readonly text: string;
  /** From here on a new one is asked for. */
  readonly renewAt: EpochMs;
  readonly until: EpochMs;
}

/** A token that says nothing of its life is used for this long. */
const UNSAID_SECONDS = 300;
/** The part of its life after which a token is renewed, while the old one still does. */
const EARLY = 0.8;
/** A token endpoint that fails is left alone for this long. */
const PAUSE = ms(10_000);
/** The answer of a token endpoint has one or two KiB. */
const LARGEST_ANSWER = bytes(65_536);

/** A token of one client (RFC 6749 §4.4): one request at a time, used until it ends, renewed before. */
export class ClientToken {
  readonly #client: OauthClient;
  readonly #doors: TokenDoors;
  readonly #limits: () => Limits;
  #held: HeldToken | null = null;
  #flight: Promise<Outcome<HeldToken>> | null = null;
  #failed: { readonly at: EpochMs; readonly outcome: Outcome<HeldToken> } | null = null;

  constructor(client: OauthClient, doors: TokenDoors, limits: () => Limits) {
    this.#client = client;
    this.#doors = doors;
    this.#limits = limits;
  }

  async authorization(): Promise<Outcome<Presented>> {
    const now = this.#doors.clock.now();
    const held = this.#held;
    if (held !== null && now < held.until) {
      if (now >= held.renewAt) this.#renewBehind(now);
      return accepted({ field: fieldOf(held), isNew: false });
    }
    const outcome = await this.#ask(now);
    return outcome.ok ? accepted({ field: fieldOf(outcome.value), isNew: true }) : outcome;
  }

  /** Throws away what an agent has refused, unless another has taken its place. */
  forget(field: string): void {
    if (this.#held !== null && fieldOf(this.#held) === field) this.#held = null;
  }

  /** Resolves when nothing is on its way. */
  async settled(): Promise<void> {
    await this.#flight?.catch(() => undefined);
  }

  #renewBehind(now: EpochMs): void {
    const { observer } = this.#doors;
    this.#ask(now).catch((error: unknown) => observer.record(brokenRenewal(this.#client, error)));
  }

  #ask(now: EpochMs): Promise<Outcome<HeldToken>> {
    if (this.#failed !== null && isDuring(now, this.#failed.at, later(this.#failed.at, PAUSE)))
      return Promise.resolve(this.#failed.outcome);
    return (this.#flight ??= this.#attempt().finally(() => (this.#flight = null)));
  }

  async #attempt(): Promise<Outcome<HeldToken>> {
    const outcome = await requestToken(this.#client, this.#doors, this.#limits());
    if (outcome.ok) {
      this.#held = outcome.value;
      this.#failed = null;
    } else this.#failed = { at: this.#doors.clock.now(), outcome };
    return outcome;
  }
}

const fieldOf = ({ text }: HeldToken): string => `Bearer ${text}`;

const brokenRenewal = ({ clientId }: OauthClient, error: unknown): Event => ({
  kind: 'notice',
  level: 'error',
  msg: 'renewing a token broke',
  about: { client: clientId, error: error instanceof Error ? error.message : String(error) },
});

async function requestToken(client: OauthClient, doors: TokenDoors, limits: Limits): Promise<Outcome<HeldToken>> {
  const { clock, fetcher, ledger, secrets, kills, stops } = doors;
  const tags = originTags(client.tokenUrl);
  const kill = killOf(kills.active(), tags);
  if (kill !== undefined) return refused(killed(kill, null));
  const secret = await secrets.read(client.clientSecret);
  if (secret === undefined)
    return refused(refuse('origin-unreachable', `The secret of the client ${client.clientId} cannot be read.`));
  const id = ledger.issue();
  const requestedAt = clock.now();
  const result = await fetcher.fetch({
    purpose: 'token',
    agent: null,
    url: client.tokenUrl,
    method: 'POST',
    fields: tokenFields(client.clientId, secret),
    body: formOf(client.scope),
    rule: client.egress,
    // No redirect: the secret is for this URL alone.
    limits: {
      connect: limits.connect,
      total: limits.response,
      idle: limits.response,
      bytes: LARGEST_ANSWER,
      redirects: 0,
    },
    signal: stops.signal(tags),
  });
  const now = clock.now();
  const read = readToken(result, now);
  const outcome: FetchOutcome = read.ok ? 'stored' : result.ok ? 'status' : deniedOrFailed(result);
  const refusal = read.ok ? null : read.refusal;
  ledger.record(
    otherReceipt({ id, purpose: 'token', at: now, result, outcome, refusal, took: between(requestedAt, now) }),
  );
  return read.ok ? read : refused({ ...read.refusal, receipt: id });
}

/** RFC 6749 §2.3.1: both are form-encoded before they are joined. */
function tokenFields(clientId: string, secret: string): readonly string[] {
  const [name, word] = [clientId, secret].map((each) => encodeURIComponent(each));
  const basic = btoa(`${name}:${word}`);
  return [
    'Authorization',
    `Basic ${basic}`,
    'Content-Type',
    'application/x-www-form-urlencoded',
    'Accept',
    'application/json',
  ];
}

async function* formOf(scope: string | null): ByteStream {
  const form = new URLSearchParams({ grant_type: 'client_credentials', ...(scope === null ? {} : { scope }) });
  yield new TextEncoder().encode(form.toString());
}

function readToken(result: FetchResult<WholeResponse>, now: EpochMs): Outcome<HeldToken> {
  if (!result.ok) return refused(result.refusal);
  const { status, body } = result.response;
  if (status !== 200) return refused(noToken(`answered ${status}`));
  const scan = scanJson(new TextDecoder().decode(body), DEEPEST);
  const answer = scan.ok && isObject(scan.value) ? scan.value : undefined;
  const text = answer && own(answer, 'access_token');
  const type = answer && own(answer, 'token_type');
  if (answer === undefined || typeof text !== 'string' || !/^[\x21-\x7e]+$/.test(text))
    return refused(noToken('gave no token'));
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer')
    return refused(noToken('gave a token that is no bearer token'));
  const stated = own(answer, 'expires_in');
  const seconds = typeof stated === 'number' && stated >= 0 ? stated : UNSAID_SECONDS;
  return accepted({ text, until: later(now, ms(seconds * 1000)), renewAt: later(now, ms(seconds * 1000 * EARLY)) });
}

const DEEPEST = 8;

const noToken = (what: string) =>
  refuse('origin-status', `The token endpoint ${what}; check tokenUrl, clientId, clientSecret and scope.`);
