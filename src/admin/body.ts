import type { Ask } from '../kernel/ask.ts';
import { type Outcome, type Refusal, accepted, refuse, refused } from '../kernel/refusal.ts';
import { readStrictJson } from './strict-json.ts';

/** The members of an order, checked by name; their values are checked by who reads them. */
export type Order = ReadonlyMap<string, unknown>;

/** No order needs more: a hundred tags of the longest names. */
const LARGEST = 64 * 1024;
/** What a person writes into a log for others to read. */
const LONGEST_REASON = 500;

/** Reads the body of an order: one JSON object with none but the named members. An empty body has none. */
export async function readOrder(ask: Ask, members: readonly string[]): Promise<Outcome<Order>> {
  const bytes = await readBytes(ask);
  if (!bytes.ok) return bytes;
  if (bytes.value.length === 0) return accepted(new Map());
  // "text/plain" is what a form of a web page can send without asking anyone (CSRF).
  if (!/^application\/json(?:\s*;\s*charset="?utf-8"?)?\s*$/i.test(ask.field('content-type') ?? '')) {
    return refused(refuse('bad-request', 'The body must be declared as application/json.', { status: 415 }));
  }
  const parsed = readStrictJson(bytes.value);
  const value = parsed?.value;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refused(bad(NO_OBJECT));
  const order = new Map<string, unknown>(Object.entries(value));
  const stranger = [...order.keys()].find((name) => !members.includes(name));
  if (stranger !== undefined)
    return refused(bad(`${shown(stranger)} is no member here; known: ${members.join(', ')}.`));
  return accepted(order);
}

const NO_OBJECT = 'The body must be one JSON object in UTF-8, each name once.';

async function readBytes({ body }: Ask): Promise<Outcome<Uint8Array>> {
  if (body === null) return accepted(new Uint8Array(0));
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > LARGEST) return refused(refuse('request-too-large', `A body has at most ${LARGEST} bytes.`));
    chunks.push(chunk);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return accepted(whole);
}

/** Reads a switch that may be left out. */
export function flagOf(order: Order, name: string): Outcome<boolean> {
  const value = order.get(name) ?? false;
  return typeof value === 'boolean' ? accepted(value) : refused(bad(`${name} must be true or false.`));
}

/** Reads why a change is made: without a reason nobody can judge it later. */
export function reasonOf(order: Order): Outcome<string> {
  const value = order.get('reason');
  const reason = typeof value === 'string' ? value.trim() : '';
  if (reason === '' || reason.length > LONGEST_REASON || /\p{Cc}/u.test(reason)) {
    return refused(bad(`reason must say why, in one line of at most ${LONGEST_REASON} characters.`));
  }
  return accepted(reason);
}

/** The same, where it may be left out. */
export const optionalReason = (order: Order): Outcome<string | null> =>
  order.has('reason') ? reasonOf(order) : accepted(null);

export const bad = (detail: string): Refusal => refuse('bad-request', detail);

/** Quotes a stranger's word: escaped and cut. */
export const shown = (word: string): string => JSON.stringify(word.length > 64 ? `${word.slice(0, 64)}…` : word);
