import { type Directives, requestDirectives } from '../http/cache-control.ts';
import { type FieldReader, readerOf, withoutFields } from '../http/fields.ts';
import { endToEnd } from '../kernel/end-to-end.ts';
import type { Ask } from '../kernel/ask.ts';
import type { ByteStream, Fields } from '../kernel/fields.ts';
import type { EntryKey, Url } from '../kernel/ids.ts';
import type { EpochMs } from '../kernel/units.ts';
import type { OriginRule } from '../policy/rules.ts';
import { anyKey } from './key.ts';

/** A caller's request to an origin with `content: any`, in the form that the rules read. */
export interface OriginRequest {
  readonly rule: OriginRule;
  readonly method: string;
  readonly url: Url;
  /** Where a response to GET of this URL is stored; HEAD reads it too, and unsafe methods invalidate it. */
  readonly key: EntryKey;
  /** End-to-end fields as the caller sent them, Host aside. */
  readonly fields: Fields;
  readonly read: FieldReader;
  readonly directives: Directives;
  readonly body: ByteStream | null;
  readonly now: EpochMs;
  /** Null for a refresh that nobody waits for. */
  readonly ask: Ask | null;
}

const HOST: ReadonlySet<string> = new Set(['host']);

/** Where a request leads, and the rule that lets it. */
export interface OriginPlace {
  readonly rule: OriginRule;
  readonly url: Url;
}

/** Reads a request against the rule of where it leads. */
export function originRequest(ask: Ask, { rule, url }: OriginPlace, now: EpochMs): OriginRequest {
  const fields = withoutFields(endToEnd(ask.fields), HOST);
  const read = readerOf(fields);
  return {
    rule,
    method: ask.method,
    url,
    key: anyKey(rule, url),
    fields,
    read,
    directives: requestDirectives(read),
    body: ask.body,
    now,
    ask,
  };
}
