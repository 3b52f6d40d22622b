import type { Algorithm } from './algorithms.ts';
import { algorithmNamed } from './algorithms.ts';
import { decodeBase64Url } from './base64url.ts';
import type { Json, JsonObject } from './json.ts';
import { isObject, kindOf, own, present, quote } from './json.ts';
import { scanJson } from './scan.ts';
import { decodeUtf8 } from './utf8.ts';

/** One entry of `signatures` whose form is in order; nothing is verified yet. */
export interface SignatureEntry {
  /** Its index, for messages. */
  readonly index: number;
  readonly protectedHeader: string;
  readonly signature: Uint8Array;
  readonly algorithm: Algorithm;
  /** A hint for finding the key. */
  readonly kid: string | undefined;
  /** Where the signer says its keys are; only ever compared with what the agent's rule allows. */
  readonly jku: string | undefined;
}

export type SignatureReading =
  | { readonly ok: true; readonly entry: SignatureEntry }
  | { readonly ok: false; readonly why: string };

/** Real headers have about 150 bytes; the largest names hold a URL. */
const MAX_HEADER = 8192;
const MAX_KID = 256;
const MAX_JKU = 2048;
/** 8192 bits of RSA in base64url, the longest signature in the table. */
const MAX_SIGNATURE = 1366;
const HEADER_DEPTH = 4;

/** Each of these would let a card choose its own key, its own payload, or a second reading. */
const FORBIDDEN: readonly (readonly [string, string])[] = [
  ['crit', 'no critical extension is understood here'],
  ['b64', 'cards are signed over an encoded payload (RFC 7797 does not apply)'],
  ['jwk', 'a card may not bring its own key'],
  ['x5c', 'a card may not bring its own key'],
  ['x5u', 'a card may not bring its own key'],
  ['zip', 'a signature is not compressed'],
];

/** Parameters that count only where they are signed; outside they would override what is. */
const PROTECTED_ONLY = [
  'alg',
  'kid',
  'typ',
  'cty',
  'jku',
  'jwk',
  'x5c',
  'x5u',
  'x5t',
  'x5t#S256',
  'crit',
  'b64',
  'zip',
];

/** Reads one entry of `signatures` (RFC 7515 §7.2.1, A2A 1.0 §8.4.2), or says why it can never verify. */
export function readSignature(value: Json, index: number): SignatureReading {
  if (!isObject(value)) return no(`it is ${kindOf(value)}`);
  const protectedHeader = own(value, 'protected');
  const signature = own(value, 'signature');
  if (typeof protectedHeader !== 'string' || protectedHeader.length > MAX_HEADER)
    return no('"protected" is no header in base64url');
  if (typeof signature !== 'string' || signature.length > MAX_SIGNATURE)
    return no('"signature" is no signature in base64url');
  const bytes = decodeBase64Url(signature);
  if (bytes === undefined) return no('"signature" is not canonical base64url');
  const header = readHeader(protectedHeader);
  if (typeof header === 'string') return no(header);
  const fault = unprotectedFault(own(value, 'header'), header) ?? headerFault(header);
  if (fault !== undefined) return no(fault);
  const named = own(header, 'alg');
  const algorithm = typeof named === 'string' ? algorithmNamed(named) : undefined;
  if (algorithm === undefined) return no(`the algorithm ${describe(own(header, 'alg'))} is not accepted`);
  if (algorithm.signatureBytes !== undefined && algorithm.signatureBytes !== bytes.byteLength) {
    // ECDSA in DER, as OpenSSL writes it, has another length than R || S (RFC 7518 §3.4).
    return no(`an ${algorithm.alg} signature has ${algorithm.signatureBytes} bytes; this one has ${bytes.byteLength}`);
  }
  const [kid, jku] = [text(header, 'kid'), text(header, 'jku')];
  return {
    ok: true,
    entry: { index, protectedHeader, signature: bytes, algorithm, kid, jku },
  };
}

function readHeader(encoded: string): JsonObject | string {
  const bytes = decodeBase64Url(encoded);
  if (bytes === undefined) return '"protected" is not canonical base64url';
  const decoded = decodeUtf8(bytes);
  if (decoded === undefined) return '"protected" is not UTF-8';
  const scan = scanJson(decoded, HEADER_DEPTH);
  // RFC 7515 §4: "The Header Parameter names within the JOSE Header MUST be unique".
  if (!scan.ok) return `"protected" is not strict JSON: ${scan.fault.what}`;
  return isObject(scan.value) ? scan.value : `"protected" holds ${kindOf(scan.value)}`;
}

function headerFault(header: JsonObject): string | undefined {
  for (const [name, why] of FORBIDDEN) if (own(header, name) !== undefined) return `"${name}": ${why}`;
  if (typeof own(header, 'alg') !== 'string') return '"alg" is missing from the protected header';
  return textFault(header, 'kid', MAX_KID) ?? textFault(header, 'jku', MAX_JKU) ?? typFault(header);
}

/** Python's signer writes `null` for what it was not given. */
function textFault(header: JsonObject, name: string, longest: number): string | undefined {
  const value = present(header, name);
  if (value === undefined) return undefined;
  return typeof value === 'string' && value.length <= longest
    ? undefined
    : `"${name}" is no text of at most ${longest} characters`;
}

/** A token signed by the same key must not pass as a card's signature (RFC 8725 §3.11, §3.12). */
function typFault(header: JsonObject): string | undefined {
  const typ = present(header, 'typ');
  if (typ === undefined || (typeof typ === 'string' && /^(?:application\/)?jose(?:\+json)?$/i.test(typ)))
    return undefined;
  return `"typ" is ${describe(typ)}, not "JOSE"`;
}

function unprotectedFault(header: Json | undefined, protectedHeader: JsonObject): string | undefined {
  if (header === undefined || header === null) return undefined;
  if (!isObject(header)) return `"header" is ${kindOf(header)}`;
  const name = Object.keys(header).find(
    (one) => PROTECTED_ONLY.includes(one) || own(protectedHeader, one) !== undefined,
  );
  return name === undefined ? undefined : `${quote(name)} stands outside the protected header`;
}

const describe = (value: Json | undefined): string => (typeof value === 'string' ? quote(value) : kindOf(value));

const text = (header: JsonObject, name: string): string | undefined => {
  const value = present(header, name);
  return typeof value === 'string' ? value : undefined;
};

const no = (why: string): SignatureReading => ({ ok: false, why });
