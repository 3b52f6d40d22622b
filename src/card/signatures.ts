import type { CardRule } from '../kernel/card-rule.ts';
import type { EpochMs } from '../kernel/units.ts';
import { isSameAlgorithm } from './algorithms.ts';
import { encodeBase64Url } from './base64url.ts';
import type { CanonicalCard } from './canonical.ts';
import type { JsonArray } from './json.ts';
import { quote } from './json.ts';
import { isCurrent } from './key-identity.ts';
import type { SignatureEntry } from './jws-header.ts';
import { readSignature } from './jws-header.ts';
import type { JwkKey, KeySet } from './keys.ts';
import { type Claim, holdsLater, holdsNow } from './verify.ts';

/** What a card's signatures are verified with. */
export interface VerifyContext {
  readonly rule: Pick<CardRule, 'keys' | 'jku'>;
  readonly keys: readonly KeySet[];
  readonly now: EpochMs;
}

/** A signature that holds: who made it, and over which form. */
export interface Match {
  readonly index: number;
  /** The name that the key set gives the key. */
  readonly kid: string;
  readonly alg: string;
  /** The key set. */
  readonly keys: string;
  readonly thumbprint: string;
  readonly canonical: CanonicalCard;
}

/** Why a signature vouches for nothing. */
export interface Miss {
  readonly index: number;
  readonly why:
    | 'malformed' // no form of it could be right
    | 'untrusted' // no key of the agent's
    | 'expired' // a key whose time is over, or has not come
    | 'revoked' // a key that vouches for nothing any more
    | 'unavailable' // a key set could not be had
    | 'invalid'; // a trusted key, and it does not hold over the card in any form
  readonly detail: string;
}

export interface SignatureReport {
  readonly matches: readonly Match[];
  readonly misses: readonly Miss[];
  /** How many verifications it took. */
  readonly verifications: number;
}

/** A card signed by an agent, its operator and a few registries has that many; each more costs up to seven verifications per key. */
export const MAX_SIGNATURES = 16;
/** Keys that share one name: a rotation shows two. */
const MAX_KEYS_PER_KID = 4;
/** Sixteen signatures, each over any of six forms (one has two variants), by one key: about 20 ms of ECDSA. */
export const MAX_VERIFICATIONS = MAX_SIGNATURES * 7;

/** An honest card takes one or two: they are done at once. What more there is, or takes longer to be hashed, keeps no loop. */
const MOST_ON_LOOP = 4;
const LONGEST_ON_LOOP = 128 * 1024;

/**
 * Verifies every signature of a card against the forms, most covering first, with the keys that the agent's rule names. `kid` finds a
 * key and proves nothing; where it is missing, the one key that fits is used, and several are not tried in turn.
 */
export async function verifySignatures(
  signatures: JsonArray,
  forms: Iterable<CanonicalCard>,
  context: VerifyContext,
): Promise<SignatureReport> {
  if (signatures.length > MAX_SIGNATURES) {
    const detail = `the card has ${signatures.length} signatures; at most ${MAX_SIGNATURES} are read`;
    return { matches: [], misses: [{ index: 0, why: 'malformed', detail }], verifications: 0 };
  }
  const payloads = new Payloads(forms);
  const budget = { left: MAX_VERIFICATIONS };
  const matches: Match[] = [];
  const misses: Miss[] = [];
  for (const [index, value] of signatures.entries()) {
    const reading = readSignature(value, index);
    const found = reading.ok
      ? await verifyEntry(reading.entry, payloads, context, budget)
      : ({ index, why: 'malformed', detail: reading.why } as const);
    if ('canonical' in found) matches.push(found);
    else misses.push(found);
  }
  return { matches, misses, verifications: MAX_VERIFICATIONS - budget.left };
}

interface Payload {
  readonly canonical: CanonicalCard;
  /** In base64url, as it is signed. */
  readonly payload: string;
}

/** The forms as they are signed, each made once, when a signature first needs it. */
class Payloads {
  readonly #made: Payload[] = [];
  readonly #rest: Iterator<CanonicalCard>;

  constructor(forms: Iterable<CanonicalCard>) {
    this.#rest = forms[Symbol.iterator]();
  }

  /** By its place in their order; undefined after the last. */
  at(place: number): Payload | undefined {
    for (let length = this.#made.length; length <= place; length += 1) {
      const { done, value } = this.#rest.next();
      if (done === true) return undefined;
      this.#made.push({ canonical: value, payload: encodeBase64Url(value.text) });
    }
    return this.#made[place];
  }

  /** How many there are, once one after the last was asked for. */
  get count(): number {
    return this.#made.length;
  }
}

interface Candidate {
  readonly set: KeySet;
  readonly key: JwkKey;
}

async function verifyEntry(
  entry: SignatureEntry,
  payloads: Payloads,
  context: VerifyContext,
  budget: { left: number },
): Promise<Match | Miss> {
  const candidates = findKeys(entry, context);
  if ('why' in candidates) return candidates;
  for (const candidate of candidates) {
    const canonical = await holdsOver(entry, candidate.key, payloads, budget);
    if (canonical !== undefined) return matchOf(entry, candidate, canonical);
  }
  const detail = `it does not hold over the card in any of ${payloads.count} forms`;
  return {
    index: entry.index,
    why: 'invalid',
    detail: budget.left > 0 ? detail : 'too many signatures, forms and keys to try',
  };
}

const matchOf = (entry: SignatureEntry, { set, key }: Candidate, canonical: CanonicalCard): Match => ({
  index: entry.index,
  kid: key.kid ?? key.thumbprint,
  alg: entry.algorithm.alg,
  keys: set.name,
  thumbprint: key.thumbprint,
  canonical,
});

/** The input is of the protected header as it came; what stands in the unprotected one is never looked at. */
async function holdsOver(
  entry: SignatureEntry,
  key: JwkKey,
  payloads: Payloads,
  budget: { left: number },
): Promise<CanonicalCard | undefined> {
  const { algorithm, signature, protectedHeader } = entry;
  for (let place = 0; budget.left > 0; place += 1) {
    const next = payloads.at(place);
    if (next === undefined) return undefined;
    const { canonical, payload } = next;
    const isQuick = MAX_VERIFICATIONS - budget.left < MOST_ON_LOOP && payload.length <= LONGEST_ON_LOOP;
    budget.left -= 1;
    const claim: Claim = { algorithm, key: key.publicKey, signature, input: signingInput(protectedHeader, payload) };
    if (isQuick ? holdsNow(claim) : await holdsLater(claim)) return canonical;
  }
  return undefined;
}

/** "ASCII(BASE64URL(UTF8(JWS Protected Header)) || '.' || BASE64URL(JWS Payload))" — RFC 7515 §5.2. */
const signingInput = (protectedHeader: string, payload: string): Uint8Array =>
  utf8.encode(`${protectedHeader}.${payload}`);

const utf8 = new TextEncoder();

/** Finds the keys that may have made a signature, or says why there are none. */
function findKeys(entry: SignatureEntry, context: VerifyContext): readonly Candidate[] | Miss {
  const miss = (why: Miss['why'], detail: string): Miss => ({ index: entry.index, why, detail });
  const sets = context.keys.filter((set) => speaksFor(set, entry, context.rule));
  const fitting: Candidate[] = [];
  for (const set of sets) if (set.usable) for (const key of set.keys) if (fits(key, entry)) fitting.push({ set, key });
  const sound = fitting.filter(({ set, key }) => !isRevoked(set, key, sets));
  const current = sound.filter(({ key }) => isCurrent(key, context.now));
  const [first] = current;
  if (first !== undefined) {
    const isSole = entry.kid !== undefined || current.every(({ key }) => key.thumbprint === first.key.thumbprint);
    if (isSole) return current.slice(0, MAX_KEYS_PER_KID);
    return miss('untrusted', 'it names no key, and several of the agent fit');
  }
  const name = entry.kid === undefined ? 'no name' : quote(entry.kid);
  if (sound.length > 0) return miss('expired', `the key ${name} is not valid at this time`);
  if (fitting.length > 0 || sets.some((set) => entry.kid !== undefined && set.revoked.includes(entry.kid))) {
    return miss('revoked', `the key ${name} is revoked`);
  }
  const missing = missingSets(sets, entry, context);
  if (missing.length > 0)
    return miss('unavailable', `the keys of ${missing.map(quote).join(', ')} could not be had in time`);
  return miss('untrusted', `no key of the agent is called ${name} and fits ${entry.algorithm.alg}`);
}

/** Keys vouch within their scope: the sets that the agent's rule names, and those behind the `jku` that this very signature names. */
function speaksFor(set: KeySet, entry: SignatureEntry, rule: VerifyContext['rule']): boolean {
  if (set.jku === undefined) return rule.keys.includes(set.name);
  return set.jku === entry.jku && rule.jku.includes(set.jku);
}

/** A thumbprint names a key as well as its `kid` does: sets that give none are named by it. */
function fits(key: JwkKey, entry: SignatureEntry): boolean {
  const isNamed = entry.kid === undefined || entry.kid === key.kid || entry.kid === key.thumbprint;
  return isNamed && key.algorithms.some(({ alg }) => isSameAlgorithm(alg, entry.algorithm.alg));
}

/** A key revoked by thumbprint in one set is revoked in all: another name does not bring it back. */
const isRevoked = (set: KeySet, key: JwkKey, sets: readonly KeySet[]): boolean =>
  sets.some(
    (one) =>
      one.revoked.includes(key.thumbprint) ||
      one.keys.some((other) => other.thumbprint === key.thumbprint && isNamedRevoked(one, other)),
  ) || isNamedRevoked(set, key);

const isNamedRevoked = (set: KeySet, key: JwkKey): boolean => key.kid !== undefined && set.revoked.includes(key.kid);

function missingSets(sets: readonly KeySet[], entry: SignatureEntry, { rule, keys }: VerifyContext): readonly string[] {
  const stale = sets.filter((set) => !set.usable).map((set) => set.name);
  const absent = rule.keys.filter((name) => !keys.some((set) => set.jku === undefined && set.name === name));
  const jku = rule.jku.filter((url) => url === entry.jku && !keys.some((set) => set.jku === url));
  return [...stale, ...absent, ...jku];
}
