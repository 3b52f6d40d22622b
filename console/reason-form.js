import { html, useState } from './view.js';

/** The daemon takes one line of so many characters. */
const LONGEST = 500;

/** @typedef {{ readonly name: string, readonly label: string, readonly kind?: 'danger' | 'main' }} Choice */

/**
 * Asks for a reason, and then for one of a few decisions. A decision that is under way is not given twice.
 * @param {{ readonly id: string, readonly choices: readonly Choice[], readonly decide: (choice: string, reason: string) => Promise<unknown> }} props
 */
export function ReasonForm({ id, choices, decide }) {
  const [reason, setReason] = useState('');
  const [note, setNote] = useState('');
  const [busy, setBusy] = useState(false);
  const give = async (/** @type {string} */ choice) => {
    if (busy) return;
    if (reason.trim() === '') {
      setNote('Write why: the reason stands in the receipt.');
      document.getElementById(id)?.focus();
      return;
    }
    setBusy(true);
    setNote('');
    await decide(choice, reason.trim());
    setBusy(false);
  };
  return html`<form class="reason" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
    <label for=${id}>Reason</label>
    <input id=${id} type="text" maxlength=${LONGEST} autocomplete="off" value=${reason} aria-describedby=${`${id}-note`} aria-invalid=${note !== ''}
      onInput=${(/** @type {InputEvent & { target: HTMLInputElement }} */ event) => setReason(event.target.value)} />
    <p id=${`${id}-note`} class="note-line" role="alert">${note}</p>
    <div class="buttons">${choices.map(
      ({ name, label, kind = '' }) =>
        html`<button key=${name} type="button" class=${kind} aria-disabled=${busy} onClick=${() => give(name)}>${label}</button>`,
    )}</div>
  </form>`;
}
