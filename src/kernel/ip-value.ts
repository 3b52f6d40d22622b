/** Addresses as numbers: 32 bits for IPv4, 128 for IPv6. They take texts that are known to be addresses, without a zone. */

const DOT = 46;
const ZERO = 48;

/** @param text four decimal octets: `10.0.0.1`. */
export function ipv4Number(text: string): number {
  let value = 0;
  let octet = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code !== DOT) {
      octet = octet * 10 + code - ZERO;
      continue;
    }
    value = value * 256 + octet;
    octet = 0;
  }
  return value * 256 + octet;
}

/** @param text four decimal octets: `10.0.0.1`. */
export const ipv4Value = (text: string): bigint => BigInt(ipv4Number(text));

/** @param text any spelling of RFC 4291 §2.2: shortened (`::1`), with a dotted tail (`::ffff:127.0.0.1`). */
export function ipv6Value(text: string): bigint {
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

export const formatIpv4 = (value: bigint): string =>
  [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');

/** Eight full groups: no two spellings of one address. */
export const formatIpv6 = (value: bigint): string =>
  Array.from({ length: 8 }, (_, at) => ((value >> BigInt(112 - 16 * at)) & 0xffffn).toString(16)).join(':');
