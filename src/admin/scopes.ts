import type { RevokeOrder } from '../discovery/revoke.ts';
import { type Tag, tag } from '../kernel/ids.ts';
import { parseScope } from '../kernel/kill.ts';
import { type Outcome, accepted, refused } from '../kernel/refusal.ts';
import { type Order, bad, shown } from './body.ts';

/** What a person may name as a scope or a tag. */

const MOST_TAGS = 100;
const SCOPES = 'all, agent:NAME, origin:HOST, tenant:ID, principal:ID or kid:ID';

/** Reads the scope of a stop. */
export function scopeOf(order: ReadonlyMap<string, unknown>): Outcome<Tag> {
  const written = order.get('scope');
  const scope = typeof written === 'string' ? parseScope(written) : undefined;
  return scope === undefined ? refused(bad(`scope must be ${SCOPES}.`)) : accepted(scope);
}

/** Reads whose tokens are revoked: one principal's or one tenant's. */
export function bearersOf(order: Order): Outcome<Pick<RevokeOrder, 'kind' | 'name'>> {
  const named = (['principal', 'tenant'] as const).filter((kind) => order.has(kind));
  const [kind] = named;
  if (kind === undefined || named.length > 1) return refused(bad('Name either a principal or a tenant.'));
  const name = order.get(kind);
  return typeof name === 'string' && parseScope(`${kind}:${name}`) !== undefined
    ? accepted({ kind, name })
    : refused(
        bad(
          `${kind} must be ${kind === 'principal' ? 'ISSUER#SUBJECT' : 'a tenant'}, or the hash that a receipt shows.`,
        ),
      );
}

/** Reads the tags of a purge: the scopes of a kill, and registries. There are no wildcards. */
export function tagsOf(order: Order): Outcome<readonly Tag[]> {
  const written = order.get('tags');
  if (!Array.isArray(written) || written.length === 0 || written.length > MOST_TAGS) {
    return refused(bad(`tags must be a list of 1 to ${MOST_TAGS} tags.`));
  }
  const tags: Tag[] = [];
  for (const each of written) {
    const read = typeof each === 'string' ? readTag(each) : undefined;
    if (read === undefined) {
      const what = typeof each === 'string' ? shown(each) : 'something that is no text';
      return refused(bad(`tags: ${what} is no tag; a tag is ${SCOPES}, or registry:NAME.`));
    }
    tags.push(read);
  }
  return accepted(tags);
}

const readTag = (text: string): Tag | undefined =>
  /^registry:[A-Za-z0-9._-]{1,63}$/.test(text) ? tag(text) : parseScope(text);
