import { type JWK, SignJWT, base64url, exportJWK, generateKeyPair } from 'jose';

/** An issuer of tokens that a test controls: what it says, and what it signs with. */
export interface TestIssuer {
  readonly issuer: string;
  /** The public keys that it publishes now. */
  readonly jwks: { keys: JWK[] };
  /** A token with these claims over the usual ones; a claim that is undefined is left out. */
  token(claims?: Readonly<Record<string, unknown>>, header?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Signs parts that are written out, whatever they say. */
  sign(header: string, payload: string): Promise<string>;
  /** Takes a new key; the old one stays published until `withdraw`. */
  rotate(): Promise<void>;
  withdraw(): void;
}

/** @param now the time in which it lives. */
export async function createIssuer(issuer: string, now: () => number, alg = 'ES256'): Promise<TestIssuer> {
  const jwks: { keys: JWK[] } = { keys: [] };
  let counter = 0;
  let current = { kid: '', key: await make() };
  type Key = Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];
  async function make(): Promise<Key> {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    counter += 1;
    jwks.keys.push({ ...(await exportJWK(publicKey)), kid: `k${counter}`, alg });
    return privateKey;
  }
  current = { kid: 'k1', key: current.key };
  const seconds = (): number => Math.floor(now() / 1000);
  const usual = (): Record<string, unknown> => ({
    iss: issuer,
    aud: 'cardea',
    sub: 'alice',
    iat: seconds(),
    exp: seconds() + 3_600,
    tenant: 'acme',
    scope: 'cards:read',
  });
  return {
    issuer,
    jwks,
    token: (claims = {}, header = {}) =>
      new SignJWT({ ...usual(), ...claims })
        .setProtectedHeader({ alg, kid: current.kid, typ: 'at+jwt', ...header })
        .sign(current.key),
    async sign(header, payload) {
      const input = `${base64url.encode(header)}.${base64url.encode(payload)}`;
      const hash = { name: 'ECDSA', hash: 'SHA-256' };
      const signature = await crypto.subtle.sign(hash, current.key, new TextEncoder().encode(input));
      return `${input}.${base64url.encode(new Uint8Array(signature))}`;
    },
    async rotate() {
      current = { key: await make(), kid: `k${counter}` };
    },
    withdraw: () => void jwks.keys.shift(),
  };
}
