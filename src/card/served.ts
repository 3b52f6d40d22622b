import type { Json, JsonArray, JsonObject, Place } from './json.ts';
import { ROOT, below, isArray, isObject, objectOf, pointerOf, replaceItems, replaceMembers } from './json.ts';
import type { Left, Projection } from './project.ts';
import { CARD_1_0, SCHEME_1_0 } from './schema/a2a-1.0.ts';
import { readRequirement } from './schema/requirements.ts';
import type { Member, Message } from './schema/table.ts';
import { memberOf } from './schema/table.ts';

/** Whether members that the table does not know are signed as they stand, or not at all. */
export type UnknownMembers = 'kept' | 'left-out';

interface Walk {
  readonly unknown: UnknownMembers;
  readonly left: Left[];
}

/**
 * A2A 1.0 §8.4.1 over the served JSON, given without its `signatures`: REQUIRED members stay, also at their default; members with
 * presence stay where they are set; any other member at its default is left out, as is `null` everywhere outside a Struct. Names are
 * those of the specification alone. A card of which nothing is left out is its own projection, the very object.
 */
export function servedCard(unsigned: JsonObject, unknown: UnknownMembers): Projection {
  const walk: Walk = { unknown, left: [] };
  return { payload: serveMessage(unsigned, CARD_1_0, ROOT, walk), left: walk.left };
}

const serveMessage = (object: JsonObject, of: Message, at: Place, walk: Walk): JsonObject =>
  replaceMembers(object, (value, name) => {
    if (walk.unknown === 'kept' && isSet(value)) return value;
    const member = memberOf(of, name);
    if (member !== undefined) return serveMember(value, member, at, walk);
    if (walk.unknown === 'kept') return value;
    walk.left.push({ pointer: pointerOf(below(at, name)), why: 'member' });
    return undefined;
  });

function serveMember(value: Json, member: Member, at: Place, walk: Walk): Json | undefined {
  if (value === null) return undefined;
  const served = serveValue(value, member, at, walk);
  const stays =
    member.required === true || member.presence === true || member.kind.is === 'message' || member.kind.is === 'struct';
  return stays || !isDefault(served) ? served : undefined;
}

/** A value of another kind than the table says is signed as it stands. */
function serveValue(value: Json, { name, kind }: Member, above: Place, walk: Walk): Json {
  switch (kind.is) {
    case 'string':
    case 'boolean':
    case 'strings':
    case 'struct':
    case 'texts':
      return value;
    case 'message':
      return isObject(value) ? serveMessage(value, kind.of, below(above, name), walk) : value;
    case 'list':
      return isArray(value) ? serveList(value, kind.of, below(above, name), walk) : value;
    case 'schemes':
      return isObject(value) ? serveSchemes(value, below(above, name), walk) : value;
    case 'requirements':
      return isArray(value) ? serveRequirements(value, below(above, name), walk) : value;
  }
}

const serveList = (items: JsonArray, of: Message, at: Place, walk: Walk): JsonArray =>
  replaceItems(items, (item, index) => (isObject(item) ? serveMessage(item, of, below(at, index), walk) : item));

const serveSchemes = (schemes: JsonObject, at: Place, walk: Walk): JsonObject =>
  replaceMembers(schemes, (scheme, name) =>
    isObject(scheme) ? serveMessage(scheme, SCHEME_1_0, below(at, name), walk) : scheme,
  );

const serveRequirements = (items: JsonArray, at: Place, walk: Walk): JsonArray =>
  replaceItems(items, (item, index) => serveRequirement(item, below(at, index), walk));

/** `schemes` and `list` are not REQUIRED, so both are left out where they are empty. */
function serveRequirement(value: Json, at: Place, walk: Walk): Json {
  const requirement = readRequirement(value);
  if (requirement?.shape === 'wrapped') return serveWrapped(value, requirement.schemes);
  if (walk.unknown === 'kept' || requirement === undefined) return value;
  for (const scheme of requirement.schemes.keys())
    walk.left.push({ pointer: pointerOf(at), why: 'requirement', scheme });
  return objectOf([]);
}

function serveWrapped(value: Json, schemes: ReadonlyMap<string, readonly string[]>): Json {
  if (schemes.size === 0) return objectOf([]);
  const lists = [...schemes];
  if (lists.every(([, scopes]) => scopes.length > 0)) return value;
  const written = lists.map(([name, scopes]): [string, Json] => [
    name,
    objectOf(scopes.length === 0 ? [] : [['list', scopes]]),
  ]);
  return objectOf([['schemes', objectOf(written)]]);
}

/** Tells that no member of any kind would have this at its default, nor a part of it. */
const isSet = (value: Json): boolean => value === true || (typeof value === 'string' && value !== '');

const isDefault = (value: Json): boolean =>
  value === '' ||
  value === false ||
  (isArray(value) && value.length === 0) ||
  (isObject(value) && Object.keys(value).length === 0);
