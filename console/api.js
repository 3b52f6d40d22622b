/** Speaks to the admin API that served this page. */

/**
 * What came back: a value, or the problem that says what to change.
 * @typedef {{ readonly ok: true, readonly value: unknown } | { readonly ok: false, readonly problem: Problem }} Reply
 * @typedef {{ readonly status: number, readonly code: string, readonly detail: string }} Problem
 */

/**
 * @typedef {object} Surroundings
 * @property {typeof fetch} fetch
 * @property {Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>} storage
 * @property {() => number} now the clock of this machine
 * @property {() => void} ended is told when the daemon knows this session no more
 */

/** Where the key of the session is kept: this origin alone reads it, and without the cookie it opens nothing. */
const KEY = 'cardea-console-key';

const KEY_FIELD = 'Cardea-Console-Key';

const SESSION = '/console/session';

/** @typedef {ReturnType<typeof createApi>} Api */

/** @typedef {(path: string, init: RequestInit, fields?: Readonly<Record<string, string>>) => Promise<Reply>} Ask */

/**
 * Makes the one door to the daemon.
 * @param {Surroundings} surroundings
 */
export function createApi({ fetch, storage, now, ended }) {
  let offset = 0;
  /** @param {string} path @param {RequestInit} init @param {Readonly<Record<string, string>>} fields */
  const send = async (path, init, fields = {}) => {
    const key = storage.getItem(KEY);
    const headers = { ...(key === null ? {} : { [KEY_FIELD]: key }), ...fields };
    const response = await fetch(path, { ...init, ...PLAINLY, headers });
    // A sign-in that fails says nothing of the session, nor does a key that another tab has replaced. One that it has taken away does.
    if (response.status === 401 && path !== SESSION && storage.getItem(KEY) === key) {
      storage.removeItem(KEY);
      ended();
    }
    return response;
  };
  /** @type {Ask} */
  const ask = (path, init, fields) =>
    send(path, init, fields)
      .then(replyOf)
      .catch(() => UNREACHABLE);
  return {
    /** Now, by the daemon's clock. */
    now: () => now() + offset,
    /** Sets that clock by what the daemon says. @param {number} told */
    setClock: (told) => {
      offset = told - now();
    },
    ...createSession(ask, storage),
    /** @param {'POST' | 'DELETE'} method @param {string} path @param {object} body @returns {Promise<Reply>} */
    order: (method, path, body) => ask(path, { method, body: JSON.stringify(body) }, JSON_BODY),
    /** The stream of what happens; throws where the daemon does not answer. @param {AbortSignal} signal */
    events: (signal) => send('/events', { signal }),
  };
}

/**
 * How a session begins and ends, and what is read in it.
 * @param {Ask} ask
 * @param {Surroundings['storage']} storage
 */
function createSession(ask, storage) {
  let reading = new AbortController();
  /** @type {Promise<unknown>} */
  let leaving = Promise.resolve();
  return {
    signedIn: () => storage.getItem(KEY) !== null,
    /** @param {string} path @param {'person' | 'page'} by a read that the page makes by itself prolongs no session */
    get: (path, by) =>
      ask(path, { signal: reading.signal }, by === 'page' ? { 'Cardea-Console-Background': '?1' } : {}),
    /** @param {{ readonly token: string } | { readonly code: string }} shown @returns {Promise<Reply>} */
    async signIn(shown) {
      // The end of the session before it takes its cookie along: that must not be the new one.
      await leaving;
      const reply = await ask(SESSION, { method: 'POST', body: JSON.stringify(shown) }, JSON_BODY);
      const key = reply.ok ? memberOf(reply.value, 'key') : undefined;
      if (typeof key === 'string') storage.setItem(KEY, key);
      return reply;
    },
    /** Forgets the key at once, and whatever is being read with it: what comes of that is no end that the daemon made. */
    signOut() {
      const key = storage.getItem(KEY) ?? '';
      storage.removeItem(KEY);
      reading.abort();
      reading = new AbortController();
      leaving = ask(SESSION, { method: 'DELETE', body: '{}' }, { ...JSON_BODY, [KEY_FIELD]: key });
    },
  };
}

/** To the origin of this page and nowhere else, and never out of a cache. @type {RequestInit} */
const PLAINLY = { credentials: 'same-origin', cache: 'no-store', redirect: 'error' };
const JSON_BODY = { 'Content-Type': 'application/json' };

/** @type {Reply} */
const UNREACHABLE = {
  ok: false,
  problem: {
    status: 0,
    code: 'unreachable',
    detail: 'The daemon does not answer. Is it running? `cardea health` says so on its machine.',
  },
};

/** @param {Response} response @returns {Promise<Reply>} */
async function replyOf(response) {
  const text = await response.text();
  const value = parsed(text);
  if (response.ok) return { ok: true, value };
  const [code, detail] = [memberOf(value, 'code'), memberOf(value, 'detail')];
  const problem = {
    status: response.status,
    code: typeof code === 'string' ? code : String(response.status),
    detail: typeof detail === 'string' ? detail : 'The daemon refused this without saying why; its log does.',
  };
  return { ok: false, problem };
}

/** @param {string} text @returns {unknown} */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // 204, or what stands between us and the daemon
  }
}

/** @param {unknown} value @param {string} name @returns {unknown} */
const memberOf = (value, name) =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? /** @type {Readonly<Record<string, unknown>>} */ (value)[name]
    : undefined;
