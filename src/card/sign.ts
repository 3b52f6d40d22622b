import { FlattenedSign } from 'jose/jws/flattened/sign';
import { importJWK } from 'jose/key/import';
import { HOLDERS_MEMBERS } from '../kernel/private-jwk.ts';
import type { Algorithm } from './algorithms.ts';
import { canonicalCard, canonicalForms, type FormName } from './canonical.ts';
import type { Json, JsonObject } from './json.ts';
import { isArray, isObject, objectOf, own, present } from './json.ts';
import { readKey } from './jwk.ts';
import type { PublicJwk } from './keys.ts';
import type { CardVersion } from './version.ts';

/** A key that can sign: private, sound, and for one algorithm. */
export interface SigningKey {
  readonly kid: string;
  readonly algorithm: Algorithm;
  /** What verifiers are given. */
  readonly publicJwk: PublicJwk;
  /** Makes jose's signing key; the private members stay inside. */
  readonly importPrivate: () => ReturnType<typeof importJWK>;
}

export type SigningKeyReading =
  | { readonly ok: true; readonly key: SigningKey }
  | { readonly ok: false; readonly why: string };

/** Reads a private JWK; its public part must be what a verifier accepts. Without `kid` it is called by its thumbprint. */
export async function readSigningKey(jwk: JsonObject): Promise<SigningKeyReading> {
  if (typeof present(jwk, 'd') !== 'string') return { ok: false, why: 'it has no private member "d"' };
  const open = Object.entries(jwk).filter(([name]) => !isHolders(name) && name !== 'key_ops');
  const reading = await readKey(objectOf(open));
  if (!reading.ok) return reading;
  const { kid, thumbprint, jwk: publicJwk } = reading.key;
  const [algorithm] = reading.key.algorithms;
  if (algorithm === undefined) return { ok: false, why: 'no algorithm fits it' };
  const secret = Object.fromEntries(HOLDERS_MEMBERS.flatMap((name) => textMember(jwk, name)));
  return {
    ok: true,
    key: {
      kid: kid ?? thumbprint,
      algorithm,
      publicJwk,
      importPrivate: () => importJWK({ ...publicJwk, ...secret }, algorithm.alg),
    },
  };
}

const isHolders = (name: string): boolean => HOLDERS_MEMBERS.some((each) => each === name);

function textMember(jwk: JsonObject, name: string): [string, string][] {
  const value = own(jwk, name);
  return typeof value === 'string' ? [[name, value]] : [];
}

/** Signs a card in the form that covers most (A2A 1.0 §8.4.1) with each key, and adds the signatures to those that it has. */
export async function signCard(
  card: JsonObject,
  version: CardVersion,
  keys: readonly SigningKey[],
  jku?: string,
): Promise<JsonObject> {
  const [canonical] = canonicalForms(card, version);
  const made: Json[] = [];
  for (const key of keys) made.push(await signOnce(canonical?.text ?? '', key, jku));
  return withSignatures(card, made);
}

/** Signs a card with one key in each of these forms, for verifiers that know one of them alone. */
export async function signCardInForms(
  card: JsonObject,
  forms: readonly FormName[],
  key: SigningKey,
  jku: string,
): Promise<JsonObject> {
  const made: Json[] = [];
  for (const form of forms) made.push(await signOnce(canonicalCard(card, form).text, key, jku));
  return withSignatures(card, made);
}

function withSignatures(card: JsonObject, made: readonly Json[]): JsonObject {
  const had = own(card, 'signatures');
  const kept = isArray(had) ? had.filter(isObject) : [];
  return objectOf([
    ...Object.entries(card).filter(([name]) => name !== 'signatures'),
    ['signatures', [...kept, ...made]],
  ]);
}

async function signOnce(text: string, key: SigningKey, jku: string | undefined): Promise<JsonObject> {
  const payload = new TextEncoder().encode(text);
  const header = { alg: key.algorithm.alg, kid: key.kid, typ: 'JOSE', ...(jku === undefined ? {} : { jku }) };
  const jws = await new FlattenedSign(payload).setProtectedHeader(header).sign(await key.importPrivate());
  return objectOf([
    ['protected', jws.protected ?? ''],
    ['signature', jws.signature],
  ]);
}
