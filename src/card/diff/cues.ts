import type { Cue } from '../../kernel/change.ts';
import { CUES } from '../../kernel/change.ts';
import type { Json } from '../json.ts';
import { isArray, isObject } from '../json.ts';

/**
 * The word list by which a changed text is marked for a person (docs/review.md). It reads English; it is there so that a harmless
 * looking edit of a skill's text does not pass unread when it brings a new kind of action, and it is no filter against attacks.
 * Each entry is a whole word, or the beginning of one where it ends in `*`.
 */
const WORDS: ReadonlyMap<Cue, string> = new Map([
  [
    'sends',
    'send, sends, sending, email*, e-mail*, mail, mails, forward, forwards, upload*, post, posts, ' +
      'publish*, transmit*, submit*, notif*, share, shares, exfiltrat*, webhook*, sms, message, ' +
      'messages',
  ],
  [
    'deletes',
    'delet*, remov*, eras*, destroy*, wip*, purg*, drop, drops, overwrit*, revok*, terminat*, ' +
      'uninstall*, truncat*',
  ],
  [
    'pays',
    'pay, pays, paying, payment*, purchas*, buy, buys, buying, transfer*, charg*, invoic*, refund*, ' +
      'money, wallet*, bank*, credit, debit, checkout, subscrib*, withdraw*, wire',
  ],
  [
    'credentials',
    'password*, passphrase*, credential*, secret, secrets, token, tokens, api-key*, apikey*, key, ' +
      'keys, login, logins, cookie*, otp, oauth, authenticat*, ssn, pin',
  ],
  [
    'instructs',
    'ignore, disregard, always, never, must, instead, override, system, prompt*, instruction*, ' +
      'assistant, you, your, before, first, important, mandatory, prefer, preferred, only, do not, ' +
      'any other, secretly, without asking, without telling',
  ],
]);

const PATTERNS: ReadonlyMap<Cue, RegExp> = new Map([
  ...[...WORDS].map(([cue, words]): [Cue, RegExp] => [cue, patternOf(words)]),
  [
    'links',
    /\b[a-z][a-z0-9+.-]{1,15}:\/\/|\bwww\.|\bmailto:|[a-z0-9]\.(?:com|org|net|io|dev|app|ai|co|info|xyz)(?![a-z0-9-])/u,
  ],
  // Zero width, direction, tags: what a person does not see and a model reads. U+FE0F makes a picture of a sign.
  ['hidden', /[\p{Default_Ignorable_Code_Point}--\uFE0F]/v],
  ['script', /(?!\p{Script=Latin}|\p{Script=Common}|\p{Script=Inherited})\p{L}/u],
]);

function patternOf(words: string): RegExp {
  const parts = words.split(', ').map((word) => (word.endsWith('*') ? `${word.slice(0, -1)}\\p{L}*` : word));
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${parts.join('|')})(?![\\p{L}\\p{N}])`, 'u');
}

/** Lists the cues in a text. */
export function cuesIn(text: string): readonly Cue[] {
  // What is spelled with full-width letters, with marks, or in pieces is read as what it looks like; `hidden` looks at the text as it came.
  const plain = text
    .normalize('NFKD')
    .replaceAll(/[\p{M}\p{Cf}]/gu, '')
    .toLowerCase()
    .replaceAll(/[\s_]+/gu, ' ');
  return CUES.filter((cue) => PATTERNS.get(cue)?.test(cue === 'hidden' ? text : plain) === true);
}

/** Lists the cues that the text after has and the text before has not. */
export function newCues(before: string, after: string): readonly Cue[] {
  const known = new Set(cuesIn(before));
  return cuesIn(after).filter((cue) => !known.has(cue));
}

/** Joins every text in a value, names of members included: a model reads those too. */
export function wordsIn(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  if (isArray(value)) return value.map(wordsIn).join('\n');
  if (isObject(value))
    return Object.entries(value)
      .map(([name, one]) => `${name}\n${wordsIn(one)}`)
      .join('\n');
  return '';
}
