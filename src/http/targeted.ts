import type { Fields } from '../kernel/fields.ts';
import {
  clampSeconds,
  DELTAS,
  type Directives,
  NO_DIRECTIVES,
  parseCacheControl,
  PERMISSIONS,
  pragmaNoCache,
  RESTRICTIONS,
} from './cache-control.ts';
import { fieldLines, fieldValue } from './fields.ts';
import { type Member, parseDictionary } from './structured.ts';

/** The directives that hold for us in one response. */
export interface Applied {
  readonly directives: Directives;
  /** True where a targeted field decided: then Cache-Control, Expires and Pragma count for nothing (RFC 9213 §2.2). */
  readonly targeted: boolean;
}

/** Our target list, "in order of preference" (RFC 9213 §2.2). */
export const TARGETED_FIELDS = ['cardea-cache-control', 'cdn-cache-control'] as const;

/** Chooses the field that controls caching for us, and parses it. */
export function responseDirectives(fields: Fields): Applied {
  for (const name of TARGETED_FIELDS) {
    const targeted = fieldLines(fields, name);
    const directives = targeted.length === 0 ? undefined : targetedDirectives(targeted);
    if (directives !== undefined) return { directives, targeted: true };
  }
  const lines = fieldLines(fields, 'cache-control');
  const directives = parseCacheControl(lines);
  // Pragma in responses "was never specified" (RFC 9111 §5.4). Origins that still send it alone mean no-cache; believing them only shortens.
  const pragma = lines.length === 0 && pragmaNoCache(fieldValue(fields, 'pragma'));
  return { directives: pragma ? { ...directives, noCache: true } : directives, targeted: false };
}

/**
 * Parses the lines of a targeted field as a Dictionary. Undefined, and so without effect, when it is empty, does not parse, or
 * gives a directive a value of the wrong type (RFC 9213 §2.1): half of a policy is not the origin's policy.
 */
function targetedDirectives(lines: readonly string[]): Directives | undefined {
  const members = parseDictionary(lines.join(', '));
  if (members === undefined || members.size === 0) return undefined;
  const said: { -readonly [Name in keyof Directives]: Directives[Name] } = { ...NO_DIRECTIVES };
  for (const [name, member] of members) {
    const flag = RESTRICTIONS.get(name) ?? PERMISSIONS.get(name);
    const delta = DELTAS.get(name);
    if (flag !== undefined) {
      const value = flagValue(flag, member);
      if (value === undefined) return undefined;
      said[flag] = value;
    } else if (delta !== undefined) {
      if (!('item' in member) || member.item.type !== 'integer') return undefined;
      said[delta] = clampSeconds(member.item.value);
    }
  }
  return said;
}

/** Booleans are themselves; `no-cache` and `private` may also list fields, as a String or Token. */
function flagValue(flag: keyof Directives, member: Member): boolean | undefined {
  if ('item' in member && member.item.type === 'boolean') return member.item.value;
  const qualified = 'item' in member && (member.item.type === 'string' || member.item.type === 'token');
  return qualified && (flag === 'noCache' || flag === 'private') ? true : undefined;
}
