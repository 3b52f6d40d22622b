import type { AgentName, EntryKey, Tag, Url } from '../kernel/ids.ts';
import { tag } from '../kernel/ids.ts';

/*
 * The one place that makes entry keys. Parts are joined by NUL, which no agent name and no URL holds, so no two partitions can
 * meet in one key; the agent is in the key of a card because its rules are in the verdict, and the configured URL is in it so
 * that an agent whose origin changes never finds the old origin's card.
 */

/** The key of an agent's public card. */
export const publicCardKey = (agent: AgentName, card: Url): EntryKey => `card\0${agent}\0${card}` as EntryKey;

/** The key of a response to GET on an origin with `content: any` (RFC 9111 §2: HEAD is answered from it too). */
export const anyKey = (rule: string, url: Url): EntryKey => `any\0${rule}\0${url}` as EntryKey;

/** What purge and kill find an agent's public card by. */
export const cardTags = (agent: AgentName, url: Url, kid: string | undefined): readonly Tag[] => [
  ALL,
  tag(`agent:${agent}`),
  tag(`origin:${new URL(url).host}`),
  ...(kid === undefined ? [] : [tag(`kid:${kid}`)]),
];

/** What purge and kill find an origin's response by. */
export const originTags = (url: Url): readonly Tag[] => [ALL, tag(`origin:${new URL(url).host}`)];

const ALL = tag('all');
