import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { cardAnswer } from '../../src/discovery/card-answer.ts';
import { CARD_REQUESTS } from '../../src/discovery/card-request.ts';
import { createHitAnswers } from '../../src/discovery/hit-answers.ts';
import { cacheStatusHit, strongEtag } from '../../src/http/answer.ts';
import { freshFor, ttlOf } from '../../src/http/freshness.ts';
import { type Answer, withFields } from '../../src/kernel/answer.ts';
import type { Ask } from '../../src/kernel/ask.ts';
import type { Entry } from '../../src/kernel/entry.ts';
import { type EntryKey, agentName, cardDigest, generation, policyDigest } from '../../src/kernel/ids.ts';
import { listenerName, receiptId, tag, urlId, variantKey } from '../../src/kernel/ids.ts';
import { type EpochMs, epochMs, ms } from '../../src/kernel/units.ts';
import type { AgentRule } from '../../src/policy/rules.ts';
import { CARD_CACHE, exampleAgent } from '../support/rules.ts';

const START = Date.parse('2026-11-30T12:00:00.000Z');
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function entryOf(name: string, { fresh, initialAge }: { readonly fresh: number; readonly initialAge: number }): Entry {
  const body = bytes(JSON.stringify({ name }));
  const coded = bytes(`gzip of ${name}`);
  return {
    key: name as EntryKey,
    variant: variantKey(''),
    vary: [],
    agent: agentName(name),
    url: urlId(`https://${name}.example/card.json`),
    status: 200,
    fields: ['Date', 'Mon, 30 Nov 2026 12:00:00 GMT', 'Last-Modified', 'Mon, 30 Nov 2026 11:00:00 GMT'],
    body,
    etag: strongEtag(body),
    coded: [{ coding: 'gzip', body: coded, etag: strongEtag(coded) }],
    requestedAt: epochMs(START),
    receivedAt: epochMs(START),
    initialAge: ms(initialAge),
    lifetime: {
      fresh: ms(fresh),
      staleWhileRevalidate: ms(0),
      staleIfError: ms(0),
      validateAlways: false,
      mustRevalidate: false,
      immutable: false,
    },
    admission: {
      digest: cardDigest('0'.repeat(64)),
      verdict: { signature: 'unsigned' },
      review: 'allowed',
      facts: { name, version: '1', protocolVersion: '1.0', extended: false },
      policy: policyDigest('p'),
      receipt: receiptId('r'),
      at: epochMs(START),
      warnings: [],
    },
    generation: generation(0),
    tags: [tag(`agent:${name}`)],
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

/** The answer without what is remembered. */
function made(ask: Ask, entry: Entry, now: EpochMs, clientMaxAge: number): Answer {
  const cache = cacheStatusHit({ ttl: ttlOf(freshFor(entry, now)) });
  return cardAnswer(ask, { entry, now, cache, result: 'hit', forThisRequest: false, clientMaxAge: ms(clientMaxAge) });
}

const withoutMark = (answer: Answer): Answer => withFields(answer, answer.fields);

/** A store of cards, each with one entry, and an era that the test ends. */
class Stage {
  era = 1;
  readonly stored = new Map<AgentRule, Entry>();
  readonly #answer = createHitAnswers({ book: { current: (agent) => this.stored.get(agent) }, era: () => this.era });

  ask(agent: AgentRule, ask: Ask, now: number): Answer {
    const entry = this.stored.get(agent);
    assert.ok(entry);
    return this.#answer(ask, { agent, request: CARD_REQUESTS['1.0'], entry, shown: entry }, epochMs(now));
  }
}

const agentNamed = (name: string, clientMaxAge: number): AgentRule =>
  exampleAgent(name, { cache: { ...CARD_CACHE, clientMaxAge: ms(clientMaxAge) } });

const LIVES = [
  { fresh: 300_000, initialAge: 0 },
  { fresh: 20_500, initialAge: 1_234 },
  { fresh: 3_000, initialAge: 999 },
] as const;

describe('answers that are remembered', () => {
  test('are those that would be made, whatever was asked before and whenever', () => {
    const entries = LIVES.map((life, at) => entryOf(`e${at}`, life));
    const agents = LIVES.map((_, at) => agentNamed(`a${at}`, [0, 2_500, 30_000][at] ?? 0));
    const tags = entries.flatMap(({ etag, coded = [] }) => [etag, ...coded.map((each) => each.etag)]);
    const fields = fc.record(
      {
        'accept-encoding': fc.constantFrom('gzip', 'br', 'identity;q=0', 'gzip;q=0, identity;q=0', ''),
        'if-none-match': fc.constantFrom('*', '"x"', ...tags.filter((each) => each !== null)),
        'if-modified-since': fc.constantFrom('Mon, 30 Nov 2026 11:00:00 GMT', 'Mon, 30 Nov 2026 10:00:00 GMT', 'never'),
        'user-agent': fc.string(),
      },
      { requiredKeys: [] },
    );
    const step = fc.record({
      agent: fc.constantFrom(...agents),
      replacedBy: fc.option(fc.constantFrom(...entries), { freq: 4 }),
      method: fc.constantFrom('GET', 'HEAD'),
      fields,
      passed: fc.constantFrom(0, 0, 0, 1, 400, 999, 1_000, -1_500),
      turns: fc.integer({ min: 0, max: 4 }).map((lot) => lot === 0),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const stage = new Stage();
        agents.forEach((agent, at) => stage.stored.set(agent, entries[at] ?? entryOf('none', LIVES[0])));
        const given: { agent: AgentRule; ask: Ask; answer: Answer }[] = [];
        let now = START + 1_000;
        for (const { agent, replacedBy, method, fields: shown, passed, turns } of steps) {
          now += passed;
          if (turns) stage.era += 1;
          if (replacedBy !== null) stage.stored.set(agent, replacedBy);
          const entry = stage.stored.get(agent);
          if (entry === undefined || freshFor(entry, epochMs(now)) <= 0) continue;
          const ask = askOf(method, shown);
          const got = stage.ask(agent, ask, now);
          assert.deepEqual(withoutMark(got), made(ask, entry, epochMs(now), agent.cache.clientMaxAge));
          given.push({ agent, ask, answer: got });
        }
        // Whatever says that it still holds is what would be made now.
        for (const { agent, ask, answer } of given) {
          const entry = stage.stored.get(agent);
          if (entry === undefined || answer.holds?.(epochMs(now)) !== true) continue;
          assert.deepEqual(withoutMark(answer), made(ask, entry, epochMs(now), agent.cache.clientMaxAge));
        }
      }),
    );
  });

  const agent = agentNamed('a', 30_000);
  const stageWith = (entry: Entry): Stage => {
    const stage = new Stage();
    stage.stored.set(agent, entry);
    return stage;
  };

  test('are made once a second for those who ask the same', () => {
    const stage = stageWith(entryOf('a', LIVES[0]));
    const at = (now: number, fields: Asked = {}): Answer => stage.ask(agent, askOf('GET', fields), now);
    const first = at(START);
    assert.equal(at(START + 999), first);
    assert.equal(at(START + 500, { 'user-agent': 'another' }), first);
    assert.notEqual(at(START + 500, { 'accept-encoding': 'gzip' }), first);
    assert.equal(at(START + 700), first);
    assert.notEqual(at(START + 1_000), first);
  });

  type Ending = readonly [name: string, end: (stage: Stage) => void, at: number, holds: boolean];
  const endings: readonly Ending[] = [
    ['at once', () => undefined, 0, true],
    ['within the second', () => undefined, 999, true],
    ['in the next second', () => undefined, 1_000, false],
    ['before it was made', () => undefined, -1, true],
    ['after a change of rules, kills or revocations', (stage) => void (stage.era += 1), 0, false],
    ['when another card took its place', ({ stored }) => void stored.set(agent, entryOf('b', LIVES[0])), 0, false],
    ['when it was purged', ({ stored }) => void stored.delete(agent), 0, false],
  ];
  for (const [name, end, at, holds] of endings) {
    test(`${holds ? 'hold' : 'do not hold'} ${name}`, () => {
      const stage = stageWith(entryOf('a', LIVES[0]));
      const answer = stage.ask(agent, askOf('GET', {}), START);
      end(stage);
      assert.equal(answer.holds?.(epochMs(START + at)), holds);
    });
  }

  test('do not hold where they refuse: every refusal leaves evidence', () => {
    const stage = stageWith(entryOf('a', LIVES[0]));
    const answer = stage.ask(agent, askOf('GET', { 'accept-encoding': 'gzip;q=0, identity;q=0' }), START);
    assert.deepEqual([answer.status, answer.holds], [406, undefined]);
  });
});
