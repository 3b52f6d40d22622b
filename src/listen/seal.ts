import { hash, randomBytes } from 'node:crypto';

/**
 * Names a text that must be kept nowhere: the same text has the same name, for as long as this seal is there, and nothing leads back from
 * it. Floor: one call, over SHA-512/256, which nobody can lengthen as an HMAC's two hashes keep SHA-256 from being.
 */
export type Seal = (text: string) => string;

export function createSeal(): Seal {
  const key = randomBytes(32).toString('base64');
  return (text) => hash('sha512-256', `${key}${text}`, 'base64');
}
