import { isObject } from '../card/json.ts';
import { scanJson } from '../card/scan.ts';
import type { Ask } from '../kernel/ask.ts';
import type { ListenerName, Tag } from '../kernel/ids.ts';
import { nameOfHolder, type Peer } from '../kernel/peer.ts';
import { type NameHash, type Principal, plainPrincipal, principalTags } from '../kernel/principal.ts';
import { type Outcome, type Refusal, accepted, refuse, refused } from '../kernel/refusal.ts';
import type { EpochMs } from '../kernel/units.ts';
import { SKEW } from '../policy/claims.ts';
import { audiencesOf, checkAudience } from '../policy/principals.ts';
import { revokedBy } from '../policy/revoked.ts';
import type { Rules } from '../policy/rules.ts';
import { type Members, type ReadToken, readToken } from '../policy/token.ts';
import { invalid, principalOf, verifyToken } from '../policy/verify-token.ts';
import type { Clock } from '../ports.ts';
import type { RevocationBook } from '../ports/callers.ts';
import type { Issuer, Issuers } from './issuers.ts';
import { type KnownToken, type TokenMemory, createTokenMemory } from './token-memory.ts';

/** Who is calling, and by what kills, purges and evidence know it. */
export interface Caller {
  readonly principal: Principal;
  /** `principal:` and `tenant:`, in clear and hashed. */
  readonly tags: readonly Tag[];
  /** What a receipt shows; null for a caller that nobody can name. */
  readonly principalHash: string | null;
  readonly tenantHash: string | null;
  /** The keyed hash of the credential that it is known by; null where it showed none. */
  readonly credential: string | null;
  /** Who vouches for it; null for what nobody does. */
  readonly issuer: Issuer | null;
}

/** Finds out who is calling. Whatever can be said at once is. */
export interface Callers {
  identify(ask: Ask): Outcome<Caller> | Promise<Outcome<Caller>>;
  /** Names a credential: the same one gives the same hash, and nothing leads back from it. */
  hashCredential(credential: Credential): string;
  /**
   * True where a request that shows what a caller was identified by would be identified as this very caller now, as long as rules, kills
   * and revocations are those under which it was.
   */
  knows(caller: Caller, now: EpochMs): boolean;
  /** Says whether what a caller has shown was revoked, now. */
  standing(ask: Ask, caller: Caller): Refusal | undefined;
}

/** The request fields that say who asks: what is for one caller names them all in `Vary`. */
export function fieldsOfCaller(caller: Caller | null): readonly string[] {
  const tenantHeader = caller?.issuer?.rule.claims.tenantHeader ?? null;
  return ['Authorization', 'Proxy-Authorization', ...(tenantHeader === null ? [] : [tenantHeader])];
}

/** A credential as a caller showed it (RFC 9110 §11.4). */
export interface Credential {
  /** Lower case; `''` where there is one word alone, which may be a token and is kept as it stands. */
  readonly scheme: string;
  readonly value: string;
}

interface Parts {
  readonly clock: Clock;
  readonly issuers: Issuers;
  readonly rules: () => Rules;
  readonly hash: NameHash;
  readonly revocations: RevocationBook;
}

export const createCallers = (parts: Parts): Callers => new KnownCallers(parts);

/** Reads a credential from its field; undefined for none. */
export function readCredential(field: string | undefined): Credential | undefined {
  const text = withoutSpace(field ?? '');
  if (text === '') return undefined;
  const space = text.search(/[ \t]/);
  return space === -1
    ? { scheme: '', value: text }
    : { scheme: text.slice(0, space).toLowerCase(), value: withoutSpace(text.slice(space)) };
}

/** HTTP's own white space alone: any other character may be one of the credential's, and is of what the agent is shown. */
function withoutSpace(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && isSpace(text.charCodeAt(from))) from += 1;
  while (from < to && isSpace(text.charCodeAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

const isSpace = (code: number): boolean => code === 0x20 || code === 0x09;

/** Reads a JWT's members strictly: of a name that stands twice every reader takes another one. */
export function readMembers(bytes: Uint8Array): Members | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const scan = scanJson(text, DEEPEST);
    return scan.ok && isObject(scan.value) ? scan.value : undefined;
  } catch {
    return undefined;
  }
}

/** Claims that are nested deeper than addresses and authorisation details say nothing that is asked here. */
const DEEPEST = 8;

class KnownCallers implements Callers {
  readonly #parts: Parts;
  readonly #tokens: TokenMemory = createTokenMemory();
  readonly #listeners = new Map<ListenerName, Outcome<Caller>>();
  /** By the connection's own object, so that they go with their connections. */
  readonly #peers = new WeakMap<Peer, Outcome<Caller>>();
  #audiencesKnown: { readonly of: Rules['agents']; readonly are: ReadonlySet<string> } | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  hashCredential({ scheme, value }: Credential): string {
    // With a word before it no credential has the form of a name, nor of a hash that stands for itself.
    return this.#parts.hash('principal', `credential ${scheme} ${value}`);
  }

  /** "The credential in `Proxy-Authorization` if there is one, else the one in `Authorization`." */
  identify(ask: Ask): Outcome<Caller> | Promise<Outcome<Caller>> {
    const proxy = readCredential(ask.field('proxy-authorization'));
    const credential = proxy ?? readCredential(ask.field('authorization'));
    if (credential === undefined) return this.#byConnection(ask);
    const found = this.#identify(ask, credential);
    if (proxy === undefined) return found;
    return found instanceof Promise ? found.then(asProxy) : asProxy(found);
  }

  /** Of what no issuer vouches for, nothing ends by itself. */
  knows(caller: Caller, now: EpochMs): boolean {
    const { credential, issuer, principal } = caller;
    if (credential === null || issuer === null) return true;
    const known = this.#tokens.peek(credential);
    if (known === undefined || !this.#isGood(known, now)) return false;
    // It has chosen nothing, or its own tenant.
    return known.callers.get('') === caller || known.callers.get(principal.tenant ?? '') === caller;
  }

  standing(ask: Ask, caller: Caller): Refusal | undefined {
    const { clock, revocations } = this.#parts;
    const inForce = revocations.inForce();
    if (inForce.size === 0) return undefined;
    const refusal = revokedBy(inForce, caller, clock.now());
    if (refusal === undefined || readCredential(ask.field('proxy-authorization')) === undefined) return refusal;
    return { ...refusal, status: PROXY_STATUS };
  }

  /** Whom the listener is for says its configuration, else the certificate that the client has shown, else nobody. */
  #byConnection({ listener, peer }: Ask): Outcome<Caller> {
    if (peer.principal === null && peer.certificate === null) return this.#anonymous(listener);
    let known = this.#peers.get(peer);
    if (known === undefined) {
      const principal =
        peer.principal === null
          ? plainPrincipal('certificate', `certificate#${nameOfHolder(peer.certificate)}`)
          : plainPrincipal('listener', peer.principal);
      known = accepted({ ...this.#plain(principal), principalHash: this.#parts.hash('principal', principal.id) });
      this.#peers.set(peer, known);
    }
    return known;
  }

  #anonymous(listener: ListenerName): Outcome<Caller> {
    let known = this.#listeners.get(listener);
    if (known === undefined) {
      known = accepted(this.#plain(plainPrincipal('anonymous', `listener#${listener}`)));
      this.#listeners.set(listener, known);
    }
    return known;
  }

  #plain(principal: Principal): Caller {
    const tags = principalTags(principal, this.#parts.hash);
    return { principal, tags, principalHash: null, tenantHash: null, credential: null, issuer: null };
  }

  #identify(ask: Ask, credential: Credential): Outcome<Caller> | Promise<Outcome<Caller>> {
    const hash = this.hashCredential(credential);
    if (credential.scheme !== 'bearer' || !this.#parts.issuers.any()) return accepted(this.#opaque(hash));
    const now = this.#parts.clock.now();
    const known = this.#known(hash, now);
    if (known !== undefined) return this.#callerOf(ask, hash, known);
    const bad = this.#tokens.bad(hash, now);
    if (bad !== undefined) return refused(bad);
    const reading = readToken(credential.value, readMembers);
    if (reading.is === 'opaque') return accepted(this.#opaque(hash));
    if (reading.is === 'broken') return refused(invalid('it is no JWT that has one reading'));
    const issuer = this.#parts.issuers.find(reading.token.claims['iss']);
    // "Any other credential is a principal of its own, known by its keyed hash."
    if (issuer === undefined) return accepted(this.#opaque(hash));
    return this.#verify(reading.token, issuer, hash).then((verified) =>
      verified.ok ? this.#callerOf(ask, hash, verified.value) : verified,
    );
  }

  #opaque(hash: string): Caller {
    let known = this.#tokens.opaque(hash);
    if (known === undefined) {
      const principal = plainPrincipal('opaque', hash);
      const tags = principalTags(principal, this.#parts.hash);
      known = { principal, tags, principalHash: hash, tenantHash: null, credential: hash, issuer: null };
      this.#tokens.keepOpaque(hash, known);
    }
    return known;
  }

  /** A verification stands until the token ends, its key is gone, or a clock that was set back makes it one of the future. */
  #known(hash: string, now: EpochMs): KnownToken | undefined {
    const known = this.#tokens.good(hash);
    if (known === undefined || this.#isGood(known, now)) return known;
    this.#tokens.forget(hash);
    return undefined;
  }

  #isGood({ issuer, token, verifiedAt }: KnownToken, now: EpochMs): boolean {
    const isOver = token.subject.until !== null && now >= token.subject.until + SKEW;
    const isPublished = this.#parts.issuers.find(issuer.rule.issuer) === issuer && issuer.holds(token.signedBy, now);
    return !isOver && isPublished && now >= verifiedAt;
  }

  async #verify(token: ReadToken, issuer: Issuer, hash: string): Promise<Outcome<KnownToken>> {
    const { clock } = this.#parts;
    let outcome = await attempt(token, issuer, clock.now());
    if (!outcome.ok && outcome.why === 'unknown-key') {
      await issuer.renew();
      outcome = await attempt(token, issuer, clock.now());
    }
    if (!outcome.ok) {
      if (outcome.refusal.code !== 'keys-unavailable') this.#tokens.refuse(hash, outcome.refusal, clock.now());
      return refused(outcome.refusal);
    }
    const known = { issuer, token: outcome.token, verifiedAt: clock.now(), callers: new Map<string, Caller>() };
    this.#tokens.keep(hash, known);
    return accepted(known);
  }

  #callerOf(ask: Ask, hash: string, { issuer, token, callers }: KnownToken): Outcome<Caller> {
    const { rule } = issuer;
    const { tenantHeader } = rule.claims;
    const field = tenantHeader === null ? undefined : ask.field(tenantHeader.toLowerCase());
    // One spelling for each of the tenants that the issuer has signed: nobody fills the memory with others.
    const chosen = withoutSpace(field ?? '');
    const known = callers.get(chosen);
    const caller = known === undefined ? this.#name(principalOf(token, rule, chosen), hash, issuer) : accepted(known);
    if (!caller.ok) return caller;
    if (known === undefined) callers.set(chosen, caller.value);
    const meant = checkAudience(caller.value.principal, rule, (each) => this.#audiences().has(each));
    return meant.ok ? caller : meant;
  }

  /** Put together once for each snapshot of the rules: there may be any number of agents. */
  #audiences(): ReadonlySet<string> {
    const { agents } = this.#parts.rules();
    if (agents !== this.#audiencesKnown?.of) this.#audiencesKnown = { of: agents, are: audiencesOf(agents.values()) };
    return this.#audiencesKnown.are;
  }

  #name(named: Outcome<Principal>, hash: string, issuer: Issuer): Outcome<Caller> {
    if (!named.ok) return named;
    const principal = named.value;
    const { id, tenant } = principal;
    return accepted({
      principal,
      tags: principalTags(principal, this.#parts.hash),
      principalHash: this.#parts.hash('principal', id),
      tenantHash: tenant === null ? null : this.#parts.hash('tenant', tenant),
      credential: hash,
      issuer,
    });
  }
}

async function attempt(token: ReadToken, issuer: Issuer, now: EpochMs): ReturnType<typeof verifyToken> {
  const keys = issuer.keys(now);
  if (keys !== null) return verifyToken(token, issuer.rule, keys, now);
  const refusal = refuse(
    'keys-unavailable',
    'The keys of the issuer are too old or could not be had, so that no token can be verified.',
  );
  return { ok: false, why: 'unknown-key', refusal };
}

/** A refused Proxy-Authorization is 407 (RFC 9110 §15.5.8). */
const PROXY_STATUS = 407;

function asProxy(found: Outcome<Caller>): Outcome<Caller> {
  if (found.ok || !found.refusal.code.startsWith('token-')) return found;
  return refused({ ...found.refusal, status: PROXY_STATUS } satisfies Refusal);
}
