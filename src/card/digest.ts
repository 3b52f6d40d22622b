import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { type CardDigest, cardDigest } from '../kernel/ids.ts';
import type { JsonObject } from './json.ts';
import { without } from './json.ts';

/** Names a card's content: SHA-256 of its RFC 8785 form without `signatures`, so that signing again is no change. */
export const digestCard = (card: JsonObject): CardDigest =>
  cardDigest(
    createHash('sha256')
      .update(canonicalize(without(card, 'signatures')) ?? '')
      .digest('hex'),
  );
