/**
 * Structured Field Values for HTTP (RFC 9651): the parser is whole, since a field that fails to parse in any part must be ignored
 * in all its parts. Nothing here throws; a parse that fails is undefined.
 */

/** A bare item. Tokens, byte sequences, dates and display strings are wrapped, so that they cannot be taken for strings or numbers. */
export type BareItem =
  | { readonly type: 'integer'; readonly value: number }
  | { readonly type: 'decimal'; readonly value: number }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'token'; readonly value: string }
  | { readonly type: 'bytes'; readonly base64: string }
  | { readonly type: 'boolean'; readonly value: boolean }
  | { readonly type: 'date'; readonly seconds: number }
  | { readonly type: 'display'; readonly value: string };

export type Parameters = ReadonlyMap<string, BareItem>;
export interface Item {
  readonly item: BareItem;
  readonly parameters: Parameters;
}
export interface InnerList {
  readonly items: readonly Item[];
  readonly parameters: Parameters;
}
export type Member = Item | InnerList;

/** A place in the text; the parsers below move it on. */
interface Cursor {
  readonly text: string;
  at: number;
}

/** Parses a Dictionary; a key that stands twice has its last value, in its first place (RFC 9651 §4.2.2). */
export function parseDictionary(text: string): ReadonlyMap<string, Member> | undefined {
  const cursor = startOf(text);
  const members = new Map<string, Member>();
  const read = (): boolean => {
    const key = parseKey(cursor);
    if (key === undefined) return false;
    const member = take(cursor, /=/y) === undefined ? bareKey(cursor) : parseMember(cursor);
    if (member === undefined) return false;
    members.set(key, member);
    return true;
  };
  return parseMembers(cursor, read) ? members : undefined;
}

/** Parses a List. */
export function parseList(text: string): readonly Member[] | undefined {
  const cursor = startOf(text);
  const members: Member[] = [];
  const read = (): boolean => {
    const member = parseMember(cursor);
    if (member !== undefined) members.push(member);
    return member !== undefined;
  };
  return parseMembers(cursor, read) ? members : undefined;
}

/** Parses an Item. */
export function parseItem(text: string): Item | undefined {
  const cursor = startOf(text);
  const item = parseOneItem(cursor);
  return item !== undefined && atEnd(cursor) ? item : undefined;
}

/** Serialises text as a String; what a String cannot hold (RFC 9651 §3.3.3: printable ASCII) becomes `?`. */
export const structuredString = (text: string): string =>
  `"${text.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, '\\$&')}"`;

const startOf = (text: string): Cursor => ({ text: text.replace(/^ +| +$/g, ''), at: 0 });
const atEnd = (cursor: Cursor): boolean => cursor.at === cursor.text.length;

/** Takes what the sticky pattern finds at the cursor. */
function take(cursor: Cursor, pattern: RegExp): string | undefined {
  pattern.lastIndex = cursor.at;
  const found = pattern.exec(cursor.text)?.[0];
  if (found !== undefined) cursor.at += found.length;
  return found;
}

/** The members of a List or Dictionary: separated by one comma with optional whitespace, no comma at the end. */
function parseMembers(cursor: Cursor, read: () => boolean): boolean {
  if (atEnd(cursor)) return true;
  for (;;) {
    if (!read()) return false;
    take(cursor, /[ \t]*/y);
    if (atEnd(cursor)) return true;
    if (take(cursor, /,[ \t]*/y) === undefined || atEnd(cursor)) return false;
  }
}

const parseKey = (cursor: Cursor): string | undefined => take(cursor, /[a-z*][a-z0-9_.*-]*/y);

/** A key without `=` is the Boolean true with its parameters. */
function bareKey(cursor: Cursor): Item | undefined {
  const parameters = parseParameters(cursor);
  return parameters && { item: { type: 'boolean', value: true }, parameters };
}

const parseMember = (cursor: Cursor): Member | undefined =>
  cursor.text[cursor.at] === '(' ? parseInnerList(cursor) : parseOneItem(cursor);

function parseInnerList(cursor: Cursor): InnerList | undefined {
  take(cursor, /\( */y);
  const items: Item[] = [];
  while (take(cursor, /\)/y) === undefined) {
    const item = parseOneItem(cursor);
    // After an item comes a space or the end of the list, nothing else.
    if (item === undefined || (take(cursor, / +/y) === undefined && cursor.text[cursor.at] !== ')')) return undefined;
    items.push(item);
  }
  const parameters = parseParameters(cursor);
  return parameters && { items, parameters };
}

function parseOneItem(cursor: Cursor): Item | undefined {
  const item = parseBareItem(cursor);
  const parameters = item && parseParameters(cursor);
  return item && parameters && { item, parameters };
}

function parseParameters(cursor: Cursor): Parameters | undefined {
  const parameters = new Map<string, BareItem>();
  while (take(cursor, /; */y) !== undefined) {
    const key = parseKey(cursor);
    if (key === undefined) return undefined;
    const value: BareItem | undefined =
      take(cursor, /=/y) === undefined ? { type: 'boolean', value: true } : parseBareItem(cursor);
    if (value === undefined) return undefined;
    parameters.set(key, value);
  }
  return parameters;
}

function parseBareItem(cursor: Cursor): BareItem | undefined {
  const first = cursor.text[cursor.at] ?? '';
  if (/[-0-9]/.test(first)) return parseNumber(cursor);
  if (/[A-Za-z*]/.test(first)) return parseToken(cursor);
  switch (first) {
    case '"':
      return parseString(cursor);
    case ':':
      return parseBytes(cursor);
    case '?':
      return parseBoolean(cursor);
    case '@':
      return parseDate(cursor);
    case '%':
      return parseDisplay(cursor);
  }
  return undefined;
}

function parseNumber(cursor: Cursor): BareItem | undefined {
  const text = take(cursor, /-?\d+(?:\.\d*)?/y);
  if (text === undefined) return undefined;
  if (/^-?\d{1,15}$/.test(text)) return { type: 'integer', value: Number(text) };
  return /^-?\d{1,12}\.\d{1,3}$/.test(text) ? { type: 'decimal', value: Number(text) } : undefined;
}

function parseToken(cursor: Cursor): BareItem | undefined {
  const value = take(cursor, /[A-Za-z*][!#$%&'*+.^_`|~0-9A-Za-z:/-]*/y);
  return value === undefined ? undefined : { type: 'token', value };
}

function parseString(cursor: Cursor): BareItem | undefined {
  const text = take(cursor, /"(?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*"/y);
  return text === undefined ? undefined : { type: 'string', value: text.slice(1, -1).replace(/\\(.)/g, '$1') };
}

function parseBytes(cursor: Cursor): BareItem | undefined {
  const text = take(cursor, /:[A-Za-z0-9+/]*={0,2}:/y);
  return text === undefined ? undefined : { type: 'bytes', base64: text.slice(1, -1) };
}

function parseBoolean(cursor: Cursor): BareItem | undefined {
  const text = take(cursor, /\?[01]/y);
  return text === undefined ? undefined : { type: 'boolean', value: text === '?1' };
}

function parseDate(cursor: Cursor): BareItem | undefined {
  cursor.at += 1;
  const number = parseNumber(cursor);
  return number?.type === 'integer' ? { type: 'date', seconds: number.value } : undefined;
}

function parseDisplay(cursor: Cursor): BareItem | undefined {
  const text = take(cursor, /%"(?:[\x20-\x21\x23\x24\x26-\x7e]|%[0-9a-f]{2})*"/y);
  if (text === undefined) return undefined;
  try {
    return { type: 'display', value: decodeURIComponent(text.slice(2, -1)) };
  } catch {
    // "If byte_array is not valid UTF-8, fail parsing." — RFC 9651 §4.2.10
    return undefined;
  }
}
