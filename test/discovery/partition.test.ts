import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type PartitionParts, partitionKey } from '../../src/discovery/partition.ts';
import type { Entry } from '../../src/kernel/entry.ts';
import type { ExtendedEntry } from '../../src/kernel/extended-entry.ts';
import { agentName, urlId } from '../../src/kernel/ids.ts';
import { NO_END } from '../../src/kernel/principal.ts';
import type { Store } from '../../src/ports.ts';
import type { ExtendedStore } from '../../src/ports/callers.ts';
import { createKeyedHash } from '../../src/store/keyed-hash.ts';

const hash = createKeyedHash(new Uint8Array(32));
const word = fc.constantFrom('', 'a', 'b', 'a|b', 'a","b', '\0');
const words = fc.uniqueArray(word, { maxLength: 2 }).map((list) => list.toSorted());

const parts: fc.Arbitrary<PartitionParts> = fc.record({
  agent: word.map(agentName),
  card: word.map(urlId),
  interfaceTenant: word,
  principal: fc.record({
    kind: fc.constantFrom('verified' as const, 'opaque' as const),
    id: word,
    tenant: fc.option(word),
    scopes: words,
    roles: words,
    audience: words,
    issuedAt: fc.constant(null),
    until: fc.constant(NO_END),
    signedBy: fc.constant(null),
  }),
  shown: fc.oneof(
    fc.record({ by: fc.constant('caller' as const), scheme: word, hash: word, verified: fc.boolean() }),
    fc.record({ by: fc.constantFrom('static' as const, 'client' as const), name: word }),
    fc.constant({ by: 'none' as const }),
  ),
  version: fc.constantFrom('absent' as const, '0.3' as const, '1.0' as const),
  extensions: word,
});

/** What a key must tell apart, member by member; only a credential that its issuer vouches for is not one of them. */
function isSame(one: PartitionParts, other: PartitionParts): boolean {
  const shown = ({ shown: it }: PartitionParts): unknown =>
    it.by === 'caller' && it.verified ? { by: it.by, scheme: it.scheme, hash: '' } : { ...it, verified: undefined };
  const rest = (all: PartitionParts): unknown => ({ ...all, shown: undefined });
  const text = (value: unknown): string => JSON.stringify(value);
  // A hash is never empty, so that an unverified credential is never taken for a verified one.
  return text(rest(one)) === text(rest(other)) && text(shown(one)) === text(shown(other));
}

describe('the key of a partition', () => {
  test('two callers meet in one key where nothing that the answer depends on differs, and nowhere else', () => {
    fc.assert(
      fc.property(parts, parts, (one, other) => {
        assert.equal(partitionKey(one, hash) === partitionKey(other, hash), isSame(one, other));
        assert.equal(partitionKey(one, hash), partitionKey(structuredClone(one), hash));
      }),
      { numRuns: 2_000 },
    );
  });
  test('it is made in one place', () => {
    const makers = fs
      .globSync('src/**/*.ts', { cwd: new URL('../../', import.meta.url) })
      .filter((file) => /\bas PartitionKey\b/.test(fs.readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')));
    assert.deepEqual(makers, ['src/discovery/partition.ts']);
  });
  test('neither store takes what is for the other: the compiler says so', () => {
    const wrong = (store: Store, extended: ExtendedStore, entry: Entry, own: ExtendedEntry): void => {
      // @ts-expect-error an extended card is no public entry
      void store.put(own);
      // @ts-expect-error a public entry is for nobody in particular
      extended.put(entry);
      // @ts-expect-error a public key names no caller
      extended.get(entry.key);
      // @ts-expect-error a partition is no public key
      store.peek(own.partition);
    };
    assert.equal(typeof wrong, 'function');
  });
});
