import type { Json, JsonObject } from './json.ts';
import { isArray, isObject, own } from './json.ts';
import { readMember, readText } from './schema/member-value.ts';
import { readRequirement } from './schema/requirements.ts';
import { type Scheme, readScheme } from './schema/schemes.ts';

/** What Cardea can show an agent. */
export interface Proofs {
  /** The scheme of the Authorization field, lower case; null where there is none. */
  readonly authorization: string | null;
  readonly certificate: boolean;
}

/** What a card declares and requires, read once for all its callers. */
export interface Security {
  readonly schemes: ReadonlyMap<string, Scheme>;
  /** The names in each alternative; null where none is required. */
  readonly alternatives: readonly (readonly string[])[] | null;
}

/** @param card the 1.0 view. */
export function readSecurity(card: JsonObject): Security {
  const required = readMember(card, 'securityRequirements');
  const namesOf = (each: Json): readonly string[] => [...(readRequirement(each)?.schemes.keys() ?? [])];
  const alternatives = !isArray(required) || required.length === 0 ? null : required.map(namesOf);
  return { schemes: readSchemes(card), alternatives };
}

/**
 * Tells whether what can be shown meets one of the alternatives that a card requires, all of its members; a card that lists schemes
 * without requiring any is met by one of them. What it does not declare it is not shown.
 */
export function meetsSecurity({ schemes, alternatives }: Security, proofs: Proofs): boolean {
  const isMet = (name: string): boolean => {
    const scheme = schemes.get(name);
    return scheme !== undefined && isShown(scheme, proofs);
  };
  if (alternatives === null) return [...schemes.keys()].some(isMet);
  const isNothing = proofs.authorization === null && !proofs.certificate;
  // An alternative that requires nothing asks for no credential.
  return alternatives.some((names) => (names.length === 0 ? isNothing : names.every(isMet)));
}

/**
 * Tells whether challenges ask for nothing but schemes that the card declares: no other is handed on, so that no origin fishes for
 * passwords. Behind one that is declared another may stand.
 * @param challenges the WWW-Authenticate fields, joined.
 */
export function declaresChallenge({ schemes }: Pick<Security, 'schemes'>, challenges: string): boolean {
  const declared = new Set([...schemes.values()].map(authorizationOf));
  const asked = schemesOf(challenges);
  return asked.length > 0 && asked.every((scheme) => declared.has(scheme));
}

/**
 * Reads the schemes of a list of challenges (RFC 9110 §11.6.1), lower case. A member of the list that is no parameter begins another
 * challenge, also where its word is none that a scheme can have.
 */
const schemesOf = (challenges: string): readonly string[] =>
  challenges
    .replace(/"(?:[^"\\]|\\.)*(?:"|\\?$)/gs, '""')
    .split(',')
    .map((member) => member.trim())
    .filter((member) => member !== '' && !/^[!#$%&'*+.^_`|~A-Za-z0-9-]+[ \t]*=/.test(member))
    .map((member) => /^\S+/.exec(member)?.[0].toLowerCase() ?? '');

function readSchemes(card: JsonObject): ReadonlyMap<string, Scheme> {
  const declared = readMember(card, 'securitySchemes');
  const found = new Map<string, Scheme>();
  if (!isObject(declared)) return found;
  for (const name of Object.keys(declared)) {
    const reading = readScheme(own(declared, name) ?? null);
    if (reading.ok) found.set(name, reading.scheme);
  }
  return found;
}

const isShown = (scheme: Scheme, { authorization, certificate }: Proofs): boolean =>
  scheme.type === 'mutualTLS' ? certificate : authorization !== null && authorizationOf(scheme) === authorization;

/** The scheme of Authorization that a scheme of the card means; undefined where it means another field. */
function authorizationOf({ type, body }: Scheme): string | undefined {
  switch (type) {
    case 'http':
      return readText(body, 'scheme')?.toLowerCase();
    case 'oauth2':
    case 'openIdConnect':
      return 'bearer';
    default:
      return undefined;
  }
}
