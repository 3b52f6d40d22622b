import { parseKeySet } from '../../src/card/keyset.ts';
import type { KeySet } from '../../src/card/keys.ts';
import { type Callers, createCallers } from '../../src/discovery/callers.ts';
import type { Issuer } from '../../src/discovery/issuers.ts';
import type { Ask } from '../../src/kernel/ask.ts';
import { listenerName, urlId } from '../../src/kernel/ids.ts';
import type { Peer } from '../../src/kernel/peer.ts';
import type { ClaimNames } from '../../src/policy/rules.ts';
import { createKeyedHash } from '../../src/store/keyed-hash.ts';
import { FakeClock } from '../support/fake-clock.ts';
import type { TestIssuer } from '../support/issuer.ts';
import { exampleAgent, exampleRules } from '../support/rules.ts';

/** Callers before one issuer of a test's own, and requests as they make them. */

export const ISSUER = 'https://idp.test';
export const clock = new FakeClock();

const CLAIMS: ClaimNames = { principal: 'sub', tenant: 'tenant', scopes: 'scope', roles: 'roles', tenantHeader: null };

/** One issuer whose keys are read anew when `renew` is called, as over the network. */
export function callersWith(
  idp: () => Pick<TestIssuer, 'jwks'>,
  claims: Partial<ClaimNames> = {},
): { readonly callers: Callers; renewed(): number } {
  let set: KeySet | undefined;
  let renewed = 0;
  const issuer: Issuer = {
    rule: {
      issuer: ISSUER,
      audience: ['cardea'],
      keys: {
        name: ISSUER,
        jku: null,
        revoked: [],
        source: { from: 'url', url: urlId('https://idp.test/jwks'), egress: exampleAgent('x').egress },
      },
      claims: { ...CLAIMS, ...claims },
    },
    keys: () => set?.keys ?? null,
    holds: (thumbprint) => set?.keys.some((key) => key.thumbprint === thumbprint) === true,
    async renew() {
      renewed += 1;
      const document = new TextEncoder().encode(JSON.stringify(idp().jwks));
      const read = await parseKeySet(document, { name: ISSUER, revoked: [], fetchedAt: clock.now() });
      if (read.ok) set = read.set;
    },
  };
  const callers = createCallers({
    clock,
    rules: () => exampleRules(),
    hash: createKeyedHash(new Uint8Array(32)),
    revocations: { inForce: () => new Map(), put: async () => null },
    issuers: {
      find: (iss) => (iss === ISSUER ? issuer : undefined),
      any: () => true,
      prepare: async () => () => undefined,
      prefetch: async () => undefined,
      sets: () => [],
      settled: async () => undefined,
      stop: () => undefined,
    },
  });
  return { callers, renewed: () => renewed };
}

const NOBODY: Peer = { principal: null, certificate: null };
export const askWith = (fields: Readonly<Record<string, string>>, peer = NOBODY): Ask => ({
  listener: listenerName('agents'),
  base: '',
  method: 'GET',
  target: '/',
  host: '',
  proxied: null,
  fields: Object.entries(fields).flat(),
  field: (name) => fields[name],
  peer,
  body: null,
  ownsBase: () => true,
  signal: () => new AbortController().signal,
});
