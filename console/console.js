/** The console: puts the parts together and follows the address. */

/** @import { Problem } from './api.js' */
/** @import { Route } from './routes.js' */
import { createApi } from './api.js';
import { Model } from './model.js';
import { linkTo, readRoute, titleOf } from './routes.js';
import { Shell, focusHeading } from './shell.js';
import { createTicker } from './ticker.js';
import { html, render } from './view.js';

const root = /** @type {HTMLElement} */ (document.getElementById('console'));
/** @type {Problem | undefined} */
let refused;

// A code signs in once; before anything is sent it is gone from the address and from the history.
const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
if (code !== undefined) history.replaceState(null, '', location.pathname);

const api = createApi({ fetch: fetch.bind(window), storage: localStorage, now: Date.now, ended: () => model.ended() });
const ticker = createTicker(api.now);
const model = new Model(api, readRoute(location.hash), (state) => {
  document.title = state.session === 'in' ? `${titleOf(state.route)} · Cardea` : 'Sign in · Cardea';
  render(html`<${Shell} state=${state} model=${model} ticker=${ticker} turn=${turn} refused=${refused} />`, root);
});

/** The same view, turned another way: it takes the place of its address. @param {Route} route */
function turn(route) {
  history.replaceState(null, '', linkTo(route));
  model.turn(route);
}

window.addEventListener('hashchange', () => {
  model.go(readRoute(location.hash));
  focusHeading();
  scrollTo(0, 0);
});

if (code === undefined) {
  model.start();
} else {
  const reply = await model.signIn({ code });
  if (!reply.ok) {
    refused = reply.problem;
    model.start();
  }
}
