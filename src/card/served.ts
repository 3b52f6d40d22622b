import type { Json, JsonObject, Place } from './json.ts';
import { ROOT, below, isArray, isObject, objectOf, pointerOf } from './json.ts';
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
 * A2A 1.0 §8.4.1 over the served JSON: REQUIRED members stay, also at their default; members with presence stay where they are set;
 * any other member at its default is left out, as is `null` everywhere outside a Struct. Names are those of the specification alone.
 */
export function servedCard(card: JsonObject, unknown: UnknownMembers): Projection {
  const walk: Walk = { unknown, left: [] };
  const unsigned = objectOf(Object.entries(card).filter(([name]) => name !== 'signatures'));
  return { payload: serveMessage(unsigned, CARD_1_0, ROOT, walk), left: walk.left };
}

function serveMessage(object: JsonObject, of: Message, at: Place, walk: Walk): JsonObject {
  return objectOf(
    Object.entries(object).map(([name, value]): [string, Json | undefined] => {
      const member = memberOf(of, name);
      const place = below(at, name);
      if (member !== undefined) return [name, serveMember(value, member, place, walk)];
      if (walk.unknown === 'kept') return [name, value];
      walk.left.push({ pointer: pointerOf(place), why: 'member' });
      return [name, undefined];
    }),
  );
}

function serveMember(value: Json, member: Member, at: Place, walk: Walk): Json | undefined {
  if (value === null) return undefined;
  const served = serveValue(value, member, at, walk);
  const stays =
    member.required === true || member.presence === true || member.kind.is === 'message' || member.kind.is === 'struct';
  return stays || !isDefault(served) ? served : undefined;
}

/** A value of another kind than the table says is signed as it stands. */
function serveValue(value: Json, member: Member, at: Place, walk: Walk): Json {
  const { kind } = member;
  switch (kind.is) {
    case 'string':
    case 'boolean':
    case 'strings':
    case 'struct':
    case 'texts':
      return value;
    case 'message':
      return isObject(value) ? serveMessage(value, kind.of, at, walk) : value;
    case 'list':
      return isArray(value)
        ? value.map((item, index) => (isObject(item) ? serveMessage(item, kind.of, below(at, index), walk) : item))
        : value;
    case 'schemes':
      return isObject(value) ? serveSchemes(value, at, walk) : value;
    case 'requirements':
      return isArray(value) ? value.map((item, index) => serveRequirement(item, below(at, index), walk)) : value;
  }
}

const serveSchemes = (schemes: JsonObject, at: Place, walk: Walk): JsonObject =>
  objectOf(
    Object.entries(schemes).map(([name, scheme]) => [
      name,
      isObject(scheme) ? serveMessage(scheme, SCHEME_1_0, below(at, name), walk) : scheme,
    ]),
  );

/** `schemes` and `list` are not REQUIRED, so both are left out where they are empty. */
function serveRequirement(value: Json, at: Place, walk: Walk): Json {
  const requirement = readRequirement(value);
  if (requirement?.shape === 'wrapped') {
    const lists = [...requirement.schemes].map(([name, scopes]): [string, Json] => [
      name,
      objectOf(scopes.length === 0 ? [] : [['list', scopes]]),
    ]);
    return objectOf(lists.length === 0 ? [] : [['schemes', objectOf(lists)]]);
  }
  if (walk.unknown === 'kept' || requirement === undefined) return value;
  for (const scheme of requirement.schemes.keys())
    walk.left.push({ pointer: pointerOf(at), why: 'requirement', scheme });
  return objectOf([]);
}

const isDefault = (value: Json): boolean =>
  value === '' ||
  value === false ||
  (isArray(value) && value.length === 0) ||
  (isObject(value) && Object.keys(value).length === 0);
