import { createHmac } from 'node:crypto';

/** Names in evidence that only this installation can link: `h_` and 128 bits in hex. */
export type KeyedHash = (kind: 'principal' | 'tenant', name: string) => string;

/** @param key the secret of the state folder; each use has its own key under it. */
export function createKeyedHash(key: Uint8Array): KeyedHash {
  const keys = { principal: deriveKey(key, 'principal'), tenant: deriveKey(key, 'tenant') };
  return (kind, name) =>
    // A hash that was copied from a receipt stands for itself.
    HASHED.test(name) ? name : `h_${createHmac('sha256', keys[kind]).update(name).digest('hex').slice(0, 32)}`;
}

const HASHED = /^h_[0-9a-f]{32}$/;

export const deriveKey = (key: Uint8Array, use: string): Uint8Array =>
  createHmac('sha256', key).update(`cardea ${use}`).digest();
