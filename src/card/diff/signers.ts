import type { Verdict } from '../../kernel/entry.ts';
import type { Json } from '../json.ts';
import { type CardChange, changeOf } from './change.ts';

/**
 * Compares who vouches for two cards. It is a change when a verified card is followed by one that is not, or that another key set
 * vouches for; a new key of the same set is a rotation, and a card that gains a signature loses nothing.
 */
export function diffSigners(before: Verdict, after: Verdict): readonly CardChange[] {
  const isLoss = before.signature === 'verified' && after.signature !== 'verified' && after.signature !== 'off';
  const isOthers = before.signature === 'verified' && after.signature === 'verified' && before.keys !== after.keys;
  if (!isLoss && !isOthers) return [];
  const pair = { oldPointer: '/signatures', pointer: '/signatures', before: shown(before), after: shown(after) };
  return [changeOf(pair, 'signature', { effect: isLoss ? 'widens' : null, of: 'signatures' })];
}

const shown = ({ signature, keys, kid }: Verdict): Json => ({
  verdict: signature,
  ...(keys === undefined ? {} : { keys }),
  ...(kid === undefined ? {} : { kid }),
});
