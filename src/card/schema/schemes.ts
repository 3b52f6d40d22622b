import type { Json, JsonObject } from '../json.ts';
import { isObject, present } from '../json.ts';
import { SCHEMES_0_3 } from './a2a-0.3.ts';
import { SCHEME_1_0 } from './a2a-1.0.ts';
import type { Message } from './table.ts';
import { snakeName } from './table.ts';

/** One of A2A's five kinds of security scheme, under its names in 1.0 and 0.x. */
interface SchemeKind {
  readonly wrapper: string;
  readonly type: string;
}

const KINDS: readonly SchemeKind[] = [
  { wrapper: 'apiKeySecurityScheme', type: 'apiKey' },
  { wrapper: 'httpAuthSecurityScheme', type: 'http' },
  { wrapper: 'oauth2SecurityScheme', type: 'oauth2' },
  { wrapper: 'openIdConnectSecurityScheme', type: 'openIdConnect' },
  { wrapper: 'mtlsSecurityScheme', type: 'mutualTLS' },
];

/** How a scheme is written. */
export type SchemeShape =
  | 'wrapped' // 1.0: `{ "apiKeySecurityScheme": {…} }`
  | 'snake' // the same by its protobuf name
  | 'case' // the JavaScript server's inner form: `{ "scheme": { "$case": "apiKeySecurityScheme", "value": {…} } }`
  | 'typed'; // 0.x: `{ "type": "apiKey", … }`

export interface Scheme extends SchemeKind {
  readonly shape: SchemeShape;
  /** The scheme as the card writes it. */
  readonly whole: JsonObject;
  /** The members of the scheme itself. */
  readonly body: JsonObject;
  /** Where they stand, below the scheme: the names on the way. */
  readonly path: readonly string[];
  /** The table that the body is read by. */
  readonly message: Message;
}

/** A scheme, or why it is none: of no kind that A2A knows, or of two at once. */
export type SchemeReading =
  | { readonly ok: true; readonly scheme: Scheme }
  | { readonly ok: false; readonly why: 'unknown' | 'several' };

/** Reads a scheme in any of the shapes that servers write. */
export function readScheme(value: Json): SchemeReading {
  if (!isObject(value)) return { ok: false, why: 'unknown' };
  const found = KINDS.flatMap((kind) => [...wrappedAs(value, kind), ...casedAs(value, kind), ...typedAs(value, kind)]);
  const [scheme, ...others] = found;
  if (scheme === undefined) return { ok: false, why: 'unknown' };
  return others.length === 0 ? { ok: true, scheme } : { ok: false, why: 'several' };
}

function wrappedAs(value: JsonObject, kind: SchemeKind): Scheme[] {
  return [kind.wrapper, snakeName(kind.wrapper)].flatMap((name) => {
    const body = present(value, name);
    const shape = name === kind.wrapper ? 'wrapped' : 'snake';
    return isObject(body)
      ? [{ ...kind, shape, whole: value, body, path: [name], message: messageOf(kind.wrapper) }]
      : [];
  });
}

function casedAs(value: JsonObject, kind: SchemeKind): Scheme[] {
  const inner = present(value, 'scheme');
  if (!isObject(inner) || present(inner, '$case') !== kind.wrapper) return [];
  const body = present(inner, 'value');
  return isObject(body)
    ? [{ ...kind, shape: 'case', whole: value, body, path: ['scheme', 'value'], message: messageOf(kind.wrapper) }]
    : [];
}

function typedAs(value: JsonObject, kind: SchemeKind): Scheme[] {
  const message = SCHEMES_0_3.get(kind.type);
  if (present(value, 'type') !== kind.type || message === undefined) return [];
  return [{ ...kind, shape: 'typed', whole: value, body: value, path: [], message }];
}

function messageOf(wrapper: string): Message {
  const kind = SCHEME_1_0.members.find((member) => member.name === wrapper)?.kind;
  if (kind?.is !== 'message') throw new Error(`no table for the scheme ${wrapper}`);
  return kind.of;
}
