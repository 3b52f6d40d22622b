/** Members of a JWK that only the holder of an asymmetric key has (RFC 7518 §6.2.2, §6.3.2). */
export const HOLDERS_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi'] as const;

/** Those, the further primes of a key that nothing here signs with, and a shared secret: no set that is published holds one. */
export const PRIVATE_MEMBERS: ReadonlySet<string> = new Set([...HOLDERS_MEMBERS, 'oth', 'k']);
