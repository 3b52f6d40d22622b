import { parseKeySet } from '../card/keyset.ts';
import type { InspectKeys } from '../config/key-documents.ts';

/** Reads a configured document of keys as the judge of cards will. */
export const inspectKeys: InspectKeys = async (document) => {
  const reading = await parseKeySet(document, { name: '', revoked: [], fetchedAt: null });
  if (!reading.ok) return reading;
  return reading.set.keys.length > 0 ? reading : { ok: false, why: ['none is sound', ...reading.warnings].join('; ') };
};
