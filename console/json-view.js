import { Text } from './stranger-text.js';
import { lengthText } from './text.js';
import { html } from './view.js';

/** A screen or two; a card may have a mebibyte. */
const ROOM = 12_000;
/** One text must not push everything else out of sight. The view to read shows it whole. */
const LONGEST = 1_000;

/**
 * A value as JSON, its hidden characters named and its long texts cut.
 * @param {{ readonly value: unknown, readonly label: string }} props
 */
export const JsonView = ({ value, label }) =>
  html`<div class="json" tabindex="0" role="group" aria-label=${label}><${Text} value=${JSON.stringify(value, cut, 2)} room=${ROOM} /></div>`;

/** @param {string} _name @param {unknown} value */
const cut = (_name, value) =>
  typeof value === 'string' && value.length > LONGEST
    ? `${value.slice(0, LONGEST)}… (${lengthText(value.length - LONGEST)} more)`
    : value;
