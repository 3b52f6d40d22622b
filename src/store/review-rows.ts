import type { DatabaseSync } from 'node:sqlite';
import type { ChangeClass, KeptChange } from '../kernel/change.ts';
import type { Verdict } from '../kernel/entry.ts';
import { type CardDigest, agentName, policyDigest, receiptId, urlId } from '../kernel/ids.ts';
import type { HeldExtended } from '../kernel/review.ts';
import { epochMs } from '../kernel/units.ts';
import type { CardInForce, Decision, HeldCard } from '../ports.ts';
import { blob } from './sqlite.ts';

/** Reviews as rows: what was decided, what waits, and what has been in force. Rows are this program's own, so they are not judged again. */
type Row = Readonly<Record<string, unknown>>;

export const decisionOf = (row: Row): Decision => ({
  id: receiptId(String(row['id'])),
  at: epochMs(Number(row['at'])),
  agent: agentName(String(row['agent'])),
  digest: String(row['digest']) as CardDigest,
  action: row['action'] === 'approve' ? 'approve' : 'reject',
  reason: String(row['reason']),
  by: String(row['authority']) as Decision['by'],
});

export function insertHeld(db: DatabaseSync, card: HeldCard): void {
  const { agent, variant, digest, url, body, contentType, at, policy, since, servable, changes } = card;
  db.prepare(
    `insert or replace into held (agent, variant, digest, url, body, content_type, at, policy, since, servable, changes)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(agent, variant, digest, url, body, contentType, at, policy, since, Number(servable), JSON.stringify(changes));
}

export const heldOf = (row: Row): HeldCard => ({
  agent: agentName(String(row['agent'])),
  variant: String(row['variant']) as HeldCard['variant'],
  digest: String(row['digest']) as CardDigest,
  url: urlId(String(row['url'])),
  body: blob(row['body']),
  contentType: String(row['content_type']),
  at: epochMs(Number(row['at'])),
  policy: policyDigest(String(row['policy'])),
  since: epochMs(Number(row['since'])),
  servable: row['servable'] === 1,
  changes: JSON.parse(String(row['changes'])) as readonly KeptChange[],
});

export function insertHeldExtended(db: DatabaseSync, { agent, digest, classes, at }: HeldExtended): void {
  db.prepare('insert or replace into held_extended (agent, digest, classes, at) values (?, ?, ?, ?)').run(
    agent,
    digest,
    JSON.stringify(classes),
    at,
  );
}

export const heldExtendedOf = (row: Row): HeldExtended => ({
  agent: agentName(String(row['agent'])),
  digest: String(row['digest']) as CardDigest,
  classes: JSON.parse(String(row['classes'])) as readonly ChangeClass[],
  at: epochMs(Number(row['at'])),
});

/** How many cards of one variant can be gone back to without being asked for again; the digests of older ones are in the receipts. */
const KEPT = 16;

export function insertInForce(db: DatabaseSync, card: CardInForce): void {
  const { agent, variant, digest, url, body, contentType, verdict, review, by, receipt, at, servable } = card;
  db.prepare(
    `insert into in_force (agent, variant, digest, url, body, content_type, verdict, review, let_in_by, receipt, at, servable)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    agent,
    variant,
    digest,
    url,
    body,
    contentType,
    JSON.stringify(verdict),
    review,
    by,
    receipt,
    at,
    Number(servable),
  );
  db.prepare(
    `delete from in_force where agent = ?1 and variant = ?2 and seq not in
       (select seq from in_force where agent = ?1 and variant = ?2 order by seq desc limit ?3)`,
  ).run(agent, variant, KEPT);
}

export const inForceOf = (row: Row): CardInForce => ({
  agent: agentName(String(row['agent'])),
  variant: String(row['variant']) as CardInForce['variant'],
  digest: String(row['digest']) as CardDigest,
  url: urlId(String(row['url'])),
  body: blob(row['body']),
  contentType: String(row['content_type']),
  verdict: JSON.parse(String(row['verdict'])) as Verdict,
  review: String(row['review']) as CardInForce['review'],
  by: String(row['let_in_by']) as CardInForce['by'],
  receipt: receiptId(String(row['receipt'])),
  at: epochMs(Number(row['at'])),
  servable: row['servable'] === 1,
});
