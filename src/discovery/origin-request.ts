import { type Directives, requestDirectives } from '../http/cache-control.ts';
import { type FieldReader, endToEnd, readerOf, withoutFields } from '../http/fields.ts';
import type { Ask } from '../kernel/ask.ts';
import type { ByteStream, Fields } from '../kernel/fields.ts';
import { type EntryKey, type Url, urlId } from '../kernel/ids.ts';
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

/** Reads a request against a rule: the raw target goes to the origin as it came. */
export function originRequest(ask: Ask, rule: OriginRule, now: EpochMs): OriginRequest {
  const fields = withoutFields(endToEnd(ask.fields), HOST);
  const read = readerOf(fields);
  const url = urlId(originOf(rule) + ask.target);
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

function originOf(rule: OriginRule): string {
  const { scheme, host, port } = rule.match;
  const written = host.includes(':') ? `[${host}]` : host;
  const standard = scheme === 'https' ? 443 : 80;
  return `${scheme}://${written}${port === standard ? '' : `:${port}`}`;
}
