import { ActiveKills } from './kills.js';
import { KINDS, knownNames, partsOf, scopeOf } from './scopes.js';
import { ReplyOf } from './reply-of.js';
import { Text } from './stranger-text.js';
import { html, useEffect, useState } from './view.js';

/** @import { Reply } from './api.js' */
/** @import { Kills } from './kills.js' */
/** @import { Model, State } from './model.js' */
/** @import { Agent, KillPreview } from './shapes.ts' */

/**
 * The switch: what is stopped, and stopping something.
 * @param {{ readonly scope: string, readonly agents: readonly Agent[], readonly replies: State['replies'], readonly model: Model }} props
 */
export const SwitchView = ({ scope, agents, replies, model }) => html`<h1 tabindex="-1">The switch</h1>
  <p class="lead">A stop is in force at once, on every connection and for every fetch under way. No restart lifts it: a person does.</p>
  <${ReplyOf} reply=${replies.get('/kill')} show=${(/** @type {Kills} */ kills) => html`<${ActiveKills} kills=${kills} model=${model} />`} />
  <${Stop} key=${scope} scope=${scope} agents=${agents} model=${model} />`;

/** @param {{ readonly scope: string, readonly agents: readonly Agent[], readonly model: Model }} props */
function Stop({ scope: asked, agents, model }) {
  const [{ kind, name }, choose] = useState(partsOf(asked));
  const scope = scopeOf(kind, name);
  const known = knownNames(agents, kind);
  return html`<section aria-labelledby="stop" class="stop">
    <h2 id="stop">Stop something</h2>
    <fieldset class="kinds"><legend>What to stop</legend>
      ${KINDS.map(
        (
          each,
        ) => html`<label key=${each.kind}><input type="radio" name="kind" checked=${kind === each.kind} onChange=${() => choose({ kind: each.kind, name: '' })} />
          <span><strong>${each.label}</strong> <span class="dim">${each.means}</span></span></label>`,
      )}
    </fieldset>
    ${
      kind !== 'all' &&
      html`<label for="scope-name">Its name</label>
        <input id="scope-name" type="text" list="known-names" autocomplete="off" spellcheck=${false} placeholder=${KINDS.find((each) => each.kind === kind)?.example ?? ''} value=${name}
          onInput=${(/** @type {InputEvent & { target: HTMLInputElement }} */ event) => choose({ kind, name: event.target.value })} />
        <datalist id="known-names">${known.map((each) => html`<option key=${each} value=${each} />`)}</datalist>`
    }
    ${scope !== '' && html`<${Preview} scope=${scope} model=${model} /><${Confirm} key=${scope} scope=${scope} model=${model} />`}
  </section>`;
}

/** What a stop of this scope would concern, as the daemon counts it. @param {{ readonly scope: string, readonly model: Model }} props */
function Preview({ scope, model }) {
  const [reply, setReply] = useState(/** @type {Reply | undefined} */ (undefined));
  useEffect(() => {
    let isWanted = true;
    const read = async () => {
      const found = await model.look(`/kill/preview?scope=${encodeURIComponent(scope)}`);
      if (isWanted) setReply(found);
    };
    // Not at every letter of a name that is being written.
    const timer = setTimeout(() => void read(), 250);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [scope]);
  return html`<div class="preview" aria-live="polite"><${ReplyOf} reply=${reply} show=${Counts} /></div>`;
}

/** @param {KillPreview} preview */
function Counts({ agents, entries, extended, callers, streams }) {
  const counts = [
    countOf(agents.length, 'agent', 'agents'),
    countOf(entries, 'stored answer', 'stored answers'),
    extended > 0 &&
      `${countOf(extended, 'extended card', 'extended cards')} of ${countOf(callers, 'caller', 'callers')}`,
    streams > 0 && `${countOf(streams, 'answer', 'answers')} that ${streams === 1 ? 'is' : 'are'} being written`,
  ].filter((count) => count !== false);
  return html`<p>This would stop <strong>${counts.join(', ')}</strong>, and what comes later.</p>
    ${agents.length > 0 && html`<p class="mono dim">${agents.slice(0, MOST_NAMED).join(', ')}${agents.length > MOST_NAMED && ` and ${agents.length - MOST_NAMED} more`}</p>`}`;
}

const MOST_NAMED = 12;

/** @param {number} count @param {string} one @param {string} many */
const countOf = (count, one, many) => `${count === 0 ? 'no' : count} ${count === 1 ? one : many}`;

/** A reason, and the scope once more by hand: nobody stops everything by a slip. @param {{ readonly scope: string, readonly model: Model }} props */
function Confirm({ scope, model }) {
  const [reason, setReason] = useState('');
  const [typed, setTyped] = useState('');
  const [note, setNote] = useState('');
  const [busy, setBusy] = useState(false);
  const stop = async () => {
    if (busy) return;
    const missing = whatIsMissing(scope, reason, typed);
    setNote(missing);
    if (missing !== '') return;
    setBusy(true);
    const reply = await model.order({
      method: 'POST',
      path: '/kill',
      body: { scope, reason: reason.trim() },
      done: `Stopped: ${scope}.`,
    });
    setBusy(false);
    if (!reply.ok) return setNote(reply.problem.detail);
    setTyped('');
    setReason('');
  };
  const send = (/** @type {Event} */ event) => {
    event.preventDefault();
    void stop();
  };
  return html`<form class="reason" onSubmit=${send}>
    <label for="stop-reason">Reason</label>
    <input id="stop-reason" type="text" maxlength=${500} autocomplete="off" value=${reason} onInput=${(/** @type {InputEvent & { target: HTMLInputElement }} */ event) => setReason(event.target.value)} />
    <label for="stop-typed">Type <code><${Text} value=${scope} room=${200} /></code> to confirm</label>
    <input id="stop-typed" type="text" autocomplete="off" spellcheck=${false} autocapitalize="none" value=${typed} aria-describedby="stop-note"
      onInput=${(/** @type {InputEvent & { target: HTMLInputElement }} */ event) => setTyped(event.target.value)} />
    <p id="stop-note" class="note-line" role="alert"><${Text} value=${note} /></p>
    <div class="buttons"><button type="submit" class="danger" aria-disabled=${busy || typed !== scope}>Stop <${Text} value=${scope} room=${60} /></button></div>
  </form>`;
}

/** @param {string} scope @param {string} reason @param {string} typed */
function whatIsMissing(scope, reason, typed) {
  if (reason.trim() === '') return 'Write why: the reason stands in the receipt.';
  return typed === scope ? '' : `Type ${scope} to confirm; this says something else.`;
}
