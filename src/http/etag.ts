import type { Fields } from '../kernel/fields.ts';
import { fieldLines } from './fields.ts';

/** RFC 9110 §8.8.3: `W/` in this case only, then visible characters without quotes between quotes. */
const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/;
/** Longer validators are not worth their bytes in every request, and may be an attack on the next hop. */
const LONGEST_TAG = 1024;

/** Says whether the text is one well-formed entity tag. */
export const isEntityTag = (text: string): boolean => text.length <= LONGEST_TAG && ENTITY_TAG.test(text);

/** Reads the ETag of a response; undefined where it is missing, malformed or stands twice: then it validates nothing. */
export function entityTagOf(fields: Fields): string | undefined {
  const [line, ...others] = fieldLines(fields, 'etag');
  const tag = line?.trim();
  return tag !== undefined && others.length === 0 && isEntityTag(tag) ? tag : undefined;
}

export const isStrong = (tag: string): boolean => !tag.startsWith('W/');
const opaque = (tag: string): string => (isStrong(tag) ? tag : tag.slice(2));

/** Weak comparison: the same opaque tag (RFC 9110 §8.8.3.2). */
export const weakMatch = (one: string, other: string): boolean => opaque(one) === opaque(other);
/** Strong comparison: the same opaque tag, and neither is weak. */
export const strongMatch = (one: string, other: string): boolean => isStrong(one) && one === other;

const LISTED_TAG = /(?:^|,)[ \t]*((?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")[ \t]*(?=,|$)/g;

/** Lists the well-formed entity tags of an If-None-Match; what is malformed matches nothing. `*` is not one. */
export function parseEntityTags(text: string): readonly string[] {
  return Array.from(text.matchAll(LISTED_TAG), (found) => found[1] ?? '').filter(isEntityTag);
}
