import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { PendingView, ReviewView } from '../../src/admin/ports.ts';
import { type Got, World, type WorldOptions, answers, ask } from '../support/world.ts';

/** A card as these scenarios serve it. */
export const BASE = {
  name: 'Weather',
  description: 'Tells the weather.',
  version: '1.0.0',
  supportedInterfaces: [{ url: 'https://127.0.0.1/rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: {},
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'forecast', name: 'Forecast', description: 'Tells the weather of a place.', tags: ['weather'] }],
};

/** The same with its skill's text changed, marked by a cue. */
export const SENDS = {
  ...BASE,
  skills: [{ ...BASE.skills[0], description: 'Tells the weather of a place and sends it by mail.' }],
};
/** Another one again. */
export const PAYS = {
  ...BASE,
  skills: [{ ...BASE.skills[0], description: 'Tells the weather of a place and pays for it.' }],
};
/** The agent somewhere else. */
export const MOVED = {
  ...BASE,
  supportedInterfaces: [{ url: 'https://127.0.0.1:8443/rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
};

/** Nothing is served stale while it is refreshed, and nothing is refreshed by itself: each request sees what its own refresh brought. */
const CACHE = 'cache: { prefetch: false, staleWhileRevalidate: 0s }';

export interface Detail {
  readonly state: string;
  readonly pending: Readonly<Record<string, number>>;
  readonly review: ReviewView;
}

/** A daemon, an agent that changes its card, a caller and a person who reviews. */
export class Reviewing {
  readonly world: World;
  readonly #state: string | undefined;

  private constructor(world: World, state: string | undefined) {
    this.world = world;
    this.#state = state;
  }

  static async start(card: object, options: WorldOptions = {}): Promise<Reviewing> {
    const config = `${CACHE}\n${options.config ?? ''}`;
    const world = await World.start({ review: '{}', origin: serves(card), ...options, config });
    return new Reviewing(world, options.state);
  }

  /** The origin publishes another card, and what is stored becomes stale. */
  async offers(card: object, headers: Readonly<Record<string, string>> = {}): Promise<Got> {
    this.world.says(serves(card));
    return this.later(headers);
  }

  /** A minute later somebody asks. */
  async later(headers: Readonly<Record<string, string>> = {}): Promise<Got> {
    await this.world.clock.advance(61_000);
    return this.world.card(headers);
  }

  async admin(order: string, body?: object): Promise<Got> {
    const [method = 'GET', target = ''] = order.split(' ');
    const headers = { authorization: `Bearer ${this.#token()}`, 'content-type': 'application/json' };
    return ask(
      `http://${this.world.daemon.started.admin[0]}${target}`,
      { method, headers },
      body && JSON.stringify(body),
    );
  }

  async detail(): Promise<Detail> {
    return JSON.parse((await this.admin('GET /agents/weather')).body) as Detail;
  }

  async pending(): Promise<readonly PendingView[]> {
    return (JSON.parse((await this.admin('GET /agents/weather/change')).body) as { pending: PendingView[] }).pending;
  }

  /** Decides on the only card that waits. */
  async decide(action: 'approve' | 'reject', digest?: string): Promise<Got> {
    const [one] = await this.pending();
    const got = await this.admin(`POST /agents/weather/${action}`, { digest: digest ?? one?.digest, reason: 'seen' });
    await this.world.quiet();
    return got;
  }

  #token(): string {
    const { token } = this.world.daemon;
    return token ?? readFileSync(path.join(this.#state ?? '', 'admin-token'), 'utf8').trim();
  }
}

export const serves = (card: object) => answers(JSON.stringify(card), { 'Cache-Control': 'max-age=60' });

/** What a caller got, in a few words: `allowed Tells the weather of a place.`, or the problem's code. */
export function seen(got: Got): string {
  if (got.status !== 200) return got.code ?? String(got.status);
  const card = JSON.parse(got.body) as typeof BASE;
  return `${reviewOf(got)} ${card.skills[0]?.description ?? ''}`;
}

export const reviewOf = (got: Got): string | undefined =>
  /review=([a-z-]+)/.exec(String(got.headers['card-status']))?.[1];

/** The digest that a card has. */
export const digestIn = (pending: readonly PendingView[]): string => {
  const [one] = pending;
  assert.ok(one, 'something waits');
  return one.digest;
};
