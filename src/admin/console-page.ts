import type { Answer } from '../kernel/answer.ts';
import type { Ask } from '../kernel/ask.ts';
import { refuse } from '../kernel/refusal.ts';
import { problem } from './answers.ts';
import type { ConsoleFile, ConsoleFiles } from './console-files.ts';

/** Answers for the console's page. It has no data, so it asks for no authority: what it shows it reads from the API. */

/**
 * Scripts and styles are our own files and nothing else: markup in a card could run nothing even if it became markup. A form that
 * the browser itself sends would carry what is typed into an address, so none is sent.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const FIELDS = Object.entries({
  'Content-Security-Policy': POLICY,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-cache',
}).flat();

const TRACE = { kind: 'other', agent: null } as const;

/** Answers with a file of the page, or leads a person to it; undefined for everything else. */
export function pageAnswer(files: ConsoleFiles, ask: Ask, path: string): Answer | undefined {
  if (path === '/console' || (path === '/' && /\btext\/html\b/.test(ask.field('accept') ?? ''))) return toThePage();
  const file = files.get(path);
  if (file === undefined) return undefined;
  if (ask.method === 'GET' || ask.method === 'HEAD') return fileAnswer(file, ask);
  return problem(refuse('method-not-allowed', 'A file of the console is only read.', { allow: ['GET', 'HEAD'] }));
}

const toThePage = (): Answer => ({
  status: 303,
  fields: ['Location', '/console/', ...FIELDS],
  body: null,
  trace: { ...TRACE, result: 'hit' },
});

function fileAnswer({ body, contentType, etag }: ConsoleFile, ask: Ask): Answer {
  const fields = [...FIELDS, 'ETag', etag];
  if (hasAlready(ask, etag)) return { status: 304, fields, body: null, trace: { ...TRACE, result: 'not_modified' } };
  return { status: 200, fields: ['Content-Type', contentType, ...fields], body, trace: { ...TRACE, result: 'hit' } };
}

/** "A recipient MUST use the weak comparison function" — RFC 9110 §13.1.2. */
const hasAlready = (ask: Ask, etag: string): boolean =>
  (ask.field('if-none-match') ?? '').split(',').some((each) => ['*', etag, `W/${etag}`].includes(each.trim()));
