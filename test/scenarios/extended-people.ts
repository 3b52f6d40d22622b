import type { Peer } from '../../src/kernel/peer.ts';
import { createIssuer } from '../support/issuer.ts';

/** Who asks in the histories of extended cards, and by what. */

export const ISSUER = 'https://idp.test';

/** One credential, and whom it is for as the issuer wrote it down: known from here, and not from reading it. */
export interface Person {
  /** True where the configured issuer vouches for it. */
  readonly vouched: boolean;
  /** The whole of what it says about rights; of a credential that nobody vouches for the credential itself. */
  readonly rights: string;
  /** What ends together: the subject, or the credential itself. */
  readonly name: string;
  readonly tenant: string | null;
  /** Scopes and roles alone. */
  readonly authorisation: string;
  /** Milliseconds; null for what it does not say. */
  readonly issued: number | null;
  readonly ends: number | null;
  /** The field as it is sent; `''` where it shows none. */
  readonly header: string;
  /** What an administrator calls it; null for what only its hash names. */
  readonly id: string | null;
  /** Which of the issuer's keys signed its token; null for none. */
  readonly key: IssuerKey | null;
  /** Who is at the other end of its connection. */
  readonly peer: Peer;
}

/** The issuer's keys, in the order in which it comes to use them. */
export type IssuerKey = 'first' | 'second';

interface Said {
  readonly sub: string;
  readonly tenant?: string;
  readonly scopes?: readonly string[];
  readonly roles?: readonly string[];
  readonly aud?: readonly string[];
  /** Seconds after the start. */
  readonly issued?: number;
  readonly ends?: number;
  readonly key?: IssuerKey;
}

const SAID: readonly Said[] = [
  { sub: 'alice', tenant: 'acme' },
  // The same, from after the issuer has begun with another key.
  { sub: 'alice', tenant: 'acme', key: 'second' },
  { sub: 'alice', tenant: 'acme', issued: 10, ends: 7_200 },
  { sub: 'alice', tenant: 'acme', scopes: ['read', 'more'], issued: 20 },
  { sub: 'alice', tenant: 'acme', roles: ['admin'], issued: -5 },
  { sub: 'alice', tenant: 'acme', aud: ['ledger', 'cardea'] },
  { sub: 'alice', tenant: 'globex' },
  { sub: 'bob', tenant: 'acme' },
  { sub: 'bob', tenant: 'acme', ends: 60 },
  { sub: 'bob' },
  // Names that a key made by joining words would take for another's.
  { sub: 'alice","acme', tenant: 'acme' },
  { sub: 'alice#acme', tenant: 'globex|acme' },
];

const OPAQUE = ['Bearer first-opaque', 'Bearer second-opaque', 'Basic YWxpY2U6YWNtZQ=='];

/** Clients that a listener with certificates has verified; the last two are two connections of one client. */
const CERTIFICATES = ['spiffe://example.org/reader', 'spiffe://example.org/planner', 'spiffe://example.org/planner'];

const NO_PEER: Peer = { principal: null, certificate: null };

/** Everybody who asks, with tokens made once: in every history time begins again at `start`. */
export async function everybody(start: number) {
  // Signatures of RSA are the cheapest to verify, and every history verifies its own anew.
  const [idp, stranger] = await Promise.all(
    [ISSUER, 'https://evil.test'].map((iss) => createIssuer(iss, () => start, 'RS256')),
  );
  if (idp === undefined || stranger === undefined) throw new Error('no issuers');
  const claimsOf = ({
    sub,
    tenant,
    scopes = ['read'],
    roles = [],
    aud = ['ledger'],
    issued = 0,
    ends = 3_600,
  }: Said) => {
    const at = Math.floor(start / 1_000);
    return { sub, tenant, scope: scopes.join(' '), roles, aud, iat: at + issued, exp: at + ends };
  };
  const signed = new Map<Said, Person>();
  const sign = async (said: Said): Promise<Person> => {
    const claims = claimsOf(said);
    const { sub, tenant = null, scope, roles, aud } = claims;
    return {
      vouched: true,
      rights: JSON.stringify({ sub, tenant, scope: scope.split(' ').toSorted(), roles, aud: aud.toSorted() }),
      name: sub,
      tenant,
      authorisation: JSON.stringify({ scope: scope.split(' ').toSorted(), roles }),
      issued: claims.iat * 1_000,
      ends: claims.exp * 1_000,
      header: `Bearer ${await idp.token(claims)}`,
      id: `${ISSUER}#${sub}`,
      key: said.key ?? 'first',
      peer: NO_PEER,
    };
  };
  const [first] = idp.jwks.keys;
  for (const said of SAID) if (said.key === undefined) signed.set(said, await sign(said));
  await idp.rotate();
  const second = idp.jwks.keys[1];
  for (const said of SAID) if (said.key === 'second') signed.set(said, await sign(said));
  const forged = `Bearer ${await stranger.token(claimsOf({ sub: 'alice', tenant: 'acme' }))}`;
  const nobody = (header: string, ends: number | null): Person => ({
    vouched: false,
    rights: header,
    name: header,
    tenant: null,
    authorisation: '',
    issued: null,
    ends,
    header,
    id: null,
    key: null,
    peer: NO_PEER,
  });
  const holder = (uri: string): Person => {
    const id = `certificate#URI:${uri}`;
    const certificate = { subject: 'CN=client', names: [`URI:${uri}`], fingerprint: 'ab' };
    return { ...nobody('', null), rights: id, name: id, id, peer: { principal: null, certificate } };
  };
  const people = [
    ...SAID.flatMap((said) => signed.get(said) ?? []),
    ...OPAQUE.map((header) => nobody(header, null)),
    nobody(forged, start + 3_600_000),
    ...CERTIFICATES.map(holder),
  ];
  const published = (...keys: readonly unknown[]): string => JSON.stringify({ keys });
  return { people, jwks: [published(first), published(first, second), published(second)] };
}

/** How many there are. */
export const CROWD = SAID.length + OPAQUE.length + 1 + CERTIFICATES.length;
