import { hash, randomBytes } from 'node:crypto';

/**
 * Names a text that must be kept nowhere: the same text has the same name, for as long as this seal is there, and nothing leads back from
 * it. Floor: one call. Nobody outside ever sees such a name, so that the key before the text is as good as an HMAC, and SHA-256 is what
 * processors have instructions for.
 */
export type Seal = (text: string) => string;

export function createSeal(): Seal {
  const key = randomBytes(32).toString('base64');
  return (text) => hash('sha256', `${key}${text}`, 'base64');
}
