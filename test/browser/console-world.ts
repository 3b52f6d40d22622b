import assert from 'node:assert/strict';
import type http from 'node:http';
import { type Got, World, type WorldOptions, answers, ask } from '../support/world.ts';
import type { Tab } from './chromium.ts';

/** A daemon with an agent, and a person with a browser. */
export class ConsoleWorld {
  readonly world: World;

  private constructor(world: World) {
    this.world = world;
  }

  static async start(card: object, options: WorldOptions = {}): Promise<ConsoleWorld> {
    // Nothing is refreshed by itself: each request sees what its own refresh brought.
    const config = 'cache: { prefetch: false, staleWhileRevalidate: 0s }';
    return new ConsoleWorld(await World.start({ config, review: '{}', origin: serves(card), ...options }));
  }

  /** Where the console is. */
  get url(): string {
    return `http://${this.world.daemon.started.admin[0]}/console/`;
  }

  get token(): string {
    const { token } = this.world.daemon;
    assert.ok(token, 'a daemon that keeps no state prints its token');
    return token;
  }

  /** Asks the admin API as a command does. */
  admin(order: string, body?: object): Promise<Got> {
    const [method = 'GET', path = ''] = order.split(' ');
    const headers: http.OutgoingHttpHeaders = {
      authorization: `Bearer ${this.token}`,
      'content-type': 'application/json',
    };
    return ask(new URL(path, this.url).href, { method, headers }, body === undefined ? '' : JSON.stringify(body));
  }

  /** A minute later somebody asks for the card. */
  async later(): Promise<Got> {
    await this.world.clock.advance(61_000);
    return this.world.card();
  }

  /** The address that `cardea console` prints. */
  async link(): Promise<string> {
    const { body } = await this.admin('POST /console/links', {});
    return (JSON.parse(body) as { readonly url: string }).url;
  }

  /** Opens a view in a tab that signs in by a link. */
  async signIn(tab: Tab, route = '#/agents'): Promise<void> {
    await tab.page.goto(await this.link());
    await tab.page.getByRole('heading', { name: 'Agents' }).waitFor();
    if (route !== '#/agents') await tab.page.goto(`${this.url}${route}`);
  }

  stop(): Promise<void> {
    return this.world.stop();
  }
}

/** An origin that serves a card that is fresh for a minute. */
export const serves = (card: object) => answers(JSON.stringify(card), { 'Cache-Control': 'max-age=60' });
