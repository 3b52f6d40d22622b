import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import type { Caller } from '../../src/discovery/callers.ts';
import { extendedAnswer } from '../../src/discovery/extended-answer.ts';
import type { ExtendedCall } from '../../src/discovery/extended-call.ts';
import { type ExtendedHit, type Turn, createExtendedHits, leftOf } from '../../src/discovery/extended-hits.ts';
import type { Holding } from '../../src/discovery/held-extended.ts';
import { cacheStatusHit, strongEtag } from '../../src/http/answer.ts';
import { ttlOf } from '../../src/http/freshness.ts';
import { type Answer, withFields } from '../../src/kernel/answer.ts';
import type { Ask } from '../../src/kernel/ask.ts';
import type { Entry } from '../../src/kernel/entry.ts';
import type { ExtendedEntry, PartitionKey } from '../../src/kernel/extended-entry.ts';
import { agentName, cardDigest, generation, listenerName, tag } from '../../src/kernel/ids.ts';
import { plainPrincipal } from '../../src/kernel/principal.ts';
import { accepted } from '../../src/kernel/refusal.ts';
import { type EpochMs, epochMs, ms } from '../../src/kernel/units.ts';
import type { AgentRule } from '../../src/policy/rules.ts';
import { ADMISSION, cardOf } from '../support/entries.ts';
import { CARD_CACHE, exampleAgent } from '../support/rules.ts';

const START = Date.parse('2026-11-30T12:00:00.000Z');
const DIGEST = cardDigest('0'.repeat(64));

function entryOf(name: string, { fresh, until }: { readonly fresh: number; readonly until: number }): ExtendedEntry {
  const body = new TextEncoder().encode(JSON.stringify({ name }));
  return {
    partition: name as PartitionKey,
    agent: agentName('ledger'),
    body,
    etag: strongEtag(body),
    fields: ['Date', 'Mon, 30 Nov 2026 12:00:00 GMT', 'Last-Modified', 'Mon, 30 Nov 2026 11:00:00 GMT'],
    receivedAt: epochMs(START),
    initialAge: ms(0),
    lifetime: {
      fresh: ms(fresh),
      staleWhileRevalidate: ms(0),
      staleIfError: ms(0),
      validateAlways: false,
      mustRevalidate: false,
      immutable: false,
    },
    admission: ADMISSION,
    until: epochMs(START + until),
    publicDigest: DIGEST,
    generation: generation(0),
    tags: [tag('all')],
  };
}

type Asked = Readonly<Record<string, string>>;

const askOf = (method: string, fields: Asked): Ask => ({
  listener: listenerName('agents'),
  base: 'http://localhost',
  ownsBase: () => true,
  method,
  target: '/',
  proxied: null,
  host: 'localhost',
  field: (name) => fields[name],
  peer: { principal: null, certificate: null },
  fields: Object.entries(fields).flat(),
  body: null,
  signal: () => AbortSignal.abort(),
});

const callOf = (ask: Ask, more: Partial<ExtendedCall> = {}): ExtendedCall => ({
  ask,
  form: { binding: 'HTTP+JSON', id: null },
  version: accepted('1.0'),
  tenant: '',
  basePath: '/agents/ledger',
  ...more,
});

const callerOf = (name: string): Caller => ({
  principal: plainPrincipal('opaque', name),
  tags: [],
  principalHash: name,
  tenantHash: null,
  credential: name,
  issuer: null,
});

const AGENT = exampleAgent('ledger', { cache: { ...CARD_CACHE, clientMaxAge: ms(30_000) } });
const ALICE = callerOf('alice');

/** Everything that the answers are held against: what is known, what is held, and what may be used. */
class Stage {
  era = 1;
  now = START;
  readonly unknown = new Set<Caller>();
  publicCard: Entry | undefined = cardOf('ledger');
  readonly held = new Map<PartitionKey, ExtendedEntry>();
  readonly hits = createExtendedHits({
    acceptedCard: { stands: (_agent, _request, entry) => entry === this.publicCard },
    callers: { knows: (caller) => !this.unknown.has(caller) },
    held: { fresh: ({ partition, until }, now) => (now < until ? this.held.get(partition) : undefined) },
    era: () => this.era,
    now: () => epochMs(this.now),
  });

  /** As it is found anew, with what is remembered put beside it. */
  ask(turn: Turn, entry: ExtendedEntry): { readonly answer: Answer; readonly isKnown: boolean } {
    const known = this.hits.find(turn);
    if (known !== undefined) return { answer: known, isKnown: true };
    assert.ok(this.publicCard);
    const { partition } = entry;
    const holding: Holding = { agent: turn.agent, partition, publicDigest: DIGEST, until: entry.until };
    const hit: ExtendedHit = { publicCard: this.publicCard, holding, entry, shown: entry };
    return { answer: this.hits.answer(turn, hit, epochMs(this.now)), isKnown: false };
  }
}

const withoutMarks = (answer: Answer): Answer => withFields(answer, answer.fields);

/** The answer without anything that is remembered. */
function made({ call, caller, agent }: Turn, entry: ExtendedEntry, now: EpochMs): Answer {
  const cache = cacheStatusHit({ ttl: ttlOf(leftOf(entry, now)) });
  const { clientMaxAge } = agent.cache;
  return extendedAnswer(call.ask, call.form, {
    caller,
    entry,
    now,
    cache,
    result: 'hit',
    forThisRequest: false,
    clientMaxAge,
  });
}

describe('answers with extended cards that are remembered', () => {
  const entries = [
    entryOf('alice', { fresh: 300_000, until: 3_600_000 }),
    entryOf('alice-other', { fresh: 20_500, until: 10_300 }),
    entryOf('bob', { fresh: 300_000, until: 4_700 }),
  ] as const;
  const bob = callerOf('bob');
  const agents: readonly AgentRule[] = [
    AGENT,
    exampleAgent('ledger', { cache: { ...CARD_CACHE, clientMaxAge: ms(0) } }),
  ];

  test('are those that would be made for the same caller, whatever was asked before and whenever', () => {
    const fields = fc.record(
      {
        'if-none-match': fc.constantFrom('*', '"x"', ...entries.map(({ etag }) => etag)),
        'if-modified-since': fc.constantFrom('Mon, 30 Nov 2026 11:00:00 GMT', 'Mon, 30 Nov 2026 10:00:00 GMT', 'never'),
        'a2a-extensions': fc.constantFrom('https://ext.test/a', ''),
        'cache-control': fc.constantFrom('max-age=0', 'no-cache'),
        via: fc.constant('1.1 other'),
        'proxy-authorization': fc.constant('Bearer another'),
        'user-agent': fc.string(),
      },
      { requiredKeys: [] },
    );
    const step = fc.record({
      caller: fc.constantFrom(ALICE, bob),
      agent: fc.constantFrom(...agents),
      replaced: fc.option(fc.constantFrom(entries[0], entries[1]), { freq: 4 }),
      method: fc.constantFrom('GET', 'HEAD'),
      tenant: fc.constantFrom('', 'acme'),
      version: fc.constantFrom('1.0' as const, '0.3' as const),
      fields,
      passed: fc.constantFrom(0, 0, 0, 1, 400, 999, 1_000, -1_500),
      turns: fc.integer({ min: 0, max: 4 }).map((lot) => lot === 0),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const stage = new Stage();
        // Whoever asks for another tenant or version, or in another caller's name, has a card of its own.
        const cards = new Map<string, ExtendedEntry>();
        for (const each of steps) {
          const { caller, agent, replaced, method, tenant, version, passed, turns } = each;
          stage.now += passed;
          if (turns) stage.era += 1;
          const name = [caller.principal.id, tenant, version, each.fields['a2a-extensions'] ?? ''].join();
          const [first, second] = caller === bob ? [entries[2], entries[2]] : [entries[0], replaced];
          const base = second ?? cards.get(name) ?? first;
          const entry =
            cards.get(name)?.etag === base.etag
              ? (cards.get(name) ?? base)
              : { ...base, partition: name as PartitionKey };
          cards.set(name, entry);
          stage.held.set(entry.partition, entry);
          if (leftOf(entry, epochMs(stage.now)) <= 0) continue;
          const ask = askOf(method, each.fields);
          const turn = { call: callOf(ask, { tenant, version: accepted(version) }), agent, caller };
          assert.deepEqual(withoutMarks(stage.ask(turn, entry).answer), made(turn, entry, epochMs(stage.now)));
        }
      }),
    );
  });

  const turnOf = (fields: Asked = {}, more: Partial<ExtendedCall> = {}, caller = ALICE): Turn => ({
    call: callOf(askOf('GET', fields), more),
    agent: AGENT,
    caller,
  });
  const [entry] = entries;
  const stageWith = (first = turnOf()): Stage => {
    const stage = new Stage();
    stage.held.set(entry.partition, entry);
    stage.ask(first, entry);
    return stage;
  };

  const others: readonly (readonly [name: string, turn: Turn, isKnown: boolean])[] = [
    ['the same', turnOf(), true],
    ['the same with a field that nobody reads', turnOf({ 'user-agent': 'x' }), true],
    ['another caller', turnOf({}, {}, callerOf('alice')), false],
    ['another tenant', turnOf({}, { tenant: 'acme' }), false],
    ['another version', turnOf({}, { version: accepted('0.3') }), false],
    ['other extensions', turnOf({ 'a2a-extensions': 'https://ext.test/a' }), false],
    ['another place', turnOf({}, { basePath: '' }), false],
    ['a condition', turnOf({ 'if-none-match': '*' }), false],
    ['a wish for a newer one', turnOf({ 'cache-control': 'no-cache' }), false],
    ['the same in an envelope', turnOf({}, { form: { binding: 'JSONRPC', id: 1 } }), false],
    ['a caller by another credential', turnOf({ 'proxy-authorization': 'Bearer a' }), false],
    ['a way through a proxy', turnOf({ via: '1.1 a' }), false],
  ];
  for (const [name, turn, isKnown] of others)
    test(`are ${isKnown ? '' : 'not '}given to ${name}`, () => {
      assert.equal(stageWith().hits.find(turn) !== undefined, isKnown);
    });

  type Ending = readonly [name: string, end: (stage: Stage) => void, at: number, holds: boolean];
  const endings: readonly Ending[] = [
    ['within the second', () => undefined, 999, true],
    ['in the next second', () => undefined, 1_000, false],
    ['before it was made: a revocation that had lapsed is in force again', () => undefined, -1, false],
    ['after a change of rules, kills or revocations', (stage) => void (stage.era += 1), 0, false],
    ['once its token is over, or the key that signed it gone', (stage) => void stage.unknown.add(ALICE), 0, false],
    ['beside another public card', (stage) => void (stage.publicCard = cardOf('ledger')), 0, false],
    ['beside none', (stage) => void (stage.publicCard = undefined), 0, false],
    ['when it was purged', ({ held }) => held.clear(), 0, false],
    ['when another took its place', ({ held }) => void held.set(entry.partition, { ...entry }), 0, false],
  ];
  for (const [name, end, at, holds] of endings)
    test(`${holds ? 'hold' : 'do not hold'} ${name}`, () => {
      const stage = stageWith();
      const answer = stage.hits.find(turnOf());
      assert.equal(answer?.forCredential, true);
      end(stage);
      assert.equal(answer.holds?.(epochMs(START + at)), holds);
      stage.now += at;
      assert.equal(stage.hits.find(turnOf()) === answer, holds);
    });

  test('are made anew where a request could be answered otherwise, and are not remembered then', () => {
    for (const fields of [
      { 'cache-control': 'max-age=3600' },
      { via: '1.1 a' },
      { 'proxy-authorization': 'Bearer a' },
    ]) {
      const stage = stageWith(turnOf(fields));
      assert.equal(stage.ask(turnOf(fields), entry).answer.holds, undefined);
    }
  });
});
