import type { KillPreview } from '../admin/ports.ts';
import type { Discovery } from '../discovery/discovery.ts';
import { agentTags } from '../discovery/key.ts';
import type { Tag } from '../kernel/ids.ts';
import { scopeCovers } from '../kernel/kill.ts';
import type { AgentRule } from '../policy/rules.ts';
import type { SizedExtendedStore } from '../store/extended.ts';
import type { MemoryStore } from '../store/memory.ts';
import type { Listeners } from './listeners.ts';

/** How much of what is stored carries a tag. */
export type CountStored = (scope: Tag) => Pick<KillPreview, 'entries' | 'extended' | 'callers'>;

export function storedCounter(memory: Pick<MemoryStore, 'count'>, callers: Pick<SizedExtendedStore, 'count'>) {
  const count: CountStored = (scope) => {
    const { entries: extended, principals } = callers.count(scope);
    return { entries: memory.count(scope), extended, callers: principals };
  };
  return count;
}

interface Parts {
  readonly discovery: Pick<Discovery, 'rules' | 'book'>;
  readonly listeners: Pick<Listeners, 'count'>;
  readonly countStored: CountStored;
}

/** Counts what a stop of a scope would concern. */
export const previewOf = ({ discovery, listeners, countStored }: Parts, scope: Tag): KillPreview => ({
  agents: [...discovery.rules().agents.values()]
    .filter((agent) => scopeCovers(scope, tagsOf(discovery, agent)))
    .map(({ name }) => name),
  ...countStored(scope),
  streams: listeners.count(scope),
});

/** A key shows in the cards that it has signed. */
const tagsOf = ({ book }: Parts['discovery'], agent: AgentRule): readonly Tag[] => [
  ...agentTags(agent),
  ...book.variants(agent).flatMap(({ tags }) => tags),
];
