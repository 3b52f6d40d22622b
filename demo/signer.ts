import { AgentCard, generateAgentCardSignature } from '@a2a-js/sdk';

/** Signs an agent's cards with a key of its own, and publishes the public part. */
export interface Signer {
  /** What the agent serves as its key set. */
  readonly jwks: { readonly keys: readonly object[] };
  sign(card: AgentCard): Promise<AgentCard>;
}

/** Makes a key, as an agent's operator would once. */
export async function createSigner(kid: string): Promise<Signer> {
  const { privateKey, publicKey } = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
    'sign',
    'verify',
  ]);
  const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', publicKey);
  const sign = generateAgentCardSignature(privateKey, { alg: 'ES256', kid, typ: 'JOSE' });
  return {
    jwks: { keys: [{ kty, crv, x, y, kid, alg: 'ES256', use: 'sig' }] },
    // The wire form, which is what clients read: the SDK's server signs it anew for each request.
    sign: (card) => sign(JSON.parse(JSON.stringify(AgentCard.toJSON(card))) as AgentCard),
  };
}
