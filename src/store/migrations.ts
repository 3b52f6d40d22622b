import type { DatabaseSync } from 'node:sqlite';
import { DiskError, transact } from './sqlite.ts';

/** The steps from nothing to today's tables, one per version. Steps are added, never changed: files out there have taken them. */
export type Schema = readonly string[];

/** Evidence: what was decided, what waits, and a chain of receipts. */
export const LEDGER_SCHEMA: Schema = [
  `
  create table receipts (
    seq integer primary key,
    id text not null unique,
    at integer not null,
    kind text not null,
    agent text,
    body text not null,
    link blob not null
  ) strict;
  create index receipts_by_agent on receipts (agent, seq);
  create index receipts_by_time on receipts (at);
  create table chain (
    only integer primary key check (only = 1),
    head_seq integer not null,
    head_link blob not null,
    anchor_seq integer not null,
    anchor_link blob not null,
    seal blob not null
  ) strict;
  create table decisions (
    seq integer primary key,
    id text not null unique,
    at integer not null,
    agent text not null,
    digest text not null,
    action text not null check (action in ('approve', 'reject')),
    reason text not null,
    authority text not null
  ) strict;
  create index decisions_by_agent on decisions (agent, seq);
  create table held (
    agent text not null,
    variant text not null,
    digest text not null,
    url text not null,
    body blob not null,
    at integer not null,
    policy text not null,
    classes text not null,
    primary key (agent, variant)
  ) strict;
  `,
  // Nothing has ever been held by a program that wrote the first step.
  `
  drop table held;
  create table held (
    agent text not null,
    variant text not null,
    digest text not null,
    url text not null,
    body blob not null,
    content_type text not null,
    at integer not null,
    policy text not null,
    since integer not null,
    servable integer not null,
    changes text not null,
    primary key (agent, variant)
  ) strict;
  create table in_force (
    seq integer primary key,
    agent text not null,
    variant text not null,
    digest text not null,
    url text not null,
    body blob not null,
    content_type text not null,
    verdict text not null,
    review text not null,
    let_in_by text not null,
    receipt text not null,
    at integer not null,
    servable integer not null
  ) strict;
  create index in_force_by_agent on in_force (agent, seq);
  `,
  `
  create table held_extended (
    agent text not null,
    digest text not null,
    classes text not null,
    at integer not null,
    primary key (agent, digest)
  ) strict;
  `,
];

/** What a restart serves from: a cache, to be thrown away at any time. */
export const CARDS_SCHEMA: Schema = [
  `
  create table cards (
    key text not null,
    variant text not null,
    tags text not null,
    head text not null,
    body blob not null,
    primary key (key, variant)
  ) strict;
  create table key_sets (
    name text not null,
    url text not null,
    fetched_at integer not null,
    body blob not null,
    primary key (name, url)
  ) strict;
  `,
];

/** Brings a file to today's version; throws `future` where a newer program has been at it. */
export function migrate(db: DatabaseSync, schema: Schema): void {
  const version = Number(db.prepare('pragma user_version').get()?.['user_version']);
  if (version > schema.length) {
    throw new DiskError('future', `its format is version ${version}; this program knows ${schema.length}`);
  }
  if (version === schema.length) return;
  transact(db, () => {
    for (const step of schema.slice(version)) db.exec(step);
    db.exec(`pragma user_version = ${schema.length}`);
  });
}
