import type { OriginPattern } from '../../kernel/egress-rule.ts';
import { type Origin, origin, type Url, urlId } from '../../kernel/ids.ts';
import { quote } from '../place.ts';
import { canonicalIp } from './addresses.ts';
import { good, type Reading, type ScalarType, wrong } from './scalar.ts';

/** RFC 1035 §2.3.4: a label has 63 octets at most, a name 253 in writing. Underscores are in use, whatever RFC 952 says. */
const HOST = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/;

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
    const url = read.value;
    if (text.includes('?'))
      return wrong(`an origin has no query; write ${url.origin}${url.pathname}, or the whole URL as card`);
    const path = withoutWellKnown(url.pathname).replace(/\/+$/, '');
    return good({ origin: origin(url.origin), href: `${url.origin}${path}`, pattern: patternOf(url) });
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
    return read.ok ? good({ url: urlId(read.value.href), pattern: patternOf(read.value) }) : read;
  },
  show: (value) => value.url,
};

/** One allowed origin, exactly. */
export const originMatch: ScalarType<OriginMatch> = {
  kind: 'scalar',
  name: 'origin',
  range: 'https://HOST[:PORT]',
  bare: false,
  schema: { type: 'string', pattern: '^https?://[^/?#@*]+/?$' },
  read(text) {
    if (text.includes('*'))
      return wrong(
        'wildcards are not available yet; write one rule for each origin, like https://a.agents.example.com',
      );
    const read = readWebUrl(withoutQuery(text));
    if (!read.ok) return read;
    const url = read.value;
    if (url.pathname !== '/' || text.includes('?'))
      return wrong(`an origin has no path and no query; write ${url.origin}`);
    return good({ origin: origin(url.origin), pattern: patternOf(url) });
  },
  show: (value) => value.origin,
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
    if (meant === text && HOST.test(text)) return good(text);
    const spelling = HOST.test(meant) ? `; write ${meant}` : '';
    return wrong(
      `${quote(text)} is no host name, which has no scheme, port or trailing dot and is in lower case${spelling}`,
    );
  },
  show: (value) => value,
};

/** Reads an absolute http(s) URL that is written as it is used; everything else is refused with the right spelling. */
function readWebUrl(text: string): Reading<URL> {
  const shape = wrongShape(text);
  if (shape !== null) return wrong(shape);
  const url = new URL(text);
  // Userinfo may be a password: it is not repeated.
  if (url.username !== '' || url.password !== '' || authorityOf(text).includes('@')) {
    return wrong(`a URL holds no user name and no password; write ${url.protocol}//${url.host}${url.pathname}`);
  }
  if (text.includes('#')) return wrong(`a fragment is never sent; write ${url.href.replace(/#.*$/, '')}`);
  return wellSpelled(text, url);
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

/** Two spellings of one URL would be two cache keys, and a spelling that parsers read differently is a way around an allowlist. */
function wellSpelled(text: string, url: URL): Reading<URL> {
  const host = url.hostname.replace(/\.$/, '');
  if (!host.startsWith('[') && !HOST.test(host)) return wrong(`${quote(url.hostname)} is no host name`);
  if (url.hostname !== host) return wrong(`a host has no trailing dot; write ${url.href.replace(url.hostname, host)}`);
  const defaultPort = url.protocol === 'https:' ? ':443' : ':80';
  const authority = authorityOf(text);
  const written = authority.endsWith(defaultPort)
    ? text.replace(authority, authority.slice(0, -defaultPort.length))
    : text;
  if (written === url.href || `${written}/` === url.href) return good(url);
  return wrong(`${quote(text)} is not spelled as it is used; write ${url.href}`);
}

const withoutQuery = (text: string): string => text.replace(/\?[^#]*/, '');

const authorityOf = (text: string): string => /^[^:]*:\/\/([^/?#\\]*)/.exec(text)?.[1] ?? '';

function patternOf(url: URL): OriginPattern {
  const scheme = url.protocol === 'https:' ? 'https' : 'http';
  const port = url.port === '' ? (scheme === 'https' ? 443 : 80) : Number(url.port);
  return { scheme, host: url.hostname.replace(/^\[(.*)\]$/, '$1'), wildcard: false, port };
}

/** Writes an origin as URLs have it. */
export function formatOrigin({ scheme, host, port }: OriginPattern): string {
  const bracketed = host.includes(':') ? `[${host}]` : host;
  return new URL(`${scheme}://${bracketed}:${port}`).origin;
}
