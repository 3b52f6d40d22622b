import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { CARD_REQUESTS, type CardRequest } from '../../src/discovery/card-request.ts';
import { createDiscovery } from '../../src/discovery/discovery.ts';
import type { RefreshCard } from '../../src/discovery/refresh.ts';
import { fieldPairs, fieldValue } from '../../src/http/fields.ts';
import type { Entry } from '../../src/kernel/entry.ts';
import type { ExtendedEntry } from '../../src/kernel/extended-entry.ts';
import { bytes } from '../../src/kernel/units.ts';
import type { AgentRule, Limits, Rules } from '../../src/policy/rules.ts';
import type { FetchOrder, Fetcher } from '../../src/ports.ts';
import { createRegistryFiles } from '../../src/store/registry-files.ts';
import { createExtendedStore } from '../../src/store/extended.ts';
import { openKills } from '../../src/store/kills.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import { openRevocations } from '../../src/store/revocations.ts';
import { askOf } from '../scenarios/extended-asks.ts';
import { cardOf, said } from '../scenarios/extended-origins.ts';
import { START, type Stage, createStage } from '../scenarios/extended-stage.ts';
import { FakeClock } from '../support/fake-clock.ts';

/*
 * A public card is written from an exchange that no caller has a part in, and an extended one is read by whoever shows a credential: by
 * type where a type can say so, and for whatever a caller sends.
 */

const stage = await createStage();

/** Origins that give whoever shows a credential another card, at every URL. */
class Watched implements Fetcher {
  readonly orders: FetchOrder[] = [];
  open(): Promise<never> {
    return Promise.reject(new Error('nothing is forwarded here'));
  }
  async fetch(order: FetchOrder) {
    this.orders.push(order);
    const { host } = new URL(order.url);
    const body =
      host === 'idp.test'
        ? stage.jwks[0]
        : cardOf(host, fieldValue(order.fields, 'authorization') === undefined ? 'public' : 'private');
    const fields = ['Content-Type', 'application/json', 'Cache-Control', 'public, max-age=600'];
    return said(order, { status: 200, fields, body: new TextEncoder().encode(body) });
  }
}

/** The same store, of which it is known what was put into it. */
function seen<Kept, Into extends { put(entry: Kept): unknown }>(store: Into, kept: Kept[]): Into {
  const put = store.put.bind(store);
  return Object.assign(store, {
    put(entry: Kept) {
      kept.push(entry);
      return put(entry);
    },
  });
}

async function begin({ observer, ledger, cardKey, rules }: Stage) {
  const clock = new FakeClock(START);
  const [{ book }, { revocations }] = await Promise.all([openKills(null, clock), openRevocations(null, clock)]);
  const maxBytes = bytes(16_000_000);
  const store = createMemoryStore({ clock, observer, maxBytes, pinned: () => false });
  const extended = createExtendedStore({ clock, observer, maxBytes });
  const fetcher = new Watched();
  const written: Entry[] = [];
  const kept: ExtendedEntry[] = [];
  const discovery = createDiscovery(
    {
      clock,
      observer,
      ledger,
      cardKey,
      kills: book,
      revocations,
      fetcher,
      archive: null,
      store: seen(store, written),
      extended: seen(extended, kept),
      secrets: { read: async () => 'own-secret' },
      coder: { code: async () => [] },
      registryFiles: createRegistryFiles(null),
      registryRecord: { last: () => undefined, doubt: () => null, save: async () => null },
      registryReaders: { 'ai-catalog': async () => new Map() },
      cut: () => undefined,
    },
    rules[0] as Rules,
  );
  await discovery.prefetch(0).catch(() => undefined);
  return { discovery, fetcher, written, kept };
}

const MARK = 'mark-of-a-caller';
const value = fc.constantFrom(`Bearer ${MARK}`, `Basic ${MARK}`, MARK, `"${MARK}"`, '*', 'no-cache', '1.0', '0.3');
const NAMES = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'accept',
  'accept-language',
  'a2a-version',
  'a2a-extensions',
  'if-none-match',
  'range',
  'cache-control',
  'forwarded',
  'x-user',
  'host',
  'connection',
  'via',
];
const PATHS = [
  '.well-known/agent-card.json',
  '.well-known/agent.json',
  'extendedAgentCard',
  'gold/extendedAgentCard',
  'v1/card',
];
const request = fc.record({
  agent: fc.constantFrom('ledger', 'books', 'vault', 'inner'),
  path: fc.constantFrom(...PATHS),
  query: fc.constantFrom('', `?access_token=${MARK}`),
  // Half of them are as a caller of an extended card would be, whatever else they send.
  fields: fc.oneof(
    fc.dictionary(fc.constantFrom(...NAMES), value),
    fc
      .dictionary(fc.constantFrom(...NAMES.slice(1)), value)
      .map((more) => ({ ...more, authorization: `Bearer ${MARK}`, 'a2a-version': '1.0' })),
  ),
});

/** What Cardea itself asks for a public card with, and nothing beside it but validators of its own. */
const OWN_REQUESTS = new Set(Object.values(CARD_REQUESTS).map(({ fields }) => JSON.stringify(fields)));
const withoutValidators = ({ fields }: FetchOrder) =>
  [...fieldPairs(fields)].filter(([name]) => !/^if-/i.test(name)).flat();

describe('public cards and extended ones', () => {
  test('whatever callers send, no exchange for a public card has a word of theirs, and no extended card is read without a credential', async () => {
    let obtained = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 6 }), async (requests) => {
        const { discovery, fetcher, written, kept } = await begin(stage);
        for (const { agent, path, query, fields } of requests) {
          const { body } = await discovery.handle(askOf('GET', `/agents/${agent}/${path}${query}`, fields));
          const text = body instanceof Uint8Array ? new TextDecoder().decode(body) : '';
          const shows = fields['authorization'] !== undefined || agent === 'vault';
          assert.ok(shows || !text.includes('private'), 'an extended card without a credential');
        }
        for (const order of fetcher.orders.filter(({ url }) => url.includes('/.well-known/'))) {
          assert.ok(OWN_REQUESTS.has(JSON.stringify(withoutValidators(order))), JSON.stringify(order.fields));
          assert.ok(!JSON.stringify([order.url, order.fields]).includes(MARK));
        }
        for (const { body, tags } of written) {
          assert.ok(new TextDecoder().decode(body).includes('"public"'));
          assert.ok(!tags.some((tag) => /^(?:principal|tenant):/.test(tag)));
        }
        for (const { tags } of kept) assert.ok(tags.some((tag) => tag.startsWith('principal:')));
        obtained += kept.length;
        await discovery.stop();
      }),
      { numRuns: 100 },
    );
    assert.ok(obtained > 10, 'nothing was kept');
  });
  test('no request for a public card is made of what a caller sends: the compiler says so', () => {
    const wrong = (refresh: RefreshCard, agent: AgentRule, key: Entry['key'], limits: Limits): void => {
      const fields = ['Authorization', 'Bearer of-a-caller'];
      // @ts-expect-error only the requests of card-request.ts are any
      const made: CardRequest = { version: '1.0', fields, read: () => undefined };
      // @ts-expect-error one that was changed is none
      void refresh({ agent, key, stored: undefined, request: { ...made, fields } as Omit<CardRequest, never> }, limits);
    };
    assert.equal(typeof wrong, 'function');
  });
});
