import { canonicalIp } from '../../kernel/address-literal.ts';
import type { OriginPattern } from '../../kernel/egress-rule.ts';
import { type Origin, origin, type Url } from '../../kernel/ids.ts';
import { suffixed } from '../../kernel/public-suffix.ts';
import { formatPattern, parseHost, parseOriginPattern, parseTarget, type Target } from '../../kernel/origins.ts';
import { quote } from '../place.ts';
import { good, type Reading, type ScalarType, wrong } from './scalar.ts';

/**
 * What may be written: the strict reading of `kernel/origins.ts`, and of what that allows the one spelling in which it is used. All
 * that is done here beyond it is to say which spelling was meant.
 */

/** Where an agent lives: its origin, and the path below which its well-known path stands. */
export interface AgentBase {
  readonly origin: Origin;
  /** Origin and base path without a trailing slash: `https://a.example/team/agent`. */
  readonly href: string;
  readonly pattern: OriginPattern;
}

/** A URL of a card, with the origin that it stands on. */
export interface CardUrl {
  readonly url: Url;
  readonly pattern: OriginPattern;
}

/** One allowed origin. */
export interface OriginMatch {
  readonly origin: Origin;
  readonly pattern: OriginPattern;
}

export const WELL_KNOWN_PATHS = ['/.well-known/agent-card.json', '/.well-known/agent.json'] as const;

/** An agent's origin; a base path may follow, below which the well-known path is appended, once. */
export const agentBase: ScalarType<AgentBase> = {
  kind: 'scalar',
  name: 'origin',
  range: 'https://HOST[:PORT][/PATH]',
  bare: false,
  schema: { type: 'string', pattern: '^https?://[^?#@]+$' },
  read(text) {
    const read = readWebUrl(withoutQuery(text));
    if (!read.ok) return read;
    const target = read.value;
    if (text.includes('?')) return wrong(`an origin has no query; write ${target.url}, or the whole URL as card`);
    const path = withoutWellKnown(target.path).replace(/\/+$/, '');
    return good({ origin: target.origin, href: `${target.origin}${path}`, pattern: patternOf(target) });
  },
  show: (value) => value.href,
};

function withoutWellKnown(path: string): string {
  const written = WELL_KNOWN_PATHS.find((known) => path.endsWith(known));
  return written === undefined ? path : path.slice(0, -written.length);
}

/** A URL that is used as it is. */
export const cardUrl: ScalarType<CardUrl> = {
  kind: 'scalar',
  name: 'URL',
  range: 'https://HOST[:PORT]/PATH',
  bare: false,
  schema: { type: 'string', pattern: '^https?://[^#@]+$' },
  read(text) {
    const read = readWebUrl(text);
    return read.ok ? good({ url: read.value.url, pattern: patternOf(read.value) }) : read;
  },
  show: (value) => value.url,
};

/** One allowed origin, exactly, or by a wildcard every host one label below it. */
export const originMatch: ScalarType<OriginMatch> = {
  kind: 'scalar',
  name: 'origin',
  range: 'https://HOST[:PORT], https://*.HOST[:PORT]',
  bare: false,
  schema: { type: 'string', pattern: '^https?://(\\*\\.)?[^/?#@*]+/?$' },
  read(text) {
    if (text.includes('*')) return readWildcard(text);
    const read = readWebUrl(withoutQuery(text));
    if (!read.ok) return read;
    const target = read.value;
    if (target.path !== '/' || text.includes('?'))
      return wrong(`an origin has no path and no query; write ${target.origin}`);
    return good({ origin: target.origin, pattern: patternOf(target) });
  },
  show: (value) => value.origin,
};

function readWildcard(text: string): Reading<OriginMatch> {
  const parsed = parseOriginPattern(text, isPublicSuffix);
  if (!parsed.ok) return wrong(text.includes('@') ? parsed.why : `${quote(text)}: ${parsed.why}`);
  const spelled = formatPattern(parsed.value);
  if (text !== spelled && text !== `${spelled}/`)
    return wrong(`${quote(text)} is not spelled as it is used; write ${spelled}`);
  return good({ origin: origin(spelled), pattern: parsed.value });
}

/** The origin of a web page, as its browser writes it in `Origin`. */
export const pageOrigin: ScalarType<Origin> = {
  kind: 'scalar',
  name: 'origin',
  range: 'https://HOST[:PORT]',
  bare: false,
  schema: { type: 'string', pattern: '^https?://[^/?#@*]+/?$' },
  read(text, folder) {
    if (text === '*' || text === 'null')
      return wrong(`${quote(text)} would let any web page read answers; write the origin of each page`);
    const read = originMatch.read(text, folder);
    if (!read.ok) return read;
    if (read.value.pattern.wildcard) return wrong('wildcards are for origins rules; write the origin of each page');
    return good(read.value.origin);
  },
  show: (value) => value,
};

const isPublicSuffix = (host: string): boolean => suffixed(host).suffix === host;

/** A proxy that everything goes through, or none. */
export interface ProxyChoice {
  readonly url: Url | null;
}

/** An HTTP proxy that is asked to CONNECT; its own address is the operator's word. `null` for none. */
export const proxyUrl: ScalarType<ProxyChoice> = {
  kind: 'scalar',
  name: 'proxy',
  range: 'http://HOST:PORT, null',
  bare: false,
  nothing: { url: null },
  schema: { type: ['string', 'null'], pattern: '^http://[^/?#@]+/?$' },
  read(text) {
    const read = readWebUrl(withoutQuery(text));
    if (!read.ok) return read;
    const { scheme, path, origin: spelled } = read.value;
    // What is inside the tunnel is TLS to the origin; a second TLS around it would be an identity of its own to configure.
    if (scheme !== 'http') return wrong(`a proxy is asked in cleartext; write ${spelled.replace('https:', 'http:')}`);
    if (path !== '/' || text.includes('?')) return wrong(`a proxy has no path and no query; write ${spelled}`);
    return good({ url: read.value.url });
  },
  show: ({ url }) => (url === null ? null : url.replace(/\/$/, '')),
};

/** An absolute URI that names something; it is compared, never fetched. */
export const uri: ScalarType<string> = {
  kind: 'scalar',
  name: 'URI',
  range: '',
  bare: false,
  schema: { type: 'string', pattern: '^[A-Za-z][A-Za-z0-9+.-]*:[^ ]+$' },
  read: (text) =>
    /^[a-z][a-z0-9+.-]*:[\x21-\x7e]+$/i.test(text)
      ? good(text)
      : wrong(`${quote(text)} is no absolute URI; write one like https://example.com/ext/geo/v1`),
  show: (value) => value,
};

/** Whom a token is for: a word or a URL, compared as it stands. */
export const audience: ScalarType<string> = {
  kind: 'scalar',
  name: 'audience',
  range: '',
  bare: false,
  schema: { type: 'string', pattern: '^[!-~]{1,512}$' },
  read: (text) =>
    /^[!-~]{1,512}$/.test(text)
      ? good(text)
      : wrong(`${quote(text)} is no audience; write what stands in the aud of tokens for the agent`),
  show: (value) => value,
};

/** A host as a client may name it in Host: lower case, without port. */
export const hostName: ScalarType<string> = {
  kind: 'scalar',
  name: 'host',
  range: '',
  bare: false,
  schema: { type: 'string', pattern: '^[a-z0-9_.:-]+$' },
  read(text) {
    const ip = canonicalIp(text.replace(/^\[(.*)\]$/, '$1'));
    if (ip !== null) return good(ip);
    const bare = text
      .replace(/^[a-z]+:\/\//i, '')
      .replace(/[/?#].*$/, '')
      .replace(/:[0-9]*$/, '')
      .replace(/\.$/, '');
    const meant = URL.canParse(`http://${bare}/`) ? new URL(`http://${bare}/`).hostname : '';
    if (meant === text && parseHost(text).ok) return good(text);
    const spelling = parseHost(meant).ok ? `; write ${meant}` : '';
    return wrong(
      `${quote(text)} is no host name, which has no scheme, port or trailing dot and is in lower case${spelling}`,
    );
  },
  show: (value) => value,
};

/** Reads an absolute http(s) URL that is written as it is used; everything else is refused with the right spelling. */
function readWebUrl(text: string): Reading<Target> {
  const shape = wrongShape(text);
  if (shape !== null) return wrong(shape);
  const url = new URL(text);
  // Userinfo may be a password: it is not repeated.
  if (url.username !== '' || url.password !== '' || authorityOf(text).includes('@')) {
    return wrong(`a URL holds no user name and no password; write ${url.protocol}//${url.host}${url.pathname}`);
  }
  if (text.includes('#')) return wrong(`a fragment is never sent; write ${url.href.replace(/#.*$/, '')}`);
  const spelling = wrongSpelling(text, url);
  if (spelling !== null) return wrong(spelling);
  const target = parseTarget(text);
  return target.ok ? good(target.value) : wrong(`${quote(text)} cannot be used: ${target.why}`);
}

/** What keeps the text from being an absolute http(s) URL at all; null for nothing. */
function wrongShape(text: string): string | null {
  if (/[\s\p{Cc}]/u.test(text)) return 'a URL holds no white space';
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text) ?? [];
  const shown = text.includes('@') ? 'what is written' : quote(text);
  if (scheme === undefined) {
    const meant = `https://${text.replace(/^(?:https?:)?\/*/i, '')}`;
    const spelling = URL.canParse(meant) && !text.includes('@') ? meant : 'one like https://agent.example.com';
    return `${shown} is no absolute URL; write ${spelling}`;
  }
  if (!/^https?$/i.test(scheme)) return `the scheme ${scheme}: is not known; write https:`;
  return URL.canParse(text) ? null : `${shown} is no URL: its host or port cannot be read`;
}

/** Two spellings of one URL would be two cache keys; null where the text is spelled as it is used. */
function wrongSpelling(text: string, url: URL): string | null {
  const host = url.hostname.replace(/\.$/, '');
  if (!parseHost(host).ok) return `${quote(url.hostname)} is no host name`;
  if (url.hostname !== host) return `a host has no trailing dot; write ${url.href.replace(url.hostname, host)}`;
  const defaultPort = url.protocol === 'https:' ? ':443' : ':80';
  const authority = authorityOf(text);
  const written = authority.endsWith(defaultPort)
    ? text.replace(authority, authority.slice(0, -defaultPort.length))
    : text;
  if (written === url.href || `${written}/` === url.href) return null;
  return `${quote(text)} is not spelled as it is used; write ${url.href}`;
}

const withoutQuery = (text: string): string => text.replace(/\?[^#]*/, '');

const authorityOf = (text: string): string => /^[^:]*:\/\/([^/?#\\]*)/.exec(text)?.[1] ?? '';

const patternOf = ({ scheme, host, port }: Target): OriginPattern => ({ scheme, host, wildcard: false, port });
