import type { Ask } from '../kernel/ask.ts';
import { SESSION_SECONDS } from './sessions.ts';

/** The console's cookie. */

/**
 * Names it. Cookies know hosts and no ports: two daemons on one machine would sign each other's people out. Over TLS its prefix
 * keeps other hosts of the domain and cleartext pages from setting it (RFC 6265bis §4.1.3.2).
 */
function cookieName(base: string): string {
  const port = /:(\d+)$/.exec(base)?.[1] ?? '';
  return `${isSecure(base) ? '__Host-' : ''}cardea-session${port === '' ? '' : `-${port}`}`;
}

const isSecure = (base: string): boolean => base.startsWith('https:');

/** More of one name are an attempt at something. */
const MOST = 4;

/** Every value that a request has of it. HTTP/2 may split the field into lines (RFC 9113 §8.2.3), which arrive joined by commas. */
export function cookiesOf(ask: Ask): readonly string[] {
  const name = `${cookieName(ask.base)}=`;
  return (ask.field('cookie') ?? '')
    .split(/[;,]/)
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(name))
    .slice(0, MOST)
    .map((pair) => pair.slice(name.length));
}

/** The Set-Cookie that gives it, or takes it away. */
export function setCookie(ask: Ask, value: string | null): string {
  const pair = `${cookieName(ask.base)}=${value ?? ''}`;
  const secure = isSecure(ask.base) ? '; Secure' : '';
  return `${pair}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${value === null ? 0 : SESSION_SECONDS}${secure}`;
}
