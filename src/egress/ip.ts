import { isIPv4, isIPv6 } from 'node:net';
import { formatIpv4, formatIpv6, ipv4Value, ipv6Value } from '../kernel/ip-value.ts';

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

/** Writes an address in one canonical form, so that two spellings compare equal (IPv6: eight full groups). */
export const formatIp = ({ family, value }: Ip): string => (family === 4 ? formatIpv4(value) : formatIpv6(value));

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
  if (ip.family !== block.family) return false;
  const rest = BigInt(BITS[block.family] - block.length);
  return ip.value >> rest === block.base >> rest;
}
