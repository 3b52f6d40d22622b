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
  /** The field as it is sent. */
  readonly header: string;
}

interface Said {
  readonly sub: string;
  readonly tenant?: string;
  readonly scopes?: readonly string[];
  readonly roles?: readonly string[];
  readonly aud?: readonly string[];
  /** Seconds after the start. */
  readonly issued?: number;
  readonly ends?: number;
}

const SAID: readonly Said[] = [
  { sub: 'alice', tenant: 'acme' },
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

/** Everybody who asks, with tokens made once: in every history time begins again at `start`. */
export async function everybody(start: number) {
  const [idp, stranger] = await Promise.all([ISSUER, 'https://evil.test'].map((iss) => createIssuer(iss, () => start)));
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
  const named = SAID.map(async (said): Promise<Person> => {
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
    };
  });
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
  });
  const people = [
    ...(await Promise.all(named)),
    ...OPAQUE.map((header) => nobody(header, null)),
    nobody(forged, start + 3_600_000),
  ];
  return { people, jwks: JSON.stringify(idp.jwks) };
}

/** How many there are. */
export const CROWD = SAID.length + OPAQUE.length + 1;
