import { base64url, type CryptoKey, exportJWK, FlattenedSign, generateKeyPair, type JWK } from 'jose';
import { canonicalCard, type FormName } from '../../src/card/canonical.ts';
import { scannedObject } from './support.ts';

/** A key pair of a test; the public part is what a key set would publish. */
export interface Pair {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
  readonly privateJwk: JWK;
}

export async function pair(
  kid: string,
  alg = 'ES256',
  options: { readonly modulusLength?: number } = {},
): Promise<Pair> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true, ...options });
  const publicJwk = { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' };
  return { kid, alg, privateKey, publicJwk, privateJwk: { ...(await exportJWK(privateKey)), kid, alg } };
}

export interface Signing {
  readonly form?: FormName;
  /** Replaces the protected header; what is undefined is left out. */
  readonly header?: Readonly<Record<string, unknown>>;
  /** The text that is signed, where it is no form of the card. */
  readonly payload?: string;
}

/** Makes one entry for `signatures`, over a form of the card. */
export async function signature(card: unknown, by: Pair, { form = 'a2a-1.0', header, payload }: Signing = {}) {
  const text = payload ?? canonicalCard(scannedObject(card), form).text;
  const protectedHeader = { alg: by.alg, kid: by.kid, typ: 'JOSE', ...header };
  const jws = await new FlattenedSign(new TextEncoder().encode(text))
    .setProtectedHeader(protectedHeader)
    .sign(by.privateKey, { crit: { b64: true, bork: true } });
  return { protected: jws.protected ?? '', signature: jws.signature };
}

/** Signs bytes under a protected header that jose would not write. */
export async function rawSignature(card: unknown, by: Pair, headerText: string) {
  const header = base64url.encode(headerText);
  const payload = base64url.encode(canonicalCard(scannedObject(card), 'a2a-1.0').text);
  const input = new TextEncoder().encode(`${header}.${payload}`);
  const bytes = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, by.privateKey, input);
  return { protected: header, signature: base64url.encode(new Uint8Array(bytes)) };
}

export async function signed(card: Readonly<Record<string, unknown>>, by: Pair, how: Signing = {}) {
  return { ...card, signatures: [await signature(card, by, how)] };
}
