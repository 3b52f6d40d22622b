import { createHash } from 'node:crypto';
import { importJWK } from 'jose/key/import';
import { PRIVATE_MEMBERS } from '../kernel/private-jwk.ts';
import { type EpochMs, epochMs } from '../kernel/units.ts';
import type { Algorithm } from './algorithms.ts';
import { algorithmNamed, algorithmsFor, isSameAlgorithm, RSA_BITS } from './algorithms.ts';
import { decodeBase64Url, encodeBase64Url } from './base64url.ts';
import type { Json, JsonObject } from './json.ts';
import { isArray, present, quote } from './json.ts';
import type { JwkKey, PublicJwk } from './keys.ts';
import { publicKeyOf } from './verify.ts';

export type KeyReading = { readonly ok: true; readonly key: JwkKey } | { readonly ok: false; readonly why: string };

const MAX_KID = 256;
/** 65537 has three bytes; larger exponents make every verification slower, for whoever publishes them. */
const MAX_EXPONENT_BYTES = 4;

/** Reads one key of a set (RFC 7517, RFC 7518 §6, RFC 8037); what is unsound or not meant for signatures is refused here, once. */
export async function readKey(object: JsonObject): Promise<KeyReading> {
  const jwk = publicPart(object);
  if (typeof jwk === 'string') return no(jwk);
  const purpose = purposeFault(object);
  if (purpose !== undefined) return no(purpose);
  const algorithms = declaredAlgorithms(object, jwk);
  const [first] = algorithms;
  if (first === undefined) return no('its "alg" does not fit its type');
  // Import proves that a point is on its curve.
  if (!(await isImportable(jwk, first))) return no('it is no valid public key');
  const kid = present(object, 'kid');
  return {
    ok: true,
    key: {
      kid: typeof kid === 'string' && kid.length <= MAX_KID ? kid : undefined,
      thumbprint: thumbprintOf(jwk),
      jwk,
      publicKey: publicKeyOf(jwk),
      algorithms,
      from: instant(present(object, 'nbf')),
      until: instant(present(object, 'exp')),
    },
  };
}

/** RFC 7638 over members that are already in their one encoding, so that no other spelling of a revoked key gets around it. */
export function thumbprintOf(jwk: PublicJwk): string {
  const members = Object.entries(jwk).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return encodeBase64Url(
    createHash('sha256')
      .update(JSON.stringify(Object.fromEntries(members)))
      .digest(),
  );
}

function publicPart(object: JsonObject): PublicJwk | string {
  if ([...PRIVATE_MEMBERS].some((name) => present(object, name) !== undefined))
    return 'it holds private members: whoever reads the set can sign with it';
  const kty = present(object, 'kty');
  switch (kty) {
    case 'EC':
    case 'OKP':
      return curvePart(object, kty);
    case 'RSA':
      return rsaPart(object);
    default:
      return `its type ${typeof kty === 'string' ? quote(kty) : 'is missing and'} is not accepted`;
  }
}

function curvePart(object: JsonObject, kty: 'EC' | 'OKP'): PublicJwk | string {
  const crv = present(object, 'crv');
  const [row] = typeof crv === 'string' ? algorithmsFor({ kty, crv }) : [];
  if (typeof crv !== 'string' || row === undefined) return 'its curve is not accepted';
  const [x, y] = [coordinate(object, 'x', row), coordinate(object, 'y', row)];
  if (x === undefined || (kty === 'EC' && y === undefined))
    return 'a coordinate has another length or spelling than its curve asks for';
  if (kty === 'OKP')
    return isSmallOrder(x.bytes) ? 'its point has a small order: anyone can sign for it' : { kty, crv, x: x.text };
  return { kty, crv, x: x.text, ...(y === undefined ? {} : { y: y.text }) };
}

interface Coordinate {
  readonly text: string;
  readonly bytes: Uint8Array;
}

function coordinate(object: JsonObject, name: string, row: Algorithm): Coordinate | undefined {
  const text = present(object, name);
  const bytes = typeof text === 'string' ? decodeBase64Url(text) : undefined;
  const isWhole = bytes !== undefined && bytes.byteLength === row.coordinateBytes;
  return typeof text === 'string' && isWhole ? { text, bytes } : undefined;
}

function rsaPart(object: JsonObject): PublicJwk | string {
  const [n, e] = [present(object, 'n'), present(object, 'e')];
  if (typeof n !== 'string' || typeof e !== 'string' || n.length > RSA_BITS.most)
    return 'its modulus or exponent is missing';
  const [modulus, exponent] = [decodeBase64Url(n), decodeBase64Url(e)];
  if (modulus === undefined || exponent === undefined || modulus[0] === 0 || exponent[0] === 0)
    return 'its modulus or exponent is not canonical base64url';
  const bits = modulus.byteLength * 8 - Math.clz32(modulus[0] ?? 0) + 24;
  if (bits < RSA_BITS.least || bits > RSA_BITS.most)
    return `it has ${bits} bits; ${RSA_BITS.least} to ${RSA_BITS.most} are accepted`;
  const isOdd = ((exponent.at(-1) ?? 0) & 1) === 1;
  // e = 1 makes every message its own signature.
  if (!isOdd || exponent.byteLength > MAX_EXPONENT_BYTES || (exponent.byteLength === 1 && exponent[0] === 1))
    return 'its exponent is not accepted';
  return { kty: 'RSA', n, e };
}

/** The points of small order on Ed25519 by their y (sign bit cleared), non-canonical spellings included. */
const SMALL_ORDER: ReadonlySet<string> = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
]);

const isSmallOrder = (x: Uint8Array): boolean =>
  SMALL_ORDER.has(
    Array.from(x, (byte, index) => (index === 31 ? byte & 0x7f : byte).toString(16).padStart(2, '0')).join(''),
  );

/** RFC 7517 §4.2, §4.3: a key says what it is for; these are for signatures. */
function purposeFault(object: JsonObject): string | undefined {
  const use = present(object, 'use');
  if (use !== undefined && use !== 'sig') return 'its "use" is not "sig"';
  const operations = present(object, 'key_ops');
  return operations === undefined || (isArray(operations) && operations.includes('verify'))
    ? undefined
    : 'its "key_ops" do not hold "verify"';
}

/** The algorithm comes from the key, never from the header alone: what the set declares, else what the type can. */
function declaredAlgorithms(object: JsonObject, jwk: PublicJwk): readonly Algorithm[] {
  const fitting = algorithmsFor(jwk);
  const alg = present(object, 'alg');
  if (alg === undefined) return fitting;
  const declared = typeof alg === 'string' ? algorithmNamed(alg) : undefined;
  return declared === undefined ? [] : fitting.filter((row) => isSameAlgorithm(row.alg, declared.alg));
}

async function isImportable(jwk: PublicJwk, algorithm: Algorithm): Promise<boolean> {
  try {
    await importJWK({ ...jwk }, algorithm.alg);
    return true;
  } catch {
    return false;
  }
}

/** `exp` and `nbf` are seconds, as in tokens; OpenID federations and some authorities write them into keys. */
const instant = (value: Json | undefined): EpochMs | null =>
  typeof value === 'number' && Number.isFinite(value) ? epochMs(value * 1000) : null;

const no = (why: string): KeyReading => ({ ok: false, why });
