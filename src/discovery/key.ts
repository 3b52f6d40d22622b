import { type AgentName, type EntryKey, type Tag, tag, type Url, urlId } from '../kernel/ids.ts';
import type { AgentRule, OriginRule } from '../policy/rules.ts';

/*
 * The one place that makes entry keys. Parts are joined by NUL, which no agent name and no URL holds, so no two partitions can
 * meet in one key; the agent is in the key of a card because its rules are in the verdict, and the configured URL is in it so
 * that an agent whose origin changes never finds the old origin's card.
 */

/** The key of an agent's public card. */
export const publicCardKey = (agent: AgentName, card: Url): EntryKey => `card\0${agent}\0${card}` as EntryKey;

/**
 * The same as an agent's rule says it: the first card URL names the card, whichever of its URLs answers. Cards without a name have a
 * partition of their own: there may be any number of them, and they are not kept on disk.
 */
export function agentCardKey({
  name,
  by,
  cards: [first = NOWHERE],
}: Pick<AgentRule, 'name' | 'by' | 'cards'>): EntryKey {
  return by === null ? publicCardKey(name, first) : (`unnamed\0${by.policy}\0${first}` as EntryKey);
}

/** Of an agent whose registry names no place for it nothing is ever stored. */
const NOWHERE = urlId('');

/** The key of a response to GET on an origin with `content: any` (RFC 9111 §2: HEAD is answered from it too). */
export const anyKey = ({ policy }: Pick<OriginRule, 'policy'>, url: Url): EntryKey =>
  `any\0${policy}\0${url}` as EntryKey;

/** What purge and kill find an agent's card by: its agent, its registry, every origin that had a part in it, and the key that signed it. */
export const cardTags = (
  { name, registered }: Pick<AgentRule, 'name' | 'registered'>,
  urls: readonly Url[],
  kid: string | undefined,
): readonly Tag[] => [
  ...new Set([
    ALL,
    tag(`agent:${name}`),
    ...(registered === null ? [] : [tag(`registry:${registered.registry}`)]),
    ...[...new Set(urls)].flatMap(hostTags),
    ...(kid === undefined ? [] : [tag(`kid:${kid}`)]),
  ]),
];

/** What a kill can name of an agent before anything is fetched for it. */
export const agentTags = (agent: Pick<AgentRule, 'name' | 'registered' | 'cards'>): readonly Tag[] =>
  cardTags(agent, agent.cards, undefined);

/**
 * Everything that a kill can name of a call to an interface.
 * @param about the tags of the card that names it, and those of the caller.
 */
export const callTags = (agent: Parameters<typeof agentTags>[0], to: Url, about: readonly Tag[]): readonly Tag[] => [
  ...new Set([...agentTags(agent), ...originTags(to), ...about]),
];

/** What purge and kill find an origin's response by. */
export const originTags = (url: Url): readonly Tag[] => [ALL, ...hostTags(url)];

const ALL = tag('all');

/** A host by itself, for all its ports, and with its port, the scheme's own included. */
function hostTags(url: Url): readonly Tag[] {
  const { hostname, port, protocol } = new URL(url);
  const explicit = port === '' ? (protocol === 'https:' ? '443' : '80') : port;
  const host = hostname.replace(/\.$/, '');
  return [tag(`origin:${host}`), tag(`origin:${host}:${explicit}`)];
}
