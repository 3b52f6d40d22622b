import { type Tag, tag } from './ids.ts';
import { parseTarget } from './origins.ts';
import type { EpochMs } from './units.ts';

/** What a kill can be about; the word before the colon, and the metric label. */
export const KILL_KINDS = ['all', 'agent', 'origin', 'tenant', 'principal', 'kid'] as const;
export type KillKind = (typeof KILL_KINDS)[number];

/** Who put a kill in force. */
export const KILL_SOURCES = [
  'admin', // somebody with the token, by API or command
  'socket', // somebody who may open the admin socket
  'console', // somebody who signed in at the console
  'signal', // SIGUSR2
  'file', // the kill file was there
  'unreadable-state', // kills.json could not be read, so everything is stopped
] as const;
export type KillSource = (typeof KILL_SOURCES)[number];

/** One stop that is in force until somebody with authority lifts it. */
export interface Kill {
  readonly id: string;
  /** What it stops: everything that carries this tag. */
  readonly scope: Tag;
  readonly reason: string;
  readonly by: KillSource;
  readonly at: EpochMs;
}

/** No tenant, subject or key id in use is longer; a longer one is a mistake or an attack on the file. */
const LONGEST_ID = 1_024;

/**
 * Reads a scope as a person writes it, in the one spelling that tags have: `all`, `agent:weather`, `origin:Host.Example` becomes
 * `origin:host.example`. Undefined where it is none.
 */
export function parseScope(text: string): Tag | undefined {
  if (text === 'all') return tag('all');
  const colon = text.indexOf(':');
  const id = text.slice(colon + 1);
  // A control character would be a second line, or a second tag, somewhere.
  if (colon === -1 || id === '' || id.length > LONGEST_ID || /[\u0000-\u001f\u007f]/.test(id)) return undefined;
  switch (text.slice(0, colon)) {
    case 'agent':
      return isAgent(id) ? tag(`agent:${id}`) : undefined;
    case 'origin':
      return originScope(id);
    case 'tenant':
    case 'principal':
    case 'kid':
      return tag(text);
    default:
      return undefined;
  }
}

/** The name of an agent, or the URL of a card that has no name, as it is used. */
function isAgent(id: string): boolean {
  if (/^[a-z0-9-]{1,63}$/.test(id)) return true;
  const target = parseTarget(id);
  return target.ok && target.value.url === id;
}

/** A host stands for all its ports, a host with a port for that one alone. */
function originScope(host: string): Tag | undefined {
  if (!/^(\[[0-9a-f:.]+\]|[^\s/?#@\\:[\]]+)(:\d{1,5})?$/i.test(host)) return undefined;
  const [, name = '', port = ''] = /^(.*?)(:\d+)?$/.exec(host) ?? [];
  const known = URL.parse(`https://${name}/`)?.hostname.replace(/\.$/, '') ?? '';
  // The root of the names by itself is no host, and two dots at an end are none's.
  return known === '' || known.endsWith('.') ? undefined : tag(`origin:${known}${port}`);
}

/** True where a stop of this scope covers what carries these tags: of an origin there is one with its port and one without. */
export const scopeCovers = (scope: Tag, tags: readonly Tag[]): boolean => scope === 'all' || tags.includes(scope);

/** The kind of a scope that `parseScope` made. */
export const kindOfScope = (scope: Tag): KillKind =>
  KILL_KINDS.find((kind) => scope === kind || scope.startsWith(`${kind}:`)) ?? 'all';
