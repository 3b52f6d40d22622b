import type { CardRule } from '../kernel/card-rule.ts';
import { accepted, type Outcome, refuse, refused } from '../kernel/refusal.ts';
import type { JsonObject } from './json.ts';
import { isObject, kindOf } from './json.ts';
import { scanJson } from './scan.ts';
import { decodeUtf8 } from './utf8.ts';

/** Turns the bytes of a card into an object, or says at which line and column they stop being strict JSON in UTF-8. */
export function parseCard(body: Uint8Array, rule: Pick<CardRule, 'maxBytes' | 'maxDepth'>): Outcome<JsonObject> {
  if (body.byteLength > rule.maxBytes) {
    return refused(
      refuse('card-too-large', `The card has ${body.byteLength} bytes; limits.cardBytes is ${rule.maxBytes}.`),
    );
  }
  const text = decodeUtf8(body);
  if (text === undefined) return refused(refuse('card-not-json', 'The card is not UTF-8.'));
  if (text.startsWith('\uFEFF')) {
    // RFC 8259 §8.1: "Implementations MUST NOT add a byte order mark"; parsers differ on it, and signatures with them.
    return refused(refuse('card-not-json', 'The card starts with a byte order mark; serve it without one.'));
  }
  const scan = scanJson(text, rule.maxDepth);
  if (!scan.ok) {
    const { line, column, what } = scan.fault;
    return refused(refuse('card-not-json', `Line ${line}, column ${column}: ${what}.${loginHint(text)}`));
  }
  if (!isObject(scan.value)) {
    return refused(refuse('card-invalid', `The document is ${kindOf(scan.value)}; a card is an object.`));
  }
  return accepted(scan.value);
}

const loginHint = (text: string): string =>
  /^\s*</.test(text) ? ' It looks like a web page; does the URL need a login?' : '';
