import { Text } from './stranger-text.js';
import { html } from './view.js';

/** A screen or two; a card may have a mebibyte. */
const ROOM = 12_000;

/**
 * A value as JSON, its hidden characters named.
 * @param {{ readonly value: unknown, readonly label: string }} props
 */
export const JsonView = ({ value, label }) =>
  html`<div class="json" tabindex="0" role="group" aria-label=${label}><${Text} value=${JSON.stringify(value, null, 2)} room=${ROOM} /></div>`;
