import { type KeyObject, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';

/** Makes throw-away X.509 certificates and revocation lists (RFC 5280) at test time: no tool, no file, no expiry to trip over. */

const tlv = (tag: number, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  const size = body.length < 128 ? [body.length] : [0x82, body.length >> 8, body.length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
};
const seq = (...parts: readonly Buffer[]): Buffer => tlv(0x30, ...parts);
const set = (...parts: readonly Buffer[]): Buffer => tlv(0x31, ...parts);
const integer = (bytes: Buffer): Buffer => tlv(0x02, bytes);
const bits = (bytes: Buffer, unused = 0): Buffer => tlv(0x03, Buffer.from([unused]), bytes);
const octets = (bytes: Buffer): Buffer => tlv(0x04, bytes);
const bool = tlv(0x01, Buffer.from([0xff]));

function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  const arcs = rest.flatMap((arc) => {
    const out = [arc & 127];
    for (let left = arc >> 7; left > 0; left >>= 7) out.unshift((left & 127) | 128);
    return out;
  });
  return tlv(0x06, Buffer.from([first * 40 + second, ...arcs]));
}

const time = (at: Date): Buffer => tlv(0x18, Buffer.from(at.toISOString().replaceAll(/[-:T]|\.\d+/g, '')));
const nameOf = (common: string): Buffer => seq(set(seq(oid('2.5.4.3'), tlv(0x0c, Buffer.from(common)))));
const ECDSA_SHA256 = seq(oid('1.2.840.10045.4.3.2'));

const extension = (id: string, value: Buffer, critical = false): Buffer =>
  seq(oid(id), ...(critical ? [bool] : []), octets(value));

function altName(name: string): Buffer {
  if (isIP(name) === 4) return tlv(0x87, Buffer.from(name.split('.').map(Number)));
  if (name === '::1') return tlv(0x87, Buffer.from([...Array<number>(15).fill(0), 1]));
  return tlv(name.includes('://') ? 0x86 : 0x82, Buffer.from(name));
}

const pem = (label: string, der: Buffer): string =>
  `-----BEGIN ${label}-----\n${(der.toString('base64').match(/.{1,64}/g) ?? []).join('\n')}\n-----END ${label}-----\n`;

const signed = (body: Buffer, key: KeyObject): Buffer => seq(body, ECDSA_SHA256, bits(sign('sha256', body, key)));

const DAY = 86_400_000;

/** What a certificate is to say. */
export interface Subject {
  readonly names: readonly string[];
  readonly from?: Date;
  readonly until?: Date;
}

export interface Identity {
  readonly cert: string;
  readonly key: string;
  readonly serial: Buffer;
}

/** A certificate authority that exists for one test. */
export interface Authority {
  readonly cert: string;
  issue(subject: Subject): Identity;
  /** A revocation list over these serial numbers. */
  revoke(serials: readonly Buffer[]): string;
}

interface Certified {
  readonly common: string;
  readonly key: KeyObject;
  readonly extensions: readonly Buffer[];
  readonly from: Date;
  readonly until: Date;
}

export function makeAuthority(common = 'Test CA'): Authority {
  const ca = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const usage = [
    extension('2.5.29.19', seq(bool), true),
    extension('2.5.29.15', bits(Buffer.from([0x06]), 1), true), // keyCertSign, cRLSign
  ];
  const certify = (subject: Certified): { readonly der: Buffer; readonly serial: Buffer } => {
    const serial = Buffer.concat([Buffer.from([1]), randomBytes(15)]);
    const body = seq(
      tlv(0xa0, integer(Buffer.from([2]))),
      integer(serial),
      ECDSA_SHA256,
      nameOf(common),
      seq(time(subject.from), time(subject.until)),
      nameOf(subject.common),
      subject.key.export({ type: 'spki', format: 'der' }),
      tlv(0xa3, seq(...subject.extensions)),
    );
    return { der: signed(body, ca.privateKey), serial };
  };
  const years = (count: number): Date => new Date(Date.now() + count * 365 * DAY);
  const root = certify({ common, key: ca.publicKey, extensions: usage, from: years(-1), until: years(10) });
  return {
    cert: pem('CERTIFICATE', root.der),
    issue: ({ names, from = years(-1), until = years(1) }) => {
      const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const extensions = [
        extension('2.5.29.17', seq(...names.map(altName))),
        extension('2.5.29.37', seq(oid('1.3.6.1.5.5.7.3.1'), oid('1.3.6.1.5.5.7.3.2'))), // server and client
      ];
      const { der, serial } = certify({ common: 'leaf', key: pair.publicKey, extensions, from, until });
      const key = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
      return { cert: pem('CERTIFICATE', der), key, serial };
    },
    revoke: (serials) => {
      const entries = serials.map((serial) => seq(integer(serial), time(new Date(Date.now() - DAY))));
      const revoked = entries.length === 0 ? [] : [seq(...entries)];
      const number = tlv(0xa0, seq(extension('2.5.29.20', integer(Buffer.from([1])))));
      const body = seq(
        integer(Buffer.from([1])),
        ECDSA_SHA256,
        nameOf(common),
        time(years(-1)),
        time(years(1)),
        ...revoked,
        number,
      );
      return pem('X509 CRL', signed(body, ca.privateKey));
    },
  };
}
