import { exportJWK } from 'jose/key/export';
import { importSPKI } from 'jose/key/import';
import type { Url } from '../kernel/ids.ts';
import type { EpochMs } from '../kernel/units.ts';
import type { Json, JsonObject } from './json.ts';
import { isArray, isObject, kindOf, objectOf, own, quote } from './json.ts';
import { readKey } from './jwk.ts';
import type { JwkKey, KeySet } from './keys.ts';
import { scanJson } from './scan.ts';

/** What is known of a set besides its document. */
export interface KeySetOrigin {
  readonly name: string;
  readonly jku?: Url;
  readonly revoked: readonly string[];
  readonly fetchedAt: EpochMs | null;
}

/** A set, with a line for every key that was passed over; or why the document is none. */
export type KeySetReading =
  | { readonly ok: true; readonly set: KeySet; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly why: string };

/** Real sets hold a handful of keys; a few hundred of the longest RSA ones would fit into the bytes. */
export const MAX_KEY_DOCUMENT = 262_144;
export const MAX_KEYS = 100;
const DEPTH = 8;

/**
 * Reads a JWK Set, a single JWK, or the `{kid: PEM}` document that A2A samples publish. A key that is unsound or not for signatures
 * is passed over with a warning; a document that is too large, or no set, is refused whole. A set without keys vouches for nothing.
 */
export async function parseKeySet(document: Uint8Array, origin: KeySetOrigin): Promise<KeySetReading> {
  if (document.byteLength > MAX_KEY_DOCUMENT)
    return no(`it has ${document.byteLength} bytes; at most ${MAX_KEY_DOCUMENT} are read`);
  const members = readDocument(document);
  if (typeof members === 'string') return no(members);
  if (members.length > MAX_KEYS) return no(`it has ${members.length} keys; at most ${MAX_KEYS} are read`);
  const keys: JwkKey[] = [];
  const warnings: string[] = [];
  for (const [index, member] of members.entries()) {
    const reading = await readMember(member);
    if (reading.ok) keys.push(reading.key);
    else warnings.push(`key ${index}${named(member)} is passed over: ${reading.why}`);
  }
  return { ok: true, set: { ...origin, keys, usable: true }, warnings };
}

/** A member of the document, in the one form or the other. */
type Member =
  | { readonly is: 'jwk'; readonly value: Json }
  | { readonly is: 'pem'; readonly kid: string; readonly pem: string };

function readDocument(document: Uint8Array): readonly Member[] | string {
  const text = decode(document);
  const scan = text === undefined ? undefined : scanJson(text, DEPTH);
  if (scan === undefined) return 'it is not UTF-8';
  if (!scan.ok) return `line ${scan.fault.line}, column ${scan.fault.column}: ${scan.fault.what}`;
  if (!isObject(scan.value)) return `it is ${kindOf(scan.value)}, not a JWK Set`;
  const keys = own(scan.value, 'keys');
  if (keys === undefined) return singleOrPem(scan.value);
  if (!isArray(keys)) return `"keys" is ${kindOf(keys)}, not an array`;
  return keys.includes(null) ? 'one of "keys" is null' : keys.map(jwkMember);
}

const jwkMember = (value: Json): Member => ({ is: 'jwk', value });

function singleOrPem(document: JsonObject): readonly Member[] | string {
  if (own(document, 'kty') !== undefined) return [jwkMember(document)];
  const entries = Object.entries(document);
  const pems = entries.flatMap(([kid, pem]) =>
    typeof pem === 'string' && /^\s*-----BEGIN /.test(pem) ? [{ is: 'pem' as const, kid, pem }] : [],
  );
  return pems.length > 0 && pems.length === entries.length ? pems : 'it has neither "keys" nor PEM texts by key name';
}

async function readMember(member: Member): ReturnType<typeof readKey> {
  if (member.is === 'jwk') {
    return isObject(member.value) ? readKey(member.value) : { ok: false, why: `it is ${kindOf(member.value)}` };
  }
  const jwk = await jwkOfPem(member.pem);
  if (jwk === undefined) return { ok: false, why: 'it is no public key in PEM (SPKI) of an accepted type' };
  return readKey(objectOf([...Object.entries(jwk), ['kid', member.kid]]));
}

/** One algorithm per type of key: SPKI import wants to be told, and the wrong ones fail at once. */
const PEM_ALGORITHMS = ['ES256', 'ES384', 'ES512', 'EdDSA', 'RS256'];

async function jwkOfPem(pem: string): Promise<JsonObject | undefined> {
  for (const alg of PEM_ALGORITHMS) {
    try {
      const { kty, crv, x, y, n, e } = await exportJWK(await importSPKI(pem.trim(), alg, { extractable: true }));
      return objectOf(Object.entries({ kty, crv, x, y, n, e }));
    } catch {
      // Not of this type: the next one may fit, and none means no.
    }
  }
  return undefined;
}

function named(member: Member): string {
  const kid = member.is === 'pem' ? member.kid : isObject(member.value) ? own(member.value, 'kid') : undefined;
  return typeof kid === 'string' ? ` (${quote(kid)})` : '';
}

function decode(document: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(document);
  } catch {
    return undefined;
  }
}

const no = (why: string): KeySetReading => ({ ok: false, why });
