import type { Json, JsonObject } from '../json.ts';
import { isArray, isObject, present } from '../json.ts';

/** How a security requirement is written; five servers, five shapes, under two names. */
export type RequirementShape =
  | 'wrapped' // 1.0: `{ "schemes": { "google": { "list": ["openid"] } } }`
  | 'arrays' // Go: `{ "schemes": { "google": ["openid"] } }`
  | 'plain'; // 0.x: `{ "google": ["openid"] }`

/** One alternative: every scheme named, with its scopes. No scheme at all means that callers may be anonymous. */
export interface Requirement {
  readonly shape: RequirementShape;
  readonly schemes: ReadonlyMap<string, readonly string[]>;
}

/** Reads a requirement in any shape; undefined where it has none of them, or two at once. */
export function readRequirement(value: Json): Requirement | undefined {
  if (!isObject(value)) return undefined;
  const schemes = present(value, 'schemes');
  // A scheme may be called "schemes": then its scopes are an array, and the wrapper is always an object.
  if (isObject(schemes)) return Object.keys(value).length === 1 ? readWrapped(schemes) : undefined;
  return collect('plain', value, readScopes);
}

function readWrapped(schemes: JsonObject): Requirement | undefined {
  const arrays = Object.values(schemes).filter((scopes) => isArray(scopes)).length;
  if (arrays > 0) return collect('arrays', schemes, readScopes);
  return collect('wrapped', schemes, (scopes) => {
    if (scopes === null) return [];
    // A second member beside `list` would be served without being read, or signed.
    const isList = isObject(scopes) && Object.keys(scopes).every((name) => name === 'list');
    return isList ? readScopes(present(scopes, 'list') ?? null) : undefined;
  });
}

/** Go writes an empty list as null. */
function readScopes(scopes: Json): readonly string[] | undefined {
  if (scopes === null) return [];
  if (!isArray(scopes)) return undefined;
  const words = scopes.filter((scope) => typeof scope === 'string');
  return words.length === scopes.length ? words : undefined;
}

function collect(
  shape: RequirementShape,
  object: JsonObject,
  read: (scopes: Json) => readonly string[] | undefined,
): Requirement | undefined {
  const schemes = new Map<string, readonly string[]>();
  for (const [name, value] of Object.entries(object)) {
    const scopes = read(value);
    if (scopes === undefined) return undefined;
    schemes.set(name, scopes);
  }
  return { shape, schemes };
}
