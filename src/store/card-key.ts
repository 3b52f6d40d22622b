import { generateKeyPairSync } from 'node:crypto';
import path from 'node:path';
import type { PrivateJwk } from '../ports.ts';
import { createPrivate, readPrivate } from './state-folder.ts';

/** The file in the state folder that holds the key by which Cardea signs the cards that it has rewritten. */
const CARD_KEY = 'card-key';

/** Makes a key for ES256, the one algorithm that every SDK verifies. */
export function newCardKey(): PrivateJwk {
  const { kty, crv, x, y, d } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
  return { kty: kty ?? '', crv: crv ?? '', x: x ?? '', y: y ?? '', d: d ?? '', alg: 'ES256' };
}

/**
 * Reads the key of a state folder, or makes it, so that what was signed before a restart verifies after it. A file that holds no key is
 * an Error; where none can be written, the key is of this start alone.
 */
export async function readCardKey(folder: string): Promise<PrivateJwk> {
  const file = path.join(folder, CARD_KEY);
  const found = await readPrivate(file);
  if (found !== undefined) return parseCardKey(found.toString('utf8'), file);
  const key = newCardKey();
  try {
    await createPrivate(file, Buffer.from(`${JSON.stringify(key)}\n`));
  } catch {
    // Told with everything else that is not kept in a folder that cannot be written.
  }
  return key;
}

function parseCardKey(text: string, file: string): PrivateJwk {
  const key = membersOf(text);
  const { kty, crv, x, y, d } = key;
  if (kty === 'EC' && crv === 'P-256' && x !== undefined && y !== undefined && d !== undefined) return key;
  throw new Error(`state: ${file} is no P-256 key (JWK); take it away, and a new one is made at the next start`);
}

function membersOf(text: string): PrivateJwk {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return {};
    return Object.fromEntries(Object.entries(value).filter(([, member]) => typeof member === 'string'));
  } catch {
    return {};
  }
}
