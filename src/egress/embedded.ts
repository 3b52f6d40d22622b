import { type Ip, formatIp, inBlock, parseCidr } from './ip.ts';

/** An IPv4 address that hides in an IPv6 one, and by which scheme. */
export interface Embedded {
  readonly form: string;
  readonly rfc: string;
  readonly ip: Ip;
  /**
   * True where the IPv6 address reaches nothing but that IPv4 address, so that the inner one alone is judged: the kernel dials
   * IPv4 for mapped addresses, and DNS64 resolvers answer with well-known NAT64 ones for every IPv4-only origin.
   */
  readonly alone: boolean;
}

const v4 = (value: bigint): Ip => ({ family: 4, value: value & 0xffff_ffffn });

interface Form {
  readonly form: string;
  readonly rfc: string;
  readonly block: string;
  readonly alone: boolean;
  /** Where the IPv4 address may stand. */
  readonly read: (value: bigint) => readonly Ip[];
}

const tail = (value: bigint): readonly Ip[] => [v4(value)];

const FORMS: readonly Form[] = [
  { form: 'IPv4-mapped', rfc: 'RFC 4291', block: '::ffff:0:0/96', alone: true, read: tail },
  { form: 'NAT64', rfc: 'RFC 6052', block: '64:ff9b::/96', alone: true, read: tail },
  { form: 'IPv4-compatible', rfc: 'RFC 4291', block: '::/96', alone: false, read: tail },
  { form: 'SIIT', rfc: 'RFC 7915', block: '::ffff:0:0:0/96', alone: false, read: tail },
  { form: 'local-use NAT64', rfc: 'RFC 8215', block: '64:ff9b:1::/48', alone: false, read: localNat64 },
  { form: '6to4', rfc: 'RFC 3056', block: '2002::/16', alone: false, read: (value) => [v4(value >> 80n)] },
  { form: 'Teredo', rfc: 'RFC 4380', block: '2001::/32', alone: false, read: teredo },
];

/** "The last 32 bits", or around the u octet for prefixes of 48, 56 and 64 bits — RFC 6052 §2.2. The length in use is not visible. */
function localNat64(value: bigint): readonly Ip[] {
  const at48 = (((value >> 64n) & 0xffffn) << 16n) | ((value >> 40n) & 0xffffn);
  const at56 = (((value >> 64n) & 0xffn) << 24n) | ((value >> 32n) & 0xff_ffffn);
  return [v4(value), v4(at48), v4(at56), v4(value >> 24n)];
}

/** Server in clear, client with every bit inverted — RFC 4380 §4. */
function teredo(value: bigint): readonly Ip[] {
  return [v4(~value), v4(value >> 64n)];
}

const BLOCKS = FORMS.map((form) => ({ ...form, cidr: blockOf(form.block) }));

function blockOf(text: string) {
  const cidr = parseCidr(text);
  if (cidr === null) throw new TypeError(`${text} is no address block`);
  return cidr;
}

/** Finds every IPv4 address that an IPv6 one may stand for; empty for IPv4 and for plain IPv6. */
export function embeddedIn(ip: Ip): readonly Embedded[] {
  if (ip.family === 4) return [];
  const found = BLOCKS.filter((form) => inBlock(ip, form.cidr)).flatMap(({ form, rfc, alone, read }) =>
    read(ip.value).map((inner) => ({ form, rfc, alone, ip: inner })),
  );
  return [...found, ...isatap(ip.value)];
}

/** Any prefix, then 0000:5efe or 0200:5efe, then the address — RFC 5214 §6.1. */
function isatap(value: bigint): readonly Embedded[] {
  const marker = (value >> 32n) & 0xffff_ffffn;
  if (marker !== 0x0000_5efen && marker !== 0x0200_5efen) return [];
  return [{ form: 'ISATAP', rfc: 'RFC 5214', alone: false, ip: v4(value) }];
}

/** Reduces the two forms that reach an IPv4 address and nothing else to that address. */
export function unwrapIp(ip: Ip): Ip {
  if (ip.family === 4) return ip;
  const inner = embeddedIn(ip).find((embedded) => embedded.alone);
  return inner === undefined ? ip : inner.ip;
}

/** Names an embedding for a message: `10.0.0.5 (inside 64:ff9b:…, NAT64)`. */
export const describeEmbedded = (embedded: Embedded): string => `${embedded.form} form of ${formatIp(embedded.ip)}`;
