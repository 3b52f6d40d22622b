/** What the page knows, and what can be done with it. */

/** @import { Api, Problem, Reply } from './api.js' */
/** @import { Route } from './routes.js' */
/** @import { ServerEvent } from './sse.js' */
import { follow } from './live.js';
import { pathsOf, staleBy } from './needs.js';
import { createReader } from './reader.js';

/**
 * @typedef {object} State
 * @property {'joining' | 'live' | 'lost'} link
 * @property {'in' | 'out' | 'ended'} session `ended`: by the daemon, not by whoever reads this
 * @property {Route} route
 * @property {ReadonlyMap<string, Reply>} replies the last answer of each path
 * @property {string} said what is read aloud
 * @property {Problem | undefined} refused why nobody could sign in
 */

/** @typedef {{ readonly token: string } | { readonly code: string }} Shown */
/** @typedef {{ readonly method: 'POST' | 'DELETE', readonly path: string, readonly body: object, readonly done: string }} Order */
/** What one page knows; it is told of every change by `show`. */
export class Model {
  #api;
  #show;
  #reader;
  #stream;
  /** @type {State} */
  #state;

  /** @param {Api} api @param {Route} route @param {(state: State) => void} show */
  constructor(api, route, show) {
    this.#api = api;
    this.#show = show;
    const session = api.signedIn() ? 'in' : 'out';
    this.#state = { link: 'joining', session, route, replies: new Map(), said: '', refused: undefined };
    this.#reader = createReader(api, {
      wanted: () => (this.#state.session === 'in' ? pathsOf(this.#state.route) : []),
      known: (path) => this.#state.replies.get(path),
      keep: (path, reply) => this.#set({ replies: new Map(this.#state.replies).set(path, reply) }),
    });
    this.#stream = createStream(api, {
      joined: () => {
        this.#set({ link: 'live' });
        this.#reader.plan(pathsOf(this.#state.route));
      },
      lost: () => this.#set({ link: 'lost' }),
      heard: (event) => this.#reader.plan(staleBy(this.#state.route, event)),
    });
  }

  start() {
    if (this.#state.session === 'in') this.#begin();
    else this.#show(this.#state);
  }

  /** Goes to another view. @param {Route} route */
  go(route) {
    const kept = new Set(pathsOf(route));
    this.#set({ route, replies: new Map([...this.#state.replies].filter(([path]) => kept.has(path))), said: '' });
    void this.#reader.readView();
  }

  /** Turns the same view another way: nothing is read again. @param {Route} route */
  turn(route) {
    this.#set({ route });
  }

  /** Resolves to whether the daemon let somebody in. @param {Shown} shown */
  async signIn(shown) {
    const reply = await this.#api.signIn(shown);
    if (reply.ok) {
      this.#set({ session: 'in', link: 'joining', replies: new Map(), refused: undefined });
      this.#begin();
    } else {
      this.#set({ refused: reply.problem });
    }
    return reply.ok;
  }

  signOut() {
    this.#api.signOut();
    this.#leave('out');
  }

  /** The daemon knows this session no more. */
  ended() {
    this.#leave('ended');
  }

  /** Gives an order, reads anew what the view shows, and says aloud how it went. @param {Order} order */
  async order({ method, path, body, done }) {
    const reply = await this.#api.order(method, path, body);
    await this.#reader.readView();
    this.#set({ said: reply.ok ? done : `Refused: ${reply.problem.detail}` });
    return reply;
  }

  /** Reads an answer that no view keeps. @param {string} path */
  look(path) {
    return this.#api.get(path, 'person');
  }

  #begin() {
    void this.#reader.readView();
    this.#stream.open();
  }

  /** @param {State['session']} session */
  #leave(session) {
    this.#stream.close();
    this.#set({ session, replies: new Map(), said: '' });
  }

  /** @param {Partial<State>} change */
  #set(change) {
    this.#state = { ...this.#state, ...change };
    this.#show(this.#state);
  }
}

/**
 * The stream of events, opened and closed with the session.
 * @param {Api} api
 * @param {{ readonly joined: () => void, readonly lost: () => void, readonly heard: (event: ServerEvent) => void }} listener
 */
function createStream(api, listener) {
  let watching = new AbortController();
  return {
    open() {
      watching.abort();
      watching = new AbortController();
      void follow(api, listener, watching.signal);
    },
    close: () => watching.abort(),
  };
}
