const OCTET = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const IPV4 = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`);

/**
 * Reads an address literal into its one spelling, IPv6 without brackets and as WHATWG URLs write it; null for names, octal or short
 * forms and zones.
 */
export function canonicalIp(text: string): string | null {
  if (!text.includes(':')) return IPV4.test(text) ? text : null;
  if (!/^[0-9a-fA-F:.]+$/.test(text)) return null;
  return URL.parse(`http://[${text}]/`)?.hostname.slice(1, -1) ?? null;
}
