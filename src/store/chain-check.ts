import type { DatabaseSync } from 'node:sqlite';
import type { ChainReport } from '../ports.ts';
import { type Linked, type SealedEnds, linkOf, readEnds, same } from './chain.ts';
import { blob } from './sqlite.ts';

/** Where a chain is broken in many places, the first ones say it all. */
const MOST_BREAKS = 20;

/** Walks the chain from its anchor to its head and says what does not fit. */
export function checkChain(db: DatabaseSync, key: Uint8Array): ChainReport {
  const ends = readEnds(db, key);
  const breaks: string[] = ends.sealed ? [] : ['the ends of the chain were changed from outside, or the key was'];
  const found = (what: string): void => void (breaks.length < MOST_BREAKS && breaks.push(what));
  const last = walk(db, key, ends, found);
  if (last.seq < ends.headSeq) found(`receipts ${last.seq + 1} to ${ends.headSeq} are missing at the end`);
  else if (last.seq > ends.headSeq) found(`receipts after ${ends.headSeq} were added from outside`);
  else if (!same(last.link, ends.headLink)) found(`receipt ${last.seq} is not the one that was written last`);
  return {
    whole: breaks.length === 0,
    checked: last.count,
    pruned: ends.anchorSeq,
    head: Buffer.from(ends.headLink).toString('hex'),
    breaks,
  };
}

interface Last {
  readonly seq: number;
  readonly link: Uint8Array;
  readonly count: number;
}

/** One row in memory at a time. After a break the stored link is followed, so that each break is told once. */
function walk(db: DatabaseSync, key: Uint8Array, ends: SealedEnds, found: (what: string) => void): Last {
  let seq = ends.anchorSeq;
  let link = ends.anchorLink;
  let count = 0;
  const rows = db.prepare('select seq, id, at, kind, agent, body, link from receipts order by seq').iterate();
  for (const row of rows) {
    const linked = linkedRow(row);
    if (linked.seq !== seq + 1) found(missing(seq, linked.seq));
    const stored = blob(row['link']);
    if (!same(stored, linkOf(key, link, linked)) && linked.seq === seq + 1) found(`receipt ${linked.seq} was changed`);
    seq = linked.seq;
    link = stored;
    count += 1;
  }
  return { seq, link, count };
}

const missing = (before: number, after: number): string =>
  after <= before ? `receipt ${after} is older than the anchor` : `receipts ${before + 1} to ${after - 1} are missing`;

export const linkedRow = (row: Record<string, unknown>): Linked => ({
  seq: Number(row['seq']),
  id: String(row['id']),
  at: Number(row['at']),
  kind: String(row['kind']),
  agent: typeof row['agent'] === 'string' ? row['agent'] : null,
  body: String(row['body']),
});
