import { exportJWK, generateKeyPair } from 'jose';
import type { JsonObject } from '../../src/card/json.ts';
import { type SigningKey, readSigningKey, signCard } from '../../src/card/sign.ts';
import { cardOf } from './card.ts';

/** Cards that are signed with ES256, and the set that verifies them. */

export interface Signer {
  /** The JWK Set, as text. */
  readonly jwks: string;
  /** The text of a signed card of at least so many bytes. */
  card(name: string, url: string, size: number): Promise<string>;
}

export async function createSigner(): Promise<Signer> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const reading = await readSigningKey({ ...(await exportJWK(privateKey)), kid: 'bench', alg: 'ES256' });
  if (!reading.ok) throw new Error(reading.why);
  const { key } = reading;
  return {
    jwks: JSON.stringify({ keys: [{ ...key.publicJwk, kid: key.kid }] }),
    card: async (name, url, size) => JSON.stringify(await sign(cardOf(name, url, size), key)),
  };
}

const sign = (card: Readonly<Record<string, unknown>>, key: SigningKey): Promise<JsonObject> =>
  signCard(card as JsonObject, '1.0', [key]);
