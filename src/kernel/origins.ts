import { domainToASCII, domainToUnicode } from 'node:url';
import { canonicalIp } from './address-literal.ts';
import type { OriginPattern } from './egress-rule.ts';
import { type Origin, type Url, origin, urlId } from './ids.ts';
import { isLocalRoot, isMetadataName } from './local-names.ts';

/** What an origin is, in one place: configuration, redirects and every URL that is dialled are read by it. */

/** A URL that passed the strict reading: what is compared, dialled, named in SNI and sent as Host is one and the same. */
export interface Target {
  readonly url: Url;
  readonly origin: Origin;
  readonly scheme: 'https' | 'http';
  /** Lower-case A-labels or an address literal, IPv6 without brackets. */
  readonly host: string;
  readonly literal: boolean;
  readonly port: number;
  /** Path and query as sent. */
  readonly path: string;
}

/** The value, or one sentence on what is wrong with the text. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly why: string };

const bad = (why: string): { readonly ok: false; readonly why: string } => ({ ok: false, why });
const good = <T>(value: T): Parsed<T> => ({ ok: true, value });

// "at least 8000 octets" — RFC 9110 §4.1; more is an attack on whoever keeps or logs it.
const MAX_URL = 8192;
/** The port that a URL without one means. */
export const DEFAULT_PORT = { https: 443, http: 80 } as const;

/** Reads an absolute http(s) URL strictly: what a WHATWG parser would quietly mend is refused, because another parser mends it otherwise. */
export function parseTarget(text: string): Parsed<Target> {
  if (text.length > MAX_URL) return bad(`the URL is longer than ${MAX_URL} characters`);
  // Swallowed tabs and newlines, back-slashes read as slashes, full-width dots: none reaches the URL parser.
  if (!/^[\x21-\x7e]+$/.test(text))
    return bad('the URL holds a space, a control character or a character outside ASCII');
  if (text.includes('\\')) return bad('the URL holds a backslash');
  const [, scheme = '', authority = '', rest = ''] = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)(.*)$/i.exec(text) ?? [];
  const known = scheme.toLowerCase();
  if (known !== 'https' && known !== 'http') return bad('the URL is not an absolute https:// or http:// URL');
  if (authority.includes('@')) return bad('the URL holds a user name or password');
  const place = parseAuthority(authority, known);
  if (!place.ok) return place;
  return targetOf(`${known}://${authority}${rest}`, known, place.value);
}

function targetOf(text: string, scheme: 'https' | 'http', place: Place): Parsed<Target> {
  const url = URL.parse(text);
  if (url === null) return bad('the URL cannot be parsed');
  if (text.includes('#')) url.hash = '';
  const { href, hostname } = url;
  const host = unbracket(hostname);
  // An address is canonical as it is read; a name already is when it gets here.
  const literal = canonicalIp(place.host);
  // Belt and braces: two readings that disagree on the host are the very bug that this file is about.
  if (host !== (literal ?? place.host)) return bad(`the host is not written as "${hostname}"`);
  return good({
    url: urlId(href),
    origin: origin(url.origin),
    scheme,
    host,
    literal: literal !== null,
    port: place.port,
    path: `${url.pathname}${url.search}`,
  });
}

interface Place {
  readonly host: string;
  readonly port: number;
}

const unbracket = (host: string): string => (host.startsWith('[') ? host.replace(/^\[|\]$/g, '') : host);
const bracket = (host: string): string => (host.includes(':') ? `[${host}]` : host);

/** The WHATWG spelling of an IPv6 literal; everything else is already canonical when it gets here. */
const canonicalHost = (host: string): string => canonicalIp(host) ?? host;

function parseAuthority(authority: string, scheme: 'https' | 'http'): Parsed<Place> {
  const [, name = '', digits] = /^(\[[^\]]*\]|[^:]*)(?::(\d{0,5}))?$/.exec(authority) ?? [];
  if (name === '') return bad('the URL has no host, or a port that is no number');
  const port = digits === undefined || digits === '' ? DEFAULT_PORT[scheme] : Number(digits);
  if (port < 1 || port > 65_535) return bad(`port ${port} does not exist`);
  const host = parseHost(name);
  return host.ok ? good({ host: host.value, port }) : host;
}

/** Reads a host strictly: an address literal in its one spelling, or lower-cased A-labels without trailing dot. */
export function parseHost(text: string): Parsed<string> {
  if (text.startsWith('[')) {
    const ip = unbracket(text);
    return ip.includes(':') && canonicalIp(ip) !== null ? good(ip.toLowerCase()) : bad(`"${text}" is no IPv6 address`);
  }
  const host = text.toLowerCase();
  if (!host.includes(':') && canonicalIp(host) !== null) return good(host);
  if (host.endsWith('.')) return bad(`write the host without the trailing dot: "${host.slice(0, -1)}"`);
  return parseName(host);
}

const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;

function parseName(host: string): Parsed<string> {
  if (host.length > 253) return bad('the host is longer than 253 characters');
  const labels = host.split('.');
  const odd = labels.find((label) => !LABEL.test(label));
  if (odd !== undefined) return bad(`"${odd}" is no label of a host name`);
  // "127.1", "0x7f.0.0.1" and "2130706433" are addresses to a URL parser and names to everyone else.
  if (/^(\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? ''))
    return bad('the host is an address in another spelling than four decimal numbers');
  if (host.includes('xn--') && !isRealALabel(host)) return bad('a label that starts with xn-- does not decode');
  return good(host);
}

/** An A-label decodes to a U-label that encodes back to it (RFC 5891 §4.4); otherwise it is a disguise. */
function isRealALabel(host: string): boolean {
  const unicode = domainToUnicode(host);
  return unicode !== '' && unicode !== host && domainToASCII(unicode) === host;
}

/** Says whether a name is a public suffix: under one, every name is somebody else's. Given by whoever holds the Public Suffix List. */
export type IsPublicSuffix = (host: string) => boolean;

/** Reads one line of an allowlist: `https://weather.example.com`, `https://*.agents.example.com:8443`. */
export function parseOriginPattern(text: string, isPublicSuffix: IsPublicSuffix): Parsed<OriginPattern> {
  const [, scheme = '', star, authority = '', rest = ''] = /^(https?):\/\/(\*\.)?([^/?#]*)(.*)$/i.exec(text) ?? [];
  const known = scheme.toLowerCase();
  if (known !== 'https' && known !== 'http') return bad('write https://host or http://host');
  if (rest !== '' && rest !== '/') return bad('an origin is scheme, host and port; leave out the path');
  if (authority.includes('@')) return bad('an origin holds no user name or password');
  if (authority.includes('*'))
    return bad('a wildcard stands for the whole left label alone: https://*.agents.example.com');
  const place = parseAuthority(withALabels(authority), known);
  if (!place.ok) return place;
  const pattern: OriginPattern = {
    scheme: known,
    ...place.value,
    host: canonicalHost(place.value.host),
    wildcard: star !== undefined,
  };
  return pattern.wildcard ? checkWildcard(pattern, isPublicSuffix) : good(pattern);
}

/** An operator may write `bücher.example`; what IDNA would change beyond encoding (ligatures, look-alike dots) stays and is refused. */
function withALabels(authority: string): string {
  if (/^[\x21-\x7e]*$/.test(authority)) return authority;
  const [, name = '', port = ''] = /^([^:]*)(:\d+)?$/.exec(authority) ?? [];
  const ascii = domainToASCII(name);
  return ascii !== '' && domainToUnicode(ascii) === name.toLowerCase().normalize('NFC') ? `${ascii}${port}` : authority;
}

function checkWildcard(pattern: OriginPattern, isPublicSuffix: IsPublicSuffix): Parsed<OriginPattern> {
  const { host } = pattern;
  if (canonicalIp(host) !== null) return bad('an address has no names below it; leave out the wildcard');
  if (isLocalRoot(host)) return bad(`"*.${host}" would cover every name that means "here"; name the hosts`);
  if (isPublicSuffix(host)) return bad(`"${host}" is a public suffix: the names below it belong to strangers`);
  return good(pattern);
}

/** Scheme, host and port, read strictly: what patterns are held against. */
export type Reached = Pick<OriginPattern, 'scheme' | 'host' | 'port'>;

/** Says whether a pattern covers an origin: same scheme, port and host, or exactly one label below a wildcard's host. */
export function coversOrigin(pattern: OriginPattern, { scheme, host, port }: Reached): boolean {
  if (pattern.scheme !== scheme || pattern.port !== port) return false;
  if (!pattern.wildcard) return pattern.host === host;
  if (canonicalIp(host) !== null || isMetadataName(host)) return false;
  const dot = host.indexOf('.');
  return dot > 0 && host.slice(dot + 1) === pattern.host;
}

/** Finds the pattern that covers an origin. */
export const matchOrigin = (reached: Reached, patterns: readonly OriginPattern[]): OriginPattern | undefined =>
  patterns.find((pattern) => coversOrigin(pattern, reached));

/** Writes a pattern as the configuration has it. */
export function formatPattern(pattern: OriginPattern): string {
  const port = pattern.port === DEFAULT_PORT[pattern.scheme] ? '' : `:${pattern.port}`;
  return `${pattern.scheme}://${pattern.wildcard ? '*.' : ''}${bracket(pattern.host)}${port}`;
}
