import { createHmac } from 'node:crypto';
import type { Receipt } from '../kernel/receipt.ts';

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

/** Writes a receipt's scopes as evidence may: callers by their hashes, whoever made the receipt. */
export function withoutNames(receipt: Receipt, hash: KeyedHash): Receipt {
  switch (receipt.kind) {
    case 'switch':
      return { ...receipt, scope: hashedScope(receipt.scope, hash) };
    case 'change':
      return { ...receipt, about: receipt.about.map((each) => hashedScope(each, hash)) };
    case 'exchange':
    case 'verdict':
    case 'review':
    case 'registry':
    case 'refusal':
      return receipt;
  }
}

/** `principal:https://idp.example#alice` → `principal:h_…`; a scope that names no caller stays as it is. */
function hashedScope(scope: string, hash: KeyedHash): string {
  const [, kind, name = ''] = /^(principal|tenant):(.*)$/su.exec(scope) ?? [];
  return kind === 'principal' || kind === 'tenant' ? `${kind}:${hash(kind, name)}` : scope;
}
