import { isIPv4 } from 'node:net';
import { ipv4Number } from '../kernel/ip-value.ts';
import { describeEmbedded, embeddedIn, unwrapIp } from './embedded.ts';
import { type Cidr, type Ip, BITS, formatIp, inBlock, parseCidr, parseIp } from './ip.ts';
import { METADATA_ADDRESSES } from './metadata-addresses.data.ts';
import { SPECIAL_RANGES } from './special-ranges.data.ts';

/** What an address is: global unicast, or in a range that is not dialled, with its name and the RFC that sets it aside. */
export type AddressClass =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly range: string; readonly name: string; readonly rfc: string };

/** Whether one address may be dialled under a rule. */
export type AddressVerdict =
  | { readonly allowed: true; readonly address: string }
  | {
      readonly allowed: false;
      readonly address: string;
      readonly range: string;
      readonly name: string;
      readonly rfc: string;
      /** The entry of `unsafeAddresses` that would allow it; null where none would. */
      readonly entry: string | null;
    };

const GLOBAL: AddressClass = { allowed: true };

interface Block extends Cidr {
  readonly name: string;
  readonly rfc: string;
}

function block(range: string, name: string, rfc: string): Block {
  const cidr = parseCidr(range);
  if (cidr === null) throw new TypeError(`${range} is no address block`);
  return { ...cidr, name, rfc };
}

// Multicast stands in registries of its own; what remains outside 2000::/3 is not handed out (RFC 4291 §2.4, IANA's IPv6 space).
const FURTHER: readonly Block[] = [
  block('224.0.0.0/4', 'Multicast', 'RFC 5771'),
  block('ff00::/8', 'Multicast', 'RFC 4291'),
  block('fec0::/10', 'Deprecated (Site-Local Unicast)', 'RFC 3879'),
  block('::/96', 'Deprecated (IPv4-compatible)', 'RFC 4291'),
  block('::ffff:0:0:0/96', 'IPv4-translated (SIIT)', 'RFC 7915'),
];

/** The narrowest block first, so that a denial names what the address really is. */
const BLOCKS: readonly Block[] = [
  ...SPECIAL_RANGES.map((row) => block(row.range, row.name, row.rfc)),
  ...FURTHER,
].toSorted((a, b) => b.length - a.length);
const GLOBAL_UNICAST = block('2000::/3', 'Global Unicast', 'RFC 4291');
const METADATA = METADATA_ADDRESSES.map(({ address, cloud }) => block(address, `Cloud metadata (${cloud})`, 'no RFC'));

const NOT_AN_ADDRESS: AddressClass = { allowed: false, range: 'none', name: 'Not an address', rfc: 'RFC 4291' };

/** A block of IPv4 in numbers, which are compared many times faster than BigInts; and most addresses are of IPv4. */
interface Block4 {
  readonly base: number;
  readonly mask: number;
  readonly row: Block;
}

/** Those of IPv4, in the order in which they are asked: nothing is embedded in an address of IPv4. */
const BLOCKS_4: readonly Block4[] = [...METADATA, ...BLOCKS]
  .filter((row) => row.family === 4)
  .map((row) => ({ base: Number(row.base), mask: maskOf(row.length), row }));

/** 32 bits, as `&` makes them: a shift by 32 would be none. */
function maskOf(length: number): number {
  return length === 0 ? 0 : -1 << (BITS[4] - length);
}

const isWithin = (value: number, { base, mask }: Pick<Block4, 'base' | 'mask'>): boolean =>
  (value & mask) >>> 0 === base;

function classifyIpv4(value: number): AddressClass {
  for (const block4 of BLOCKS_4) if (isWithin(value, block4)) return denied(block4.row);
  return GLOBAL;
}

/** Classifies an address by IANA's registries, multicast, the cloud metadata list and every IPv4 address inside it. */
export function classifyAddress(text: unknown): AddressClass {
  if (typeof text === 'string' && isIPv4(text)) return classifyIpv4(ipv4Number(text));
  const ip = parseIp(text);
  return ip === null ? NOT_AN_ADDRESS : classifyIp(ip);
}

function classifyIp(outer: Ip): AddressClass {
  const ip = unwrapIp(outer);
  const metadata = metadataIn(outer);
  if (metadata !== undefined) return denied(metadata);
  const exact = BLOCKS.find((row) => row.length === BITS[ip.family] && inBlock(ip, row));
  if (exact !== undefined) return denied(exact);
  for (const embedded of embeddedIn(ip)) {
    const inner = classifyIp(embedded.ip);
    if (!inner.allowed) return { ...inner, name: `${inner.name}, as ${describeEmbedded(embedded)}` };
  }
  const special = BLOCKS.find((row) => inBlock(ip, row));
  if (special !== undefined) return denied(special);
  // Fails closed: what nobody has handed out is nobody's to publish a card from.
  if (ip.family === 6 && !inBlock(ip, GLOBAL_UNICAST)) {
    return { allowed: false, range: '::/0 outside 2000::/3', name: 'Not allocated for unicast', rfc: 'RFC 4291' };
  }
  return GLOBAL;
}

const denied = (row: Block): AddressClass => ({ allowed: false, range: row.text, name: row.name, rfc: row.rfc });

function metadataIn(ip: Ip): Block | undefined {
  const all: readonly Ip[] = [ip, ...embeddedIn(ip).map((embedded) => embedded.ip)];
  return METADATA.find((row) => all.some((candidate) => inBlock(candidate, row)));
}

/** Judges one address under a rule's `unsafeAddresses`. Metadata addresses pass only where named exactly, whatever range holds them. */
export function vetAddress(text: unknown, unsafe: readonly string[]): AddressVerdict {
  const address = printable(text);
  const found = classifyAddress(text);
  if (found.allowed) return { allowed: true, address };
  const ip = parseIp(text);
  if (ip === null) return { ...found, address, entry: null };
  const metadata = metadataIn(ip);
  const inner = unwrapIp(ip);
  const isLiftedBy = (line: string): boolean => {
    const cidr = parseCidr(line);
    return cidr !== null && (lifts(cidr, ip, metadata) || (inner !== ip && lifts(cidr, inner, metadata)));
  };
  if (unsafe.some(isLiftedBy)) return { allowed: true, address };
  return { ...found, address, entry: entryFor(inner, found.range, metadata) };
}

/** A stranger's text in a message: short, and nothing that moves a terminal. */
const printable = (text: unknown): string =>
  String(text)
    .replaceAll(/[^\x20-\x7e]/g, '?')
    .slice(0, 64);

/** A metadata address is lifted by its own line alone. */
const lifts = (cidr: Cidr, ip: Ip, metadata: Block | undefined): boolean =>
  inBlock(ip, cidr) && (metadata === undefined || cidr.length === BITS[cidr.family]);

/** The line of `unsafeAddresses` that would allow this address: its range, or where that would not do, the address alone. */
function entryFor(ip: Ip, range: string, metadata: Block | undefined): string {
  const cidr = metadata === undefined ? parseCidr(range) : null;
  return cidr !== null && inBlock(ip, cidr) ? range : `${formatIp(ip)}/${BITS[ip.family]}`;
}
