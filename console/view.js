/** What every view is written with. The only file that knows where the library lies. */
import htm from './vendor/htm.js';
import { Component, h, render } from './vendor/preact.js';
import { useEffect, useLayoutEffect, useRef, useState } from './vendor/hooks.js';

/** @import { VNode } from 'preact' */

/** Markup as a tagged template. Values become text or attributes, never markup. */
export const html = /** @type {(strings: TemplateStringsArray, ...values: unknown[]) => VNode} */ (htm.bind(h));

export { Component, render, useEffect, useLayoutEffect, useRef, useState };
