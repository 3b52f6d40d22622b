import { choice, group, list, optional, required, section, setting } from './table.ts';
import { secret, secretFile } from './types/files.ts';
import { claimName, fieldName, issuerUrl, plainText } from './types/principals.ts';
import { duration } from './types/quantities.ts';
import { audience, cardUrl } from './types/web.ts';
import { wrong } from './types/scalar.ts';
import { boolean, oneOf } from './types/words.ts';

/** The part of the table that is about callers: who they are, what they may see, and what agents are shown in their name. */

const none = oneOf('none');

/** No credential. Whoever wants a caller's to be shown is told why not, and what to write. */
export const noCredential: typeof none = {
  ...none,
  read: (text, place) => (text === 'forward' ? wrong(NOT_FORWARDED) : none.read(text, place)),
};

const NOT_FORWARDED =
  '"forward" is for extended.credentials alone: a public card is everybody\'s, and no caller\'s credential fetches it; write static: file:/path or clientCredentials: { tokenUrl: … }';

export const ownCredentials = section({
  static: optional(secretFile, 'A file with a bearer token; read for each exchange, so that it may rotate.'),
  clientCredentials: optional(
    section({
      tokenUrl: required(cardUrl, 'The token endpoint (RFC 6749 §4.4).'),
      clientId: required(plainText, 'The name of the client.'),
      clientSecret: required(secret, 'Its secret.'),
      scope: optional(plainText, 'Scopes to ask for, with spaces.'),
    }),
    'A token that is got from an OAuth server, kept until it ends and renewed before.',
  ),
});

export const extended = section({
  credentials: choice(
    oneOf('none', 'forward'),
    ownCredentials,
    'forward',
    "What the agent is shown when its extended card is asked for: the caller's own credential, one of Cardea's, or none (a client certificate aside).",
  ),
  audience: optional(
    audience,
    "Whom a caller's token must be for before it is sent to the agent: this stands in its `aud`. Where nothing is written, the card's origin.",
  ),
  opaque: optional(
    oneOf('allow', 'refuse'),
    'What becomes of a credential that is no JWT, so that nobody can tell whom it is for. Where nothing is written: `refuse` where `audience` is written, else `allow`.',
  ),
  session: setting(duration('1s'), '8h', 'The longest that an extended card is kept, however fresh it is.'),
  replacePublic: setting(
    boolean,
    'false',
    'Serves a caller its extended card at the well-known path too, while one is held for it.',
  ),
});

export const visibleTo = section({
  tenant: optional(plainText, "The caller's tenant, as its issuer says it."),
  principal: optional(plainText, 'The caller itself: `ISSUER#SUBJECT`, or the hash that a receipt shows.'),
  scope: optional(plainText, 'A scope that its token holds.'),
  role: optional(plainText, 'A role that its token holds.'),
});

const issuer = section({
  issuer: required(issuerUrl, 'What `iss` must be, byte for byte.'),
  audience: group(list(plainText), 'What `aud` may be, besides the `extended.audience` of an agent.'),
  jwks: required(cardUrl, 'Its JWK Set; fetched, kept fresh, used while it is not older than `cache.keysMaxStale`.'),
  claims: group(
    section({
      principal: setting(claimName, 'sub', 'The claim that names the caller; a string.'),
      tenant: optional(
        claimName,
        'The claim that names its tenant, which every token must then hold. Where nothing is written, `tenant` is read if it is there.',
      ),
      scopes: setting(claimName, 'scope', 'The claim with its scopes: one string with spaces, or a list.'),
      roles: setting(claimName, 'roles', 'The claim with its roles.'),
      tenantHeader: optional(
        fieldName,
        'The field by which a caller whose token lists several tenants chooses one of them; without it such tokens are refused.',
      ),
    }),
    'Which claims say what.',
  ),
});

export const principals = section({
  issuers: group(list(issuer), 'Issuers whose tokens name callers. Any other credential is a caller of its own.'),
});
