import { type Outcome, accepted, refuse, refused } from '../kernel/refusal.ts';
import { type EpochMs, epochMs } from '../kernel/units.ts';
import type { IssuerRule } from './rules.ts';
import { audienceOf, isTexts, type Members, type ReadToken } from './token.ts';

/** What the claims of a verified token say of its bearer. */
export interface Subject {
  /** `issuer#subject`: an issuer's URL has no fragment, so no two pairs have one id. */
  readonly id: string;
  readonly tenants:
    | { readonly is: 'one'; readonly tenant: string | null }
    | { readonly is: 'several'; readonly among: readonly string[] };
  readonly scopes: readonly string[];
  readonly roles: readonly string[];
  readonly audience: readonly string[];
  readonly issuedAt: EpochMs | null;
  readonly until: EpochMs | null;
}

/** How far two clocks that mean well are apart. */
export const SKEW = 30_000;
/** The end of the year 9999, in seconds: a later end is no end. */
const LAST_SECOND = 253_402_300_799;
/** No subject, tenant, scope or role in use is longer. */
const LONGEST_NAME = 256;
/** A token that lists more says what no rule here asks about. */
const MOST_NAMES = 256;

/** Carries what is wrong out of a row of checks; never leaves this file. */
class Wrong extends Error {}

/** Reads the claims at one instant; each that is there has the right type, or the token is refused. */
export function readClaims({ header, claims }: ReadToken, issuer: IssuerRule, now: EpochMs): Outcome<Subject> {
  try {
    refuseOtherUse(header, claims);
    const times = readTimes(header, claims, now);
    if (times === 'over')
      return refused(refuse('token-expired', 'The time of the token is over or has not come; get a fresh one.'));
    return accepted({ ...readNames(claims, issuer), ...times });
  } catch (error) {
    if (error instanceof Wrong) return refused(refuse('token-invalid', `The token is refused: ${error.message}.`));
    throw error;
  }
}

/** ID tokens are for the client that asked for them; a token bound to a key or a certificate is none without it. */
function refuseOtherUse(header: Members, claims: Members): void {
  if (claims['cnf'] !== undefined) throw new Wrong('it is bound to a key that a bearer does not prove to have');
  const isIdToken = ['at_hash', 'c_hash', 's_hash', ...(isAccessToken(header) ? [] : ['nonce'])].some(
    (name) => claims[name] !== undefined,
  );
  if (isIdToken) throw new Wrong('it is an ID token');
}

/** RFC 9068 §2.1; of what says JWT alone nobody knows what it is for. */
const isAccessToken = ({ typ }: Members): boolean => typeof typ === 'string' && typ.toLowerCase().endsWith('at+jwt');

type Times = Pick<Subject, 'issuedAt' | 'until'>;

function readTimes(header: Members, claims: Members, now: EpochMs): Times | 'over' {
  const exp = instantOf(claims, 'exp');
  const nbf = instantOf(claims, 'nbf');
  const iat = instantOf(claims, 'iat');
  if (exp === null) throw new Wrong('it has no exp');
  // "iat REQUIRED" — RFC 9068 §2.2, for what says that it is an access token; elsewhere RFC 7519 leaves it out.
  if (iat === null && isAccessToken(header)) throw new Wrong('it has no iat');
  const isOver = now >= exp + SKEW;
  const isEarly = [nbf, iat].some((at) => at !== null && at > now + SKEW);
  return isOver || isEarly ? 'over' : { issuedAt: iat, until: exp };
}

/** NumericDate (RFC 7519 §2), whole seconds within reason: jose takes 1e300 and half seconds. */
function instantOf(claims: Members, name: string): EpochMs | null {
  const value = claims[name];
  if (value === undefined) return null;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > LAST_SECOND)
    throw new Wrong(`its ${name} is no time`);
  return epochMs(value * 1000);
}

function readNames(claims: Members, { issuer, claims: names }: IssuerRule): Omit<Subject, keyof Times> {
  const { sub } = claims;
  if (sub !== undefined && !isName(sub)) throw new Wrong('its sub is no string');
  const subject = claims[names.principal];
  if (!isName(subject)) throw new Wrong(`it has no ${names.principal} that names its subject`);
  const audience = audienceOf(claims);
  if (audience === undefined || audience.length === 0) throw new Wrong('it has no aud');
  return {
    id: `${issuer}#${subject}`,
    tenants: readTenants(claims[names.tenant ?? USUAL_TENANT], names.tenant !== null),
    scopes: readList(claims[names.scopes], names.scopes),
    roles: readList(claims[names.roles], names.roles),
    audience,
  };
}

/** Where no claim is named, this one is read; then a token without it has no tenant. */
const USUAL_TENANT = 'tenant';

/** A tenant is what the issuer signed, byte for byte; nobody is put into a default one. */
function readTenants(value: unknown, needed: boolean): Subject['tenants'] {
  if (value === undefined || value === null) {
    if (needed) throw new Wrong('it names no tenant');
    return { is: 'one', tenant: null };
  }
  if (isName(value)) return { is: 'one', tenant: value };
  if (isTexts(value) && value.length > 0 && value.length <= MOST_NAMES && value.every(isName))
    return { is: 'several', among: value };
  throw new Wrong('its tenant is no name');
}

/** Scopes are one string with spaces (RFC 6749 §3.3) or a list; each is compared whole. */
function readList(value: unknown, name: string): readonly string[] {
  if (value === undefined || value === null) return [];
  const items = typeof value === 'string' ? value.split(' ').filter((each) => each !== '') : value;
  if (!isTexts(items) || items.length > MOST_NAMES) throw new Wrong(`its ${name} is no list of names`);
  return [...new Set(items)].toSorted();
}

/** A name has one reading: no control character, no space around it, no other spelling of the same letters. */
const isName = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.length > 0 &&
  value.length <= LONGEST_NAME &&
  value === value.trim() &&
  value === value.normalize('NFC') &&
  !/\p{C}/u.test(value) &&
  // In evidence and orders such a text stands for whoever has the hash: nobody may call himself by another's.
  !LIKE_HASH.test(value);

const LIKE_HASH = /^h_[0-9a-f]{32}$/;
