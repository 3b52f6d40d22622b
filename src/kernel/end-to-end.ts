import type { Fields } from './fields.ts';

/** Fields of one connection (RFC 9110 §7.6.1), and those that a cache never stores (RFC 9111 §3.1). */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * "A sender MUST NOT send a connection option corresponding to a field that is intended for all recipients of the content" — RFC
 * 9110 §7.6.1. Obeying one would let `Connection: cache-control` switch off `no-store`, or make a coded body look plain.
 */
const NEVER_PER_CONNECTION: ReadonlySet<string> = new Set([
  'age',
  'cache-control',
  'cardea-cache-control',
  'cdn-cache-control',
  'content-encoding',
  'content-range',
  'content-type',
  'date',
  'expires',
  'pragma',
  'vary',
]);

/**
 * Leaves out what belongs to one connection: hop-by-hop fields, and those that `Connection` names (RFC 9110 §7.6.1). The one place
 * that decides it, for what arrives from origins, what is sent on and what is stored.
 */
export function endToEnd(fields: Fields): Fields {
  const listed = connectionOptions(fields);
  const kept: string[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const name = fields[at] ?? '';
    const lower = name.toLowerCase();
    if (!HOP_BY_HOP.has(lower) && !listed.has(lower)) kept.push(name, fields[at + 1] ?? '');
  }
  return kept;
}

function connectionOptions(fields: Fields): ReadonlySet<string> {
  const options = new Set<string>();
  for (let at = 0; at + 1 < fields.length; at += 2) {
    if (fields[at]?.toLowerCase() !== 'connection') continue;
    for (const each of (fields[at + 1] ?? '').split(',')) options.add(each.trim().toLowerCase());
  }
  for (const name of NEVER_PER_CONNECTION) options.delete(name);
  return options;
}
