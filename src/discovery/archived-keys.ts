import { parseKeySet } from '../card/keyset.ts';
import { type EpochMs, ms } from '../kernel/units.ts';
import type { ArchivedKeySet, CardArchive } from '../ports.ts';
import type { FetchedKeys, RemoteRule } from './fetch-keys.ts';

/** The part of the archive that holds keys: with every origin down at start, stored cards are judged by them. */
export type KeyArchive = Pick<CardArchive, 'saveKeySet' | 'loadKeySets'>;

/** Gives a fetched set the form that it is kept in. */
export const toArchive = (rule: RemoteRule, fetchedAt: EpochMs, body: Uint8Array): ArchivedKeySet => ({
  name: archivedName(rule),
  url: rule.source.url,
  fetchedAt,
  body,
});

/** Finds the keys that an earlier process had from this very URL; they are due to be asked for. */
export async function fromArchive(
  rule: RemoteRule,
  archived: readonly ArchivedKeySet[],
): Promise<FetchedKeys | undefined> {
  const found = archived.find(({ name, url }) => name === archivedName(rule) && url === rule.source.url);
  if (found === undefined) return undefined;
  const { name, revoked, jku } = rule;
  const { fetchedAt } = found;
  const reading = await parseKeySet(found.body, { name, revoked, fetchedAt, ...(jku === null ? {} : { jku }) });
  return reading.ok ? { set: reading.set, fetchedAt, freshFor: ms(0) } : undefined;
}

/** A `jku` is its agent's own: what came by one agent's permission is not another's. */
const archivedName = ({ name, jku, source }: RemoteRule): string =>
  jku === null ? name : `${source.egress.name} ${name}`;
