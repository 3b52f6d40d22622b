import { isIPv4, isIPv6 } from 'node:net';

/** An address as a number: 32 bits for family 4, 128 for family 6. */
export interface Ip {
  readonly family: 4 | 6;
  readonly value: bigint;
}

/** A block of addresses: `10.0.0.0/8`. A single address is a block of full length. */
export interface Cidr {
  readonly family: 4 | 6;
  readonly base: bigint;
  readonly length: number;
  readonly text: string;
}

export const BITS = { 4: 32, 6: 128 } as const;

/**
 * Reads an address literal; null for anything else. Zone ids ("fe80::1%eth0") are no addresses here: they pick an interface
 * of this machine, which no stranger may.
 */
export function parseIp(text: unknown): Ip | null {
  if (typeof text !== 'string' || text.includes('%')) return null;
  if (isIPv4(text)) return { family: 4, value: ipv4Value(text) };
  if (isIPv6(text)) return { family: 6, value: ipv6Value(text) };
  return null;
}

const ipv4Value = (text: string): bigint => text.split('.').reduce((value, octet) => (value << 8n) | BigInt(octet), 0n);

function ipv6Value(text: string): bigint {
  const [head = '', tail] = withHexTail(text).split('::');
  const left = groups(head);
  const right = tail === undefined ? [] : groups(tail);
  const zeros = Array<string>(8 - left.length - right.length).fill('0');
  return [...left, ...(tail === undefined ? [] : zeros), ...right].reduce(
    (value, group) => (value << 16n) | BigInt(`0x${group}`),
    0n,
  );
}

const groups = (part: string): readonly string[] => (part === '' ? [] : part.split(':'));

/** Rewrites a dotted tail (`::ffff:127.0.0.1`) as two groups. */
function withHexTail(text: string): string {
  const colon = text.lastIndexOf(':');
  const tail = text.slice(colon + 1);
  if (!tail.includes('.')) return text;
  const value = ipv4Value(tail);
  return `${text.slice(0, colon + 1)}${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
}

/** Writes an address in one canonical form, so that two spellings compare equal (IPv6: eight full groups). */
export function formatIp(ip: Ip): string {
  if (ip.family === 4) return [24n, 16n, 8n, 0n].map((shift) => (ip.value >> shift) & 255n).join('.');
  return Array.from({ length: 8 }, (_, at) => ((ip.value >> BigInt(112 - 16 * at)) & 0xffffn).toString(16)).join(':');
}

/** Reads `10.0.0.0/8`, `fd00::/8` or a single address; null for anything else, bits beyond the prefix included. */
export function parseCidr(text: string): Cidr | null {
  const [, address = '', digits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const ip = parseIp(address);
  if (ip === null) return null;
  const length = digits === undefined ? BITS[ip.family] : Number(digits);
  if (length > BITS[ip.family]) return null;
  const rest = BigInt(BITS[ip.family] - length);
  // "10.0.0.5/8" is more likely a slip for /32 than a wish for sixteen million addresses.
  if ((ip.value >> rest) << rest !== ip.value) return null;
  return { family: ip.family, base: ip.value, length, text };
}

/** Says whether an address lies in a block of its own family. */
export function inBlock(ip: Ip, block: Cidr): boolean {
  const rest = BigInt(BITS[block.family] - block.length);
  return ip.family === block.family && ip.value >> rest === block.base >> rest;
}
