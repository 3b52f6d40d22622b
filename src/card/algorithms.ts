import type { PublicJwk } from './keys.ts';

/** One row says all about one algorithm (RFC 7518 §3.1, RFC 8037, RFC 9864): nothing else here knows a name of one. */
export interface Algorithm {
  readonly alg: string;
  readonly kty: 'EC' | 'RSA' | 'OKP';
  readonly crv?: string;
  /** The length of a signature in bytes; RSA's is that of the modulus. */
  readonly signatureBytes?: number;
  /** The length of each coordinate in bytes. */
  readonly coordinateBytes?: number;
  /** What is signed of the input; absent where the algorithm takes all of it. */
  readonly digest?: 'sha256' | 'sha384' | 'sha512';
  /** Of RSA. */
  readonly padding?: 'pkcs1' | 'pss';
}

export const ALGORITHMS: readonly Algorithm[] = [
  { alg: 'ES256', kty: 'EC', crv: 'P-256', signatureBytes: 64, coordinateBytes: 32, digest: 'sha256' },
  { alg: 'ES384', kty: 'EC', crv: 'P-384', signatureBytes: 96, coordinateBytes: 48, digest: 'sha384' },
  { alg: 'ES512', kty: 'EC', crv: 'P-521', signatureBytes: 132, coordinateBytes: 66, digest: 'sha512' },
  { alg: 'EdDSA', kty: 'OKP', crv: 'Ed25519', signatureBytes: 64, coordinateBytes: 32 },
  { alg: 'Ed25519', kty: 'OKP', crv: 'Ed25519', signatureBytes: 64, coordinateBytes: 32 },
  { alg: 'PS256', kty: 'RSA', digest: 'sha256', padding: 'pss' },
  { alg: 'PS384', kty: 'RSA', digest: 'sha384', padding: 'pss' },
  { alg: 'PS512', kty: 'RSA', digest: 'sha512', padding: 'pss' },
  { alg: 'RS256', kty: 'RSA', digest: 'sha256', padding: 'pkcs1' },
  { alg: 'RS384', kty: 'RSA', digest: 'sha384', padding: 'pkcs1' },
  { alg: 'RS512', kty: 'RSA', digest: 'sha512', padding: 'pkcs1' },
];

/** RFC 7518 §3.3 asks for 2048 bits or more; beyond 8192 one verification costs milliseconds for no gain. */
export const RSA_BITS = { least: 2048, most: 8192 } as const;

export const algorithmNamed = (alg: string): Algorithm | undefined => ALGORITHMS.find((row) => row.alg === alg);

/** Lists the algorithms that a key of this type and curve can serve. */
export const algorithmsFor = (jwk: Pick<PublicJwk, 'kty' | 'crv'>): readonly Algorithm[] =>
  ALGORITHMS.filter((row) => row.kty === jwk.kty && row.crv === jwk.crv);

/** EdDSA is the older name of what RFC 9864 calls Ed25519; a set may declare the one and a signature the other. */
export const isSameAlgorithm = (one: string, other: string): boolean =>
  one === other || (isEdwards(one) && isEdwards(other));

const isEdwards = (alg: string): boolean => alg === 'EdDSA' || alg === 'Ed25519';
