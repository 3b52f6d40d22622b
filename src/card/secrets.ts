import type { Json, JsonObject } from './json.ts';
import { isArray, isObject, pointerTo } from './json.ts';

/** A place in a card that seems to hold a secret. What it holds is never repeated. */
export interface SecretFinding {
  readonly pointer: string;
  readonly kind: string;
}

/** What credentials look like by the marks that their issuers give them. */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----/, 'a private key'],
  [/\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+/, 'a JSON Web Token'],
  [/\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/, 'an AWS access key'],
  [/\bAIza[0-9A-Za-z_-]{35}/, 'a Google API key'],
  [/\bgh[pousr]_[0-9A-Za-z]{36,}/, 'a GitHub token'],
  [/\bglpat-[0-9A-Za-z_-]{20,}/, 'a GitLab token'],
  [/\bxox[abprs]-[0-9A-Za-z-]{10,}/, 'a Slack token'],
  [/\b(?:sk|rk)[-_](?:live|test|proj|ant)?[-_]?[0-9A-Za-z_-]{20,}/, 'an API key'],
  [/\b(?:bearer|basic)\s+(?=[0-9A-Za-z+/_.=-]*\d)[0-9A-Za-z+/_.=-]{20,}/i, 'an authorization value'],
  [/[?&](?:access_token|api_?key|token|sig|signature|key)=[^&\s]{12,}/i, 'a URL with a credential'],
  [
    /\b(?:password|passwd|secret|api[_-]?key|token)\s*[=:]\s*["']?(?=\S*\d)[^\s"',;]{8,}/i,
    'a credential with its name',
  ],
  [/^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]*:[^/?#\s]*@/i, 'a URL with a password'],
];

/** A random string of 32 base64 characters has about 4.4 bits each by its own letters; English text and paths have less. */
const RANDOM_WORD = /[A-Za-z0-9+/_-]{32,}/g;
const RANDOM_BITS = 4.2;

/** Lists the places in a card that seem to hold secrets; signatures are meant to look like that. */
export const findSecrets = (card: JsonObject): readonly SecretFinding[] =>
  Object.entries(card).flatMap(([name, value]) => (name === 'signatures' ? [] : search(value, pointerTo('', name))));

function search(value: Json, pointer: string): readonly SecretFinding[] {
  if (typeof value === 'string') {
    const kind = secretIn(value);
    return kind === undefined ? [] : [{ pointer, kind }];
  }
  const entries = isArray(value) ? [...value.entries()] : isObject(value) ? Object.entries(value) : [];
  return entries.flatMap(([name, item]) => search(item, pointerTo(pointer, name)));
}

function secretIn(text: string): string | undefined {
  const known = PATTERNS.find(([pattern]) => pattern.test(text));
  if (known !== undefined) return known[1];
  return (text.match(RANDOM_WORD) ?? []).some(isRandom) ? 'a random-looking value' : undefined;
}

const isRandom = (word: string): boolean =>
  /\d/.test(word) && /[a-z]/.test(word) && /[A-Z]/.test(word) && !word.includes('/') && entropyOf(word) > RANDOM_BITS;

/** Shannon's entropy of the word's own letters, in bits per letter. */
function entropyOf(word: string): number {
  const counts = new Map<string, number>();
  for (const letter of word) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  return [...counts.values()].reduce((sum, count) => sum - (count / word.length) * Math.log2(count / word.length), 0);
}
