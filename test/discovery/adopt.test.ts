import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Snapshot, placeAgain } from '../../src/discovery/adopt.ts';
import { buildRoutes } from '../../src/policy/route.ts';
import type { Rules } from '../../src/policy/rules.ts';
import { exampleAgent, exampleRules } from '../support/rules.ts';

const NOTHING = (): undefined => undefined;

test('rules that come into force while those before them are taken over are the ones that are kept to', async () => {
  const given = exampleRules({ agents: [exampleAgent('weather')] });
  const places = ['one', 'two'].map((host) =>
    exampleRules({ agents: [exampleAgent('weather', { cards: exampleAgent(host).cards })] }),
  );
  const snapshot: Snapshot = { given, rules: given, routes: buildRoutes(given) };
  const { promise: judged, resolve: judge } = Promise.withResolvers<undefined>();
  const judging = [judged, Promise.resolve(undefined)];
  const followed: Rules[] = [];
  let said = given;
  const parts = {
    snapshot,
    store: { purge: async () => 0 },
    stops: { stop: NOTHING, end: NOTHING, endWhere: NOTHING, endWatched: NOTHING },
    book: { relive: async () => undefined, judgeStored: () => judging.shift(), forget: NOTHING },
    schedule: { follow: (rules: Rules) => void followed.push(rules) },
    extended: { purge: () => 0 },
    own: { follow: NOTHING },
    registries: { follow: NOTHING, place: () => said, note: NOTHING },
    cut: NOTHING,
  };
  const placing = places.map((place) => {
    said = place;
    return placeAgain(parts as unknown as Parameters<typeof placeAgain>[0]);
  });
  await placing[1];
  judge(undefined);
  await placing[0];
  assert.deepEqual(
    followed.map((rules) => rules === snapshot.rules),
    [true, true],
  );
});
