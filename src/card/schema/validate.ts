import canonicalize from 'canonicalize';
import type { FaultCode } from '../../kernel/faults.ts';
import type { Json, JsonObject, Place } from '../json.ts';
import { ROOT, isArray, isObject, kindOf, own, pointerOf, quote, showPointer } from '../json.ts';
import { isWrittenTwice, openOneOf, writtenMember } from './member-value.ts';
import { readRequirement } from './requirements.ts';
import { readScheme } from './schemes.ts';
import type { Kind, Member, Message } from './table.ts';

/** One way in which a card is not what its table says. */
export interface Finding {
  /** JSON Pointer of the member, as the card writes it. */
  readonly pointer: string;
  /** What the table says. */
  readonly rule: string;
  /** What is there: a kind or a bounded quotation. */
  readonly found: string;
  /** Whether every level refuses it, or only `strict`. */
  readonly refusedBy: 'compatible' | 'strict';
  readonly code: Extract<FaultCode, 'card-invalid' | 'card-ambiguous' | 'unknown-security-scheme'>;
}

/** A person mends a card from the first few dozen; a card of garbage must not make a megabyte of messages. */
const MAX_FINDINGS = 50;

/** Far above any published card (hundreds of skills, kilobytes of text), far below what would fill the megabyte with one member. */
const MAX_ITEMS = 4096;
const MAX_TEXT = 65_536;

/** Compares a card with its table: all findings in the table's order, up to a bound. The same card gives the same findings. */
export function validateCard(card: JsonObject, table: Message): readonly Finding[] {
  const findings: Finding[] = [];
  const report = (finding: Finding) => findings.length < MAX_FINDINGS && findings.push(finding);
  checkMessage(card, table, { ...ROOT, report });
  return findings;
}

interface Spot extends Place {
  readonly report: (finding: Finding) => void;
}

const below = (above: Spot, name: string | number): Spot => ({ above, name, report: above.report });

function checkMessage(object: JsonObject, of: Message, place: Spot): void {
  const opened = openOneOf(object, of);
  if (opened.path.length > 0) tell(place, 'strict', `the ${of.oneOf} is written by its own name`, '"$case"');
  // The member's own name is no part of the inner form: what `$case` names stands in `value`.
  const inner = opened.path.length > 0 ? below(place, opened.path[0] ?? '') : place;
  for (const member of of.members) checkMember(opened.object, member, inner);
  if (of.oneOf !== undefined) checkOneOf(opened.object, of, place);
}

function checkMember(object: JsonObject, member: Member, place: Spot): void {
  const written = writtenMember(object, member);
  const isNeeded = member.required === true || member.vital === true;
  if (written === undefined && !isNeeded) return;
  const at = below(place, written?.name ?? member.name);
  if (isWrittenTwice(object, member)) checkTwice(object, member, at);
  if (written === undefined || written.value === null) {
    if (isNeeded) reportMissing(member, written?.value, at);
    else if (written !== undefined) tell(at, 'strict', 'a member that is not set is left out', 'null');
    return;
  }
  if (written.name !== member.name)
    tell(at, 'strict', `the member is written ${quote(member.name)}`, quote(written.name));
  checkKind(written.value, member, at);
}

function reportMissing(member: Member, found: Json | undefined, at: Spot): void {
  tell(at, member.vital === true ? 'compatible' : 'strict', 'the member is required', kindOf(found));
}

/** Two spellings of one member are two readings of one card, unless they agree. */
function checkTwice(object: JsonObject, member: Member, at: Spot): void {
  const [camel, snake] = [own(object, member.name), own(object, member.snake)];
  const agree = canonicalize(camel) === canonicalize(snake);
  const found = `${quote(member.name)} and ${quote(member.snake)}`;
  const rule = 'a member stands once';
  if (agree) return tell(at, 'strict', rule, found);
  at.report({ pointer: pointerOf(at), rule, found, refusedBy: 'compatible', code: 'card-ambiguous' });
}

function checkKind(value: Json, member: Member, at: Spot): void {
  const { kind } = member;
  switch (kind.is) {
    case 'string':
      return checkString(value, member, at);
    case 'boolean':
      if (typeof value !== 'boolean') wrongKind(at, 'a boolean', value);
      return;
    case 'struct':
      if (!isObject(value)) wrongKind(at, 'an object', value);
      return;
    case 'strings':
      return areTexts(value) ? undefined : eachItem(value, at, checkText);
    case 'texts':
      return eachEntry(value, at, checkText);
    case 'message':
      return isObject(value) ? checkMessage(value, kind.of, at) : wrongKind(at, 'an object', value);
    case 'list':
      return checkList(value, member, kind, at);
    case 'schemes':
      return eachEntry(value, at, checkScheme);
    case 'requirements':
      return eachItem(value, at, checkRequirement);
  }
}

function checkString(value: Json, member: Member, at: Spot): void {
  checkText(value, at);
  if (typeof value !== 'string') return;
  if (value === '' && member.vital === true) tell(at, 'compatible', 'the member is required', 'an empty string');
  if (member.values !== undefined && !member.values.includes(value)) {
    tell(at, 'strict', `one of ${member.values.join(', ')}`, quote(value));
  }
}

/** Tells it of all at once: nothing is to be said of an honest card's. */
const areTexts = (value: Json): boolean => isArray(value) && value.length <= MAX_ITEMS && value.every(isText);

const isText = (value: Json): boolean => typeof value === 'string' && value.length <= MAX_TEXT;

function checkText(value: Json, at: Spot): void {
  if (typeof value !== 'string') wrongKind(at, 'a string', value);
  else if (value.length > MAX_TEXT) tell(at, 'compatible', `at most ${MAX_TEXT} characters`, String(value.length));
}

function checkList(value: Json, member: Member, kind: Extract<Kind, { is: 'list' }>, at: Spot): void {
  eachItem(value, at, (item, place) =>
    isObject(item) ? checkMessage(item, kind.of, place) : wrongKind(place, 'an object', item),
  );
  if (member.vital === true && isArray(value) && value.length === 0) {
    tell(at, 'compatible', 'at least one item', 'an empty array');
  }
}

function eachItem(value: Json, at: Spot, check: (item: Json, place: Spot) => void): void {
  if (!isArray(value)) return wrongKind(at, 'an array', value);
  if (value.length > MAX_ITEMS) return tell(at, 'compatible', `at most ${MAX_ITEMS} items`, String(value.length));
  for (const [index, item] of value.entries()) check(item, below(at, index));
}

function eachEntry(value: Json, at: Spot, check: (item: Json, place: Spot) => void): void {
  if (!isObject(value)) return wrongKind(at, 'an object', value);
  const entries = Object.entries(value);
  if (entries.length > MAX_ITEMS) return tell(at, 'compatible', `at most ${MAX_ITEMS} members`, String(entries.length));
  for (const [name, item] of entries) check(item, below(at, name));
}

function checkScheme(value: Json, at: Spot): void {
  const reading = readScheme(value);
  if (!reading.ok) {
    const found = reading.why === 'several' ? 'more than one kind at once' : schemeWord(value);
    const code = reading.why === 'several' ? 'card-ambiguous' : 'unknown-security-scheme';
    return at.report({
      pointer: pointerOf(at),
      rule: "one of A2A's five kinds of security scheme",
      found,
      refusedBy: 'compatible',
      code,
    });
  }
  const { scheme } = reading;
  if (scheme.shape === 'case' || scheme.shape === 'snake') {
    tell(at, 'strict', `the scheme is written ${quote(scheme.wrapper)}`, quote(scheme.path[0] ?? ''));
  }
  checkMessage(scheme.body, scheme.message, scheme.path.reduce(below, at));
}

function schemeWord(value: Json): string {
  if (!isObject(value)) return kindOf(value);
  const type = own(value, 'type');
  if (typeof type === 'string') return `type ${quote(type)}`;
  return Object.keys(value).length === 0
    ? 'an empty object'
    : `members ${Object.keys(value).slice(0, 4).map(quote).join(', ')}`;
}

function checkRequirement(value: Json, at: Spot): void {
  const requirement = readRequirement(value);
  if (requirement === undefined) {
    tell(at, 'compatible', 'a set of schemes with their scopes', isObject(value) ? 'another shape' : kindOf(value));
  } else if (requirement.shape === 'arrays') {
    tell(at, 'strict', 'scopes are written { "list": […] }', 'an array');
  }
}

function checkOneOf(object: JsonObject, of: Message, place: Spot): void {
  const set = of.members.filter((member) => (writtenMember(object, member)?.value ?? null) !== null);
  if (set.length === 1) return;
  const found = set.length === 0 ? 'none' : set.map((member) => member.name).join(', ');
  tell(place, 'strict', `exactly one of ${of.members.map((member) => member.name).join(', ')}`, found);
}

const wrongKind = (at: Spot, wanted: string, found: Json): void => tell(at, 'compatible', wanted, kindOf(found));

const tell = (at: Spot, refusedBy: Finding['refusedBy'], rule: string, found: string): void =>
  at.report({ pointer: pointerOf(at), rule, found, refusedBy, code: 'card-invalid' });

/** A finding as one sentence. */
export const describeFinding = (finding: Finding): string =>
  `${finding.pointer === '' ? 'the card' : showPointer(finding.pointer)}: ${finding.rule}; found ${finding.found}`;
