import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { type CardDigest, cardDigest } from '../kernel/ids.ts';
import type { JsonObject } from './json.ts';
import { without } from './json.ts';

/** Names a card's content: SHA-256 of its RFC 8785 form without `signatures`, so that signing again is no change. */
export const digestCard = (card: JsonObject): CardDigest =>
  digestCardText(canonicalize(without(card, 'signatures')) ?? '');

/** The same of the text, where it is made already. */
export const digestCardText = (text: string): CardDigest => cardDigest(hash('sha256', text));
