import { entityTagOf, isStrong } from '../http/etag.ts';
import { withoutFields } from '../http/fields.ts';
import { heldBytes, rangeToComplete } from '../http/parts.ts';
import { conditionFields } from '../http/validation.ts';
import type { Entry } from '../kernel/entry.ts';
import type { Fields } from '../kernel/fields.ts';
import type { ForwardWhy } from '../kernel/outcome.ts';
import { answersFrom } from './origin-answer.ts';
import type { OriginRequest } from './origin-request.ts';

/** Why the origin is asked, and what is stored that has to do with it. */
export interface Asked {
  readonly why: ForwardWhy;
  /** The stored response that the request selects: it may be validated, completed, or stand in. */
  readonly entry?: Entry;
  /** Stored responses that other requests for the same URL select: one of them may be what this one gets. */
  readonly others?: readonly Entry[];
}

/** What the origin is asked besides the caller's own request. */
export type Plan =
  | { readonly ask: 'as-is' }
  /** Whether one of these is still the answer (RFC 9111 §4.3.1). */
  | { readonly ask: 'validate'; readonly entries: readonly Entry[] }
  /** For the rest of a beginning that is stored (RFC 9111 §3.4). */
  | { readonly ask: 'complete'; readonly entry: Entry; readonly range: string };

export const AS_IS: Plan = { ask: 'as-is' };

/** More tags than this are not worth their bytes: a key with many variants is mostly asked about new ones. */
const MOST_TAGS = 8;
const OF_CONDITIONS: readonly string[] = [
  'if-match',
  'if-none-match',
  'if-modified-since',
  'if-unmodified-since',
  'if-range',
  'range',
];
const REPLACED: ReadonlySet<string> = new Set(['if-none-match', 'if-modified-since']);

/** Decides how the origin is asked. What the caller conditions itself is asked as it stands, where nothing selected is stored. */
export function planOf(request: OriginRequest, { entry, others = [] }: Asked): Plan {
  const own = OF_CONDITIONS.some((name) => request.read(name) !== undefined);
  if (entry === undefined) return own ? AS_IS : validating(others.slice(0, MOST_TAGS));
  if (answersFrom(request, entry)) return validating([entry]);
  const held = own || request.method !== 'GET' ? undefined : heldBytes(entry);
  const range = held?.asStated === true ? rangeToComplete(held) : undefined;
  return range === undefined ? AS_IS : { ask: 'complete', entry, range };
}

const validating = (entries: readonly Entry[]): Plan =>
  conditionFields(entries).length === 0 ? AS_IS : { ask: 'validate', entries };

/** The request's fields under a plan: a stored response is asked about by its own validators (RFC 9111 §4.3.1). */
export function plannedFields({ fields }: OriginRequest, plan: Plan): Fields {
  switch (plan.ask) {
    case 'as-is':
      return fields;
    case 'validate':
      return [...withoutFields(fields, REPLACED), ...conditionFields(plan.entries)];
    case 'complete':
      return [...fields, 'Range', plan.range, ...ifRange(plan.entry)];
  }
}

/** So that another representation comes whole at once. Without a strong tag what comes cannot be joined, unless it is the whole. */
function ifRange(entry: Entry): Fields {
  const tag = entityTagOf(entry.fields);
  return tag !== undefined && isStrong(tag) ? ['If-Range', tag] : [];
}
