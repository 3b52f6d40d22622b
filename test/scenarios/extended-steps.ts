import fc from 'fast-check';
import type { Manner } from './extended-origins.ts';
import { CROWD, ISSUER } from './extended-people.ts';

/** What can happen around extended cards: callers, agents, operators, failures and time. */

export const AGENTS = ['ledger', 'books', 'vault', 'inner'] as const;
type Agent = (typeof AGENTS)[number];

export type Operation = 'rest' | 'rest-0.3' | 'rpc' | 'rpc-0.3' | 'well-known';

export type Step =
  | {
      readonly does: 'ask';
      readonly agent: Agent;
      readonly operation: Operation;
      /** Whose credential goes to the agent, and whose names the caller, where that is another one. */
      readonly shown: number;
      readonly proxy: number | null;
      readonly tenant: '' | 'gold';
      readonly extensions: string;
      readonly noCache: boolean;
      /** Sends every entity tag that anybody has seen. */
      readonly guesses: boolean;
    }
  | { readonly does: 'behave'; readonly agent: Agent; readonly manner: Manner }
  | { readonly does: 'release'; readonly which: number }
  | { readonly does: 'logout'; readonly who: number }
  | { readonly does: 'purge' | 'kill'; readonly scope: string; readonly soft: boolean }
  /** From then on what was issued before is refused; what does not say when, for good. */
  | { readonly does: 'revoke'; readonly who: number; readonly all: 'its own' | "its tenant's" }
  /** The issuer publishes a second key beside its first, or it alone; and so long passes. */
  | { readonly does: 'rotate'; readonly to: 1 | 2; readonly seconds: number }
  | { readonly does: 'lift' | 'reload' }
  | { readonly does: 'publish'; readonly agent: Agent }
  | { readonly does: 'wait'; readonly seconds: number };

const agents = fc.constantFrom<Agent[]>('ledger', 'ledger', 'ledger', 'ledger', 'books', 'vault', 'inner');
/** Mostly one name with other claims: what is likest is likest to be mixed up. */
const person = fc.oneof(
  { weight: 6, arbitrary: fc.nat(6) },
  { weight: 2, arbitrary: fc.nat(CROWD - 1) },
  // Clients with a certificate are the last.
  { weight: 1, arbitrary: fc.integer({ min: CROWD - 3, max: CROWD - 1 }) },
);
/** A place in the cast of a history. */
const role = fc.nat(2);
const FIELDS: readonly (readonly string[])[] = [
  ['Cache-Control', 'max-age=600', 'ETag', '"same"'],
  ['Cache-Control', 'public, max-age=60, stale-if-error=600', 'ETag', '"same"', 'Vary', 'Authorization'],
  ['Cache-Control', 'max-age=600', 'Vary', 'Cookie, Accept'],
  ['Cache-Control', 's-maxage=600, stale-while-revalidate=600'],
  ['Cache-Control', 'private, max-age=86400'],
  ['Cache-Control', 'max-age=600', 'Vary', '*'],
  ['Cache-Control', 'no-store'],
  ['Cache-Control', 'no-cache, max-age=600'],
  ['Cache-Control', 'max-age=0'],
  [],
];
const PRINCIPALS = ['alice', 'bob', 'alice","acme'];
const SCOPES = [
  'tenant:acme',
  'tenant:globex',
  ...PRINCIPALS.map((name) => `principal:${ISSUER}#${name}`),
  'principal:certificate#URI:spiffe://example.org/planner',
];

const asks: fc.Arbitrary<Step> = fc.record({
  does: fc.constant('ask' as const),
  agent: agents,
  operation: fc.constantFrom<Operation[]>(
    'rest',
    'rest',
    'rest',
    'rest',
    'rpc',
    'rpc',
    'rpc',
    'rest-0.3',
    'rpc-0.3',
    'well-known',
  ),
  shown: role,
  proxy: fc.oneof({ weight: 6, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: role }),
  tenant: fc.constantFrom<('' | 'gold')[]>('', '', '', '', '', 'gold'),
  extensions: fc.constantFrom('', '', '', '', '', 'https://x.test/one'),
  noCache: fc.constantFrom(false, false, false, true),
  guesses: fc.boolean(),
});
const manner: fc.Arbitrary<Manner> = fc.record({
  says: fc.constantFrom<Manner['says'][]>(200, 200, 200, 200, 304, 401, 403, 404, 503, 'broken', 'html'),
  fields: fc.constantFrom(...FIELDS),
  slow: fc.constantFrom(false, false, true),
});
const rare: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ does: fc.constant('logout' as const), who: role }),
  fc.record({ does: fc.constant('purge' as const), scope: fc.constantFrom(...SCOPES), soft: fc.boolean() }),
  fc.record({
    does: fc.constant('kill' as const),
    scope: fc.constantFrom(...SCOPES, 'agent:ledger', 'all'),
    soft: fc.constant(false),
  }),
  fc.record({ does: fc.constantFrom('lift' as const, 'lift' as const, 'reload' as const) }),
  fc.record({
    does: fc.constant('revoke' as const),
    who: role,
    all: fc.constantFrom('its own' as const, "its tenant's" as const),
  }),
  fc.record({
    does: fc.constant('rotate' as const),
    to: fc.constantFrom(1 as const, 2 as const),
    seconds: fc.constantFrom(0, 31, 301),
  }),
  fc.record({ does: fc.constant('publish' as const), agent: agents }),
  fc.record({ does: fc.constant('wait' as const), seconds: fc.constantFrom(1, 11, 59, 61, 599, 3_700, 30_000, -61) }),
);
const steps = fc.array(
  fc.oneof(
    { weight: 10, arbitrary: asks },
    { weight: 2, arbitrary: fc.record({ does: fc.constant('behave' as const), agent: agents, manner }) },
    { weight: 2, arbitrary: fc.record({ does: fc.constant('release' as const), which: fc.nat(3) }) },
    { weight: 3, arbitrary: rare },
  ),
  { minLength: 3, maxLength: 8, size: 'max' },
);
/** Few of all who there are meet in one history, so that they meet often. */
export const histories = fc.record({ cast: fc.tuple(person, person, person), steps });
export type Play = typeof histories extends fc.Arbitrary<infer Value> ? Value : never;
