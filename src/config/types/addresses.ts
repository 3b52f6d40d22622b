import path from 'node:path';
import { canonicalIp } from '../../kernel/address-literal.ts';
import { formatIpv4, formatIpv6, ipv4Value, ipv6Value } from '../../kernel/ip-value.ts';
import { formatAddress, type ListenAddress } from '../../kernel/listen-address.ts';
import { quote } from '../place.ts';
import { good, type Reading, type ScalarType, wrong } from './scalar.ts';

/** Where to listen: `127.0.0.1:8642`, `[::1]:8642`, `unix:/run/cardea/agents.sock`; port 0 picks a free one. */
export const listenAddress: ScalarType<ListenAddress> = {
  kind: 'scalar',
  name: 'address',
  range: 'ADDRESS:PORT, [IPV6]:PORT, unix:/PATH',
  bare: false,
  schema: { type: 'string', pattern: '^(([0-9.]+|\\[[0-9A-Fa-f:.]+\\]):[0-9]{1,5}|unix:.+)$' },
  read: (text, folder) => (text.startsWith('unix:') ? readSocket(text, folder) : readTcp(text)),
  show: formatAddress,
};

function readTcp(text: string): Reading<ListenAddress> {
  const [, bracketed, bare, digits = ''] = /^(?:\[([^\]]*)\]|([^:[\]]*)):([0-9]{1,5})$/.exec(text) ?? [];
  const written = bracketed ?? bare;
  if (written === undefined) return wrong(`${quote(text)} is no address with a port; ${addressMend(text)}`);
  const host = canonicalIp(written);
  const family = bracketed === undefined ? 4 : 6;
  if (host === null || host.includes(':') !== (family === 6))
    return wrong(`${quote(text)} names no address; ${addressMend(text)}`);
  if (Number(digits) > 65_535) return wrong(`port ${digits} is too high; write one from 0 to 65535`);
  return good({ kind: 'tcp', host, port: Number(digits) });
}

/** sockaddr_un has room for 108 bytes, the closing NUL among them; what is longer would be cut off without a word. */
const LONGEST_SOCKET_PATH = 107;

function readSocket(text: string, folder: string): Reading<ListenAddress> {
  const written = text.slice('unix:'.length);
  if (written === '' || written.endsWith('/')) return wrong('unix: is followed by the path of a socket: unix:/path');
  // "unix:///run/x" is a URL to some and a path to others; "unix:@x" is an abstract socket, which has no mode to keep anyone out.
  if (written.startsWith('//')) return wrong(`write one slash: unix:${written.replace(/^\/+/, '/')}`);
  if (written.startsWith('@')) return wrong('abstract sockets have no mode, so everyone may open them; write a path');
  if (written.startsWith('~')) return wrong('"~" is not expanded; write the whole path');
  if (written.includes('\0')) return wrong('a path holds no NUL character');
  const absolute = path.resolve(folder, written);
  const length = new TextEncoder().encode(absolute).length;
  return length <= LONGEST_SOCKET_PATH
    ? good({ kind: 'unix', path: absolute })
    : wrong(
        `${absolute} has ${length} bytes, and a socket's path has ${LONGEST_SOCKET_PATH} at most; write a shorter one`,
      );
}

/** A name server: an address, a port after it where it is not 53. */
export const dnsServer: ScalarType<string> = {
  kind: 'scalar',
  name: 'name server',
  range: '10.0.0.53, 10.0.0.53:5353, [fd00::53]:53',
  bare: false,
  schema: { type: 'string', pattern: '^([0-9.]+|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]+|\\[[0-9A-Fa-f:.]+\\])(:[0-9]{1,5})?$' },
  read(text) {
    const alone = canonicalIp(text);
    if (alone !== null) return good(alone);
    const [, bracketed, bare, digits = '53'] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::([0-9]{1,5}))?$/.exec(text) ?? [];
    const ip = canonicalIp(bracketed ?? bare ?? '');
    if (ip === null || ip.includes(':') !== (bracketed !== undefined))
      return wrong(`${quote(text)} is no address of a name server; write one like 10.0.0.53 or "[fd00::53]:53"`);
    const port = Number(digits);
    if (port < 1 || port > 65_535) return wrong(`port ${digits} does not exist; write one from 1 to 65535`);
    return good(port === 53 ? ip : formatAddress({ kind: 'tcp', host: ip, port }));
  },
  show: (value) => value,
};

function addressMend(text: string): string {
  const [, host = '', port = ''] = /^(.*?):?([0-9]{1,5})?$/.exec(text) ?? [];
  if (/^[0-9]{1,5}$/.test(text)) return `write 127.0.0.1:${text}`;
  if (host === 'localhost') return `write 127.0.0.1:${port || '8642'}`;
  if (host === '' || host === '*') return `write 0.0.0.0:${port || '8642'} for every IPv4 address of this machine`;
  if (canonicalIp(text) !== null && !text.includes(':')) return `write ${text}:8642`;
  if (host.includes(':') && canonicalIp(host) !== null) return `write [${host}]:${port}`;
  return 'write one like 127.0.0.1:8642 or "[::1]:8642"';
}

/** True where only this machine can reach it. */
export const isLoopback = (host: string): boolean => host === '::1' || host.startsWith('127.');

/** True where one listener takes what the other wants: the same socket, or the same port on the same address or on every address. */
export function overlaps(one: ListenAddress, other: ListenAddress): boolean {
  if (one.kind === 'unix' || other.kind === 'unix')
    return one.kind === other.kind && formatAddress(one) === formatAddress(other);
  if (one.port !== other.port || one.port === 0) return false;
  return one.host === other.host || covers(one.host, other.host) || covers(other.host, one.host);
}

/** `::` takes IPv4 connections as well, as Node opens it. */
const covers = (all: string, host: string): boolean => all === '::' || (all === '0.0.0.0' && !host.includes(':'));

/** A block of addresses or one address: `10.0.0.0/8`, `fd00::/8`, `127.0.0.1`. */
export const cidr: ScalarType<string> = {
  kind: 'scalar',
  name: 'address block',
  range: '10.0.0.0/8, fd00::/8, 127.0.0.1',
  bare: false,
  schema: { type: 'string', pattern: '^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$' },
  read(text) {
    const [, written = '', digits] = /^([^/]+)(?:\/([0-9]{1,3}))?$/.exec(text) ?? [];
    const ip = canonicalIp(written);
    if (ip === null) return wrong(`${quote(text)} is no address block; write one like 10.0.0.0/8 or 127.0.0.1/32`);
    const bits = ip.includes(':') ? 128 : 32;
    const length = digits === undefined ? bits : Number(digits);
    if (length > bits) return wrong(`/${length} is longer than the address; write ${ip}/${bits}`);
    return aligned(ip, length, bits);
  },
  show: (value) => value,
};

/** "10.0.0.5/8" is more likely a slip for one address than a wish for sixteen million. */
function aligned(ip: string, length: number, bits: 32 | 128): Reading<string> {
  const value = bits === 32 ? ipv4Value(ip) : ipv6Value(ip);
  const host = BigInt(bits - length);
  const base = (value >> host) << host;
  if (base === value) return good(`${ip}/${length}`);
  const block = bits === 32 ? formatIpv4(base) : canonicalIp(formatIpv6(base));
  return wrong(
    `${ip}/${length} has bits beyond its prefix; write ${ip}/${bits} for the one address or ${block}/${length} for the block`,
  );
}
