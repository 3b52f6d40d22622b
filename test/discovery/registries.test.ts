import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRegistries } from '../../src/discovery/registries.ts';
import { accepted } from '../../src/kernel/refusal.ts';
import type { Url } from '../../src/kernel/ids.ts';
import type { Listing } from '../../src/kernel/registry.ts';
import { ms } from '../../src/kernel/units.ts';
import type { AgentRule, Rules } from '../../src/policy/rules.ts';
import type { HeardRegistry } from '../../src/ports/registries.ts';
import { createRecentLedger } from '../../src/store/ledger-recent.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { exampleAgent, exampleRules } from '../support/rules.ts';

const NOBODY = { record: () => undefined };

const actions = {
  approved: 'allow',
  deprecated: 'report',
  pending: 'hold',
  unknown: 'hold',
  retired: 'block',
  revoked: 'block',
} as const;

/** An agent that names its entry, and was placed at the URL that it has. */
const listed = (name: string): AgentRule =>
  exampleAgent(name, {
    registered: {
      registry: 'catalog',
      id: `urn:${name}`,
      actions,
      maxAge: ms(1),
      status: 'approved',
      action: 'allow',
      said: 'listed',
      misplaced: null,
    },
  });

/** A registry of some agents that is read once, and what is written of it then. */
async function readOnce(agents: readonly AgentRule[], said: string) {
  const clock = new FakeClock();
  const saved: HeardRegistry[] = [];
  const source = { from: 'file', file: '/catalog.json' } as const;
  const registry = { name: 'catalog', kind: 'ai-catalog', source, refresh: ms(60_000), maxStale: ms(60_000) } as const;
  const rules: Rules = { ...exampleRules({ agents }), registries: [registry] };
  const listing = ({ registered, cards }: AgentRule): [string, Listing] => [
    registered?.id ?? '',
    { status: 'approved', card: cards[0] ?? null, said },
  ];
  const registries = createRegistries({
    clock,
    ledger: createRecentLedger({ clock, observer: NOBODY, keyedHash: (_kind, name) => name }),
    observer: NOBODY,
    registryFiles: { read: async () => new Uint8Array(), watch: () => () => undefined },
    lookUp: async () => ({ ok: true, listings: new Map(agents.map(listing)), answers: new Map() }),
    registryRecord: {
      last: () => undefined,
      doubt: () => null,
      save: async (heard) => {
        saved.push(heard);
        return null;
      },
    },
    changed: async () => registries.note(exampleRules({ agents: [] }), rules),
  });
  registries.follow(rules);
  assert.deepEqual(await registries.lookUp('catalog'), accepted(null));
  await registries.settled();
  registries.stop();
  return { saved, rules };
}

test('is written as often for a hundred agents as for one', async () => {
  const hundred = Array.from({ length: 100 }, (_, index) => listed(`a${index}`));
  const [one, many] = [await readOnce([listed('a')], 'listed'), await readOnce(hundred, 'listed')];
  assert.equal(many.saved.length, one.saved.length);
  const places = many.saved.at(-1)?.entries.map(({ place }): Url | null => place);
  assert.deepEqual(
    places,
    hundred.map(({ cards }) => cards[0]),
  );
});

for (const [length, kept] of [
  [256, 256],
  [257, 256],
] as const)
  test(`of ${length} characters of its own words ${kept} are kept`, async () => {
    const { saved } = await readOnce([listed('a')], 'x'.repeat(length));
    assert.equal(saved.at(-1)?.entries[0]?.said.length, kept);
  });
