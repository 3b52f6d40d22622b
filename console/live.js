/** Listens to what happens, and begins again whenever that breaks off. */

/** @import { Api } from './api.js' */
/** @import { ServerEvent } from './sse.js' */
import { createEventReader } from './sse.js';

/** How long it waits before it tries again, in ms: the first tries come soon, for a daemon that restarts. */
const WAITS = [500, 1_000, 2_000, 5_000];

/**
 * @typedef {object} Listener
 * @property {() => void} joined the stream is open: whatever happened before was not heard
 * @property {() => void} lost
 * @property {(event: ServerEvent) => void} heard
 */

/**
 * Follows the daemon's events until the signal aborts.
 * @param {Api} api
 * @param {Listener} listener
 * @param {AbortSignal} signal
 */
export async function follow(api, listener, signal) {
  for (let failures = 0; !signal.aborted; ) {
    const wasOpen = await readStream(api, listener, signal).catch(() => false);
    if (signal.aborted) return;
    failures = wasOpen ? 0 : failures + 1;
    listener.lost();
    await pause(WAITS[Math.min(failures, WAITS.length - 1)] ?? 0, signal);
  }
}

/** Resolves to whether it was open at all. @param {Api} api @param {Listener} listener @param {AbortSignal} signal */
async function readStream(api, listener, signal) {
  const response = await api.events(signal);
  if (!response.ok || response.body === null) return false;
  listener.joined();
  const events = createEventReader();
  const texts = response.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (let part = await texts.read(); !part.done; part = await texts.read())
      for (const event of events.read(part.value)) listener.heard(event);
  } catch {
    // The connection broke off: it was open all the same.
  }
  return true;
}

/** @param {number} ms @param {AbortSignal} signal @returns {Promise<void>} */
const pause = (ms, signal) =>
  new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
