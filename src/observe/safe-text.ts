/**
 * Makes text from outside fit for a log line: no credential, no character that moves a terminal or turns text around, no more
 * than `longest` characters. A refusal's text may quote an origin's challenge, and an origin may put there what it was sent.
 */
export function safeText(text: string, longest = LONGEST): string {
  // Cut first, so that a hostile length costs nothing; far behind the end, so that no credential is cut in two there.
  const head = text.slice(0, longest * 4);
  if (!SUSPECT.test(head)) return head.length > longest ? `${head.slice(0, longest - 1)}…` : head;
  const clean = REDACTIONS.reduce((left, [pattern, instead]) => left.replaceAll(pattern, instead), head);
  const shown = clean.replaceAll(UNSEEN, '?');
  return shown.length > longest ? `${shown.slice(0, longest - 1)}…` : shown;
}

/** True where `safeText` leaves every one of them as it is; where it is false, it may still. Their sum may be as long as one text. */
export function areSafe(texts: readonly string[]): boolean {
  // What joins them is no part of a name or a URL: whatever one of them holds is found in all of them.
  const all = texts.join('\n');
  return all.length <= LONGEST && !SUSPECT.test(all);
}

/** A refusal's detail is one or two sentences; what is longer is somebody else's text. */
const LONGEST = 1_024;

/** Controls (tab and newline are escaped in JSON), text direction marks, line separators, halves of characters. */
const UNSEEN = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const REDACTED = '[redacted]';
const SCHEMES = 'bearer|basic|dpop|digest|negotiate|token|hoba|mutual|vapid|aws4-hmac-sha256|privatetoken';
const SECRET_NAMES =
  'access_token|refresh_token|id_token|auth_token|token|client_secret|client_assertion|secret|password|passwd|pwd|api[-_]?key|x-api-key|authorization|cookie|signature|assertion';

/** What credentials look like, and what is shown in their place. */
const REDACTIONS: readonly (readonly [RegExp, string])[] = [
  // URLs: userinfo, query and fragment.
  [/(\bhttps?:\/\/)[^\s/?#@"'<>]*@/gi, '$1'],
  [/(\bhttps?:\/\/[^\s?#"'<>]*)[?#][^\s"'<>]*/gi, `$1?${REDACTED}`],
  // A scheme and its token68 (RFC 9110 §11.4); `Bearer realm="…"` is a challenge, no credential.
  [new RegExp(`\\b(${SCHEMES})\\s+[\\w.~+/-]{6,}=*(?![\\w.~+/=-])(?!=)`, 'gi'), `$1 ${REDACTED}`],
  // name=value, name: value and "name":"value".
  [new RegExp(`\\b(${SECRET_NAMES})(["']?\\s*[=:]\\s*["']?)[^\\s"'&,;]{3,}`, 'gi'), `$1$2${REDACTED}`],
  // A JWT, or what is left of one.
  [/\beyJ[\w-]{4,}(?:\.[\w-]*){0,4}/g, REDACTED],
];

/** What all of them begin with, and what is not shown: a text without any of it is as it is. Floor of most lines: one search. */
const SUSPECT = new RegExp(
  `[^\\t\\n\\x20-\\x7e]|https?://[^\\s?#@"'<>]*[?#@]|eyJ|\\b(?:${SCHEMES})\\s|(?:${SECRET_NAMES})["'\\s=:]`,
  'i',
);

/** A URL without what may hold credentials: userinfo, query and fragment. Empty where it is none. */
export function safeUrl(url: string): string {
  const parsed = URL.parse(url);
  return parsed === null ? '' : `${parsed.origin}${parsed.pathname}`;
}
