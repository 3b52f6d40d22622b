import { itemPath, memberPath } from './place.ts';
import type { Settings } from './schema.ts';
import type { Draft } from './table.ts';

type DraftListener = Draft<Settings['listen']['ops'] | null>;

/** Every listener with the path of its setting. */
export function* listenersOf(draft: Draft<Settings>): Generator<readonly [string, DraftListener]> {
  for (const name of ['agents', 'ops', 'admin'] as const) yield [`listen.${name}`, draft?.listen?.[name]];
  for (const [name, agent] of draft?.agents ?? []) yield [`${memberPath('agents', name)}.listen`, agent?.listen];
  for (const [index, rule] of (draft?.origins ?? []).entries())
    yield [`${itemPath('origins', index)}.listen`, rule?.listen];
}
