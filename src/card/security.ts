import type { JsonObject } from './json.ts';
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

/**
 * Tells whether what can be shown meets one of the alternatives that a card requires, all of its members; a card that lists schemes
 * without requiring any is met by one of them. What it does not declare it is not shown.
 * @param card the 1.0 view.
 */
export function meetsSecurity(card: JsonObject, proofs: Proofs): boolean {
  const schemes = readSchemes(card);
  const required = readMember(card, 'securityRequirements');
  const isMet = (name: string): boolean => {
    const scheme = schemes.get(name);
    return scheme !== undefined && isShown(scheme, proofs);
  };
  if (!isArray(required) || required.length === 0) return [...schemes.keys()].some(isMet);
  const isNothing = proofs.authorization === null && !proofs.certificate;
  return required.some((each) => {
    const names = [...(readRequirement(each)?.schemes.keys() ?? [])];
    // An alternative that requires nothing asks for no credential.
    return names.length === 0 ? isNothing : names.every(isMet);
  });
}

/** Tells whether a challenge asks for a scheme that the card declares: no other is handed on, so that no origin fishes for passwords. */
export function declaresChallenge(card: JsonObject, challenge: string): boolean {
  const asked = /^\s*([!#$%&'*+.^_`|~A-Za-z0-9-]+)/.exec(challenge)?.[1]?.toLowerCase();
  return asked !== undefined && [...readSchemes(card).values()].some((scheme) => authorizationOf(scheme) === asked);
}

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
