/** The console: puts the parts together and follows the address. */

/** @import { Route } from './routes.js' */
import { createApi } from './api.js';
import { Model } from './model.js';
import { HOME, linkTo, readRoute, titleOf } from './routes.js';
import { Shell, focusHeading } from './shell.js';
import { createTicker } from './ticker.js';
import { html, render } from './view.js';

const root = /** @type {HTMLElement} */ (document.getElementById('console'));
// Before anything reads the address.
const brought = takeCode();

const api = createApi({ fetch: fetch.bind(window), storage: localStorage, now: Date.now, ended: () => model.ended() });
const ticker = createTicker(api.now);
const model = new Model(api, readRoute(location.hash), (state) => {
  document.title = state.session === 'in' ? `${titleOf(state.route)} · Cardea` : 'Sign in · Cardea';
  render(html`<${Shell} state=${state} model=${model} ticker=${ticker} turn=${turn} />`, root);
});

/** The same view, turned another way: it takes the place of its address. @param {Route} route */
function turn(route) {
  history.replaceState(null, '', linkTo(route));
  model.turn(route);
}

window.addEventListener('hashchange', () => {
  const code = takeCode();
  if (code !== undefined) {
    model.turn(HOME);
    return void model.signIn({ code });
  }
  model.go(readRoute(location.hash));
  focusHeading();
  scrollTo(0, 0);
});

/** A link's code signs in once; before anything is sent it is gone from the address and from the history. */
function takeCode() {
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
  if (code !== undefined) history.replaceState(null, '', location.pathname);
  return code;
}

// A link that was used already is no reason to leave a session that still goes on.
if (brought === undefined || !(await model.signIn({ code: brought }))) model.start();
