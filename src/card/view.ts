import { bytes } from '../kernel/units.ts';
import type { JsonObject } from './json.ts';
import { normaliseCard } from './normalise.ts';
import { parseCard } from './parse.ts';
import { KNOWN_VERSIONS, recogniseVersion } from './version.ts';

/** As deep as the scanner reads at all: what was admitted once is read, whatever the bounds are today. */
const DEEPEST = 256;

/** Reads the 1.0 view out of the bytes of a card that was admitted before; undefined for anything else. */
export function viewOfBody(body: Uint8Array): JsonObject | undefined {
  const parsed = parseCard(body, { maxBytes: bytes(body.byteLength), maxDepth: DEEPEST });
  if (!parsed.ok) return undefined;
  const version = recogniseVersion(parsed.value, { versions: KNOWN_VERSIONS });
  return version.ok ? normaliseCard(parsed.value, version.value).card : undefined;
}
