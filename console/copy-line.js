import { html, useRef, useState } from './view.js';

/**
 * A line to copy. Where a browser lets no page write to the clipboard, the line is selected.
 * @param {{ readonly text: string, readonly label: string }} props
 */
export function CopyLine({ text, label }) {
  const [done, setDone] = useState('');
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const copy = async () => {
    const copied = await write(text);
    if (!copied && place.current !== null) getSelection()?.selectAllChildren(place.current);
    setDone(copied ? 'Copied' : 'Selected');
  };
  return html`<div class="copy"><code ref=${place}>${text}</code>
    <button type="button" class="quiet" aria-label=${`Copy ${label}`} onClick=${copy}>${done === '' ? 'Copy' : done}</button></div>`;
}

/** What a person compares of a digest at a glance; the rest is there to select. @param {{ readonly digest: string }} props */
export const Digest = ({ digest }) =>
  html`<code class="digest" title=${digest}>${digest.slice(0, 19)}<span class="rest">${digest.slice(19)}</span></code>`;

/** @param {string} text */
async function write(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // not allowed, or no such thing outside of https and this machine
  }
}
