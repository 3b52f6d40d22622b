import { ProblemNote } from './reply-of.js';
import { html, useState } from './view.js';

/** @import { Problem } from './api.js' */
/** @import { Model } from './model.js' */

/**
 * The door. Whoever comes by a link of the terminal does not see it.
 * @param {{ readonly model: Model, readonly ended: boolean, readonly refused: Problem | undefined }} props
 */
export function SignIn({ model, ended, refused }) {
  const [token, setToken] = useState('');
  const [busy, setBusy] = useState(false);
  const signIn = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (busy || token.trim() === '') return;
    setBusy(true);
    await model.signIn({ token: token.trim() });
    setBusy(false);
    setToken('');
  };
  return html`<main id="main" class="door"><h1 tabindex="-1">Sign in to Cardea</h1>
    ${ended && html`<p role="status">The session has ended. Sign in again, and you are back where you were.</p>`}
    <p>On the daemon’s machine <code>cardea console</code> prints a link that signs you in once. Or paste the admin token:</p>
    <form onSubmit=${signIn}>
      <label for="token">Admin token</label>
      <input id="token" type="password" autocomplete="off" spellcheck=${false} value=${token} aria-describedby="door-note"
        onInput=${(/** @type {InputEvent & { target: HTMLInputElement }} */ event) => setToken(event.target.value)} />
      <div id="door-note" role="alert">${refused !== undefined && html`<${ProblemNote} problem=${refused} />`}</div>
      <div class="buttons"><button type="submit" class="main" aria-disabled=${busy}>${busy ? 'Signing in…' : 'Sign in'}</button></div>
    </form>
    <p class="dim">The token is in <code>admin-token</code> in the daemon’s state folder. It is sent once, and kept nowhere in this browser.</p></main>`;
}
