import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EVICTION_REASONS } from '../../src/kernel/event.ts';
import { agentName, cardDigest } from '../../src/kernel/ids.ts';
import { CARD_STATES, FETCH_OUTCOMES, REQUEST_KINDS, REQUEST_RESULTS } from '../../src/kernel/outcome.ts';
import { bytes, epochMs } from '../../src/kernel/units.ts';
import type { CardGauge } from '../../src/observe/gauges.ts';
import type { ConfiguredAgents } from '../../src/observe/counters.ts';
import { METRICS } from '../../src/observe/metric-table.ts';
import { type Metrics, createMetrics } from '../../src/observe/metrics.ts';
import { WEATHER, exchanged, requested } from '../support/events.ts';

const OPENMETRICS = 'application/openmetrics-text;version=1.0.0';

const card = (agent: string, more: Partial<CardGauge> = {}): CardGauge => ({
  agent: agentName(agent),
  state: 'fresh',
  lastSuccess: epochMs(1_800_000_000_500),
  freshUntil: epochMs(1_800_000_300_000),
  staleSince: epochMs(0),
  signature: 'verified',
  version: '1.2.3',
  protocolVersion: '1.0',
  digest: cardDigest('ab'.repeat(32)),
  pending: {},
  ...more,
});

interface Given {
  readonly metrics: Metrics;
  /** The configured agents' cards; a test changes them. */
  cards: readonly CardGauge[];
  asked: number;
}

function given(...cards: readonly CardGauge[]): Given {
  let configured = { cards, agents: agentsOf(cards) };
  const sources: Given = {
    cards,
    asked: 0,
    metrics: createMetrics(
      {
        agents() {
          if (configured.cards !== sources.cards)
            configured = { cards: sources.cards, agents: agentsOf(sources.cards) };
          return configured.agents;
        },
        cards() {
          sources.asked += 1;
          return sources.cards;
        },
        unnamed: () => null,
        keys: () => [],
        registries: () => [],
        principals: () => 3,
        kills: () => ({ kinds: new Set(['agent'] as const), persisted: false }),
        cache: () => ({ public: { entries: 3, bytes: bytes(4_000) }, other: { entries: 2, bytes: bytes(50) } }),
        config: () => ({ digest: 'd1', adoptedAt: epochMs(1_800_000_000_000), lastSuccessful: true }),
      },
      { version: '0.1.0', node: '24.0.0' },
    ),
  };
  return sources;
}

/** Calls to every agent but `direct` pass through. */
const agentsOf = (cards: readonly CardGauge[]): ConfiguredAgents =>
  new Map(cards.map(({ agent }) => [agent, { card: { route: agent === 'direct' ? 'direct' : 'through' } }] as const));

const linesOf = async (metrics: Metrics, accept?: string): Promise<readonly string[]> =>
  (await metrics.scrape(accept)).body.split('\n');

/** The series of one metric, as `labels → value`. */
async function seriesOf(metrics: Metrics, name: string): Promise<ReadonlyMap<string, number>> {
  const found = (await linesOf(metrics)).flatMap((line) => {
    const match = /^(\w+)(\{.*\})? (\S+)$/.exec(line);
    return match?.[1] === name ? ([[match[2] ?? '', Number(match[3])]] as const) : [];
  });
  return new Map(found);
}

describe('what is there', () => {
  test('exactly the metrics of the table, with their kind and help, and what prom-client gives', async () => {
    const lines = await linesOf(given(card('weather')).metrics);
    for (const [name, { kind, help }] of Object.entries(METRICS)) {
      assert.ok(lines.includes(`# HELP ${name} ${help}`), name);
      assert.ok(lines.includes(`# TYPE ${name} ${kind}`), name);
    }
    const families = lines.flatMap((line) => /^# TYPE (\S+)/.exec(line)?.[1] ?? []);
    const others = families.filter((name) => !Object.hasOwn(METRICS, name));
    assert.ok(others.length > 10 && others.every((name) => /^(process|nodejs)_/.test(name)), others.join());
    assert.equal(families.length, new Set(families).size);
  });

  test('and each series has the labels of its row', async () => {
    const { metrics } = given(card('weather'));
    metrics.record(requested());
    metrics.record(exchanged());
    for (const line of await linesOf(metrics)) {
      const [, sample = '', labels = ''] = /^(cardea_\w+?)(?:_bucket|_sum|_count)?(?:\{(.*)\})? \S+$/.exec(line) ?? [];
      if (sample === '') continue;
      const row = Object.entries(METRICS).find(([name]) => name === sample)?.[1];
      const names = [...labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)].map(([, name]) => name);
      assert.deepEqual(new Set(names.filter((name) => name !== 'le')), new Set(row?.labels ?? ['no row']), line);
    }
  });

  test('series of forwarded calls only for agents whose calls pass through', async () => {
    const { metrics } = given(card('weather'), card('direct'));
    assert.deepEqual([...(await seriesOf(metrics, 'cardea_forward_streams'))], [['{agent="weather"}', 0]]);
  });

  test('a scrape lets other work in between its metrics', async () => {
    const { metrics } = given(card('weather'));
    let turns = 0;
    let ticking: NodeJS.Immediate;
    const count = (): void => {
      turns += 1;
      ticking = setImmediate(count);
    };
    count();
    await metrics.scrape(undefined).finally(() => clearImmediate(ticking));
    assert.ok(turns > Object.keys(METRICS).length, String(turns));
  });

  test('every series of a configured agent from the start, at 0', async () => {
    const { metrics } = given(card('weather'), card('pay'));
    const requests = await seriesOf(metrics, 'cardea_requests_total');
    assert.equal(requests.size, 2 * REQUEST_RESULTS.length);
    assert.equal(requests.get('{agent="pay",kind="public",result="denied"}'), 0);
    const fetches = await seriesOf(metrics, 'cardea_fetch_total');
    assert.equal(fetches.size, 2 * FETCH_OUTCOMES.length);
    assert.ok([...requests.values(), ...fetches.values()].every((value) => value === 0));
    assert.deepEqual(
      [...(await seriesOf(metrics, 'cardea_fetch_duration_seconds_count'))],
      [
        ['{agent="weather"}', 0],
        ['{agent="pay"}', 0],
      ],
    );
    assert.equal((await seriesOf(metrics, 'cardea_cache_evictions_total')).size, EVICTION_REASONS.length);
  });
});

describe('what is counted', () => {
  test('requests by agent, kind and result', async () => {
    const { metrics } = given(card('weather'));
    for (const kind of REQUEST_KINDS) for (const result of REQUEST_RESULTS) metrics.record(requested({ kind, result }));
    metrics.record(requested());
    const requests = await seriesOf(metrics, 'cardea_requests_total');
    assert.equal(requests.size, REQUEST_KINDS.length * REQUEST_RESULTS.length);
    assert.equal(requests.get('{agent="weather",kind="public",result="hit"}'), 2);
    const others = [...requests].filter(([labels]) => labels !== '{agent="weather",kind="public",result="hit"}');
    assert.ok(others.every(([, value]) => value === 1));
  });

  test('time, in seconds; a clock that was set back counts as none', async () => {
    const { metrics } = given(card('weather'));
    for (const took of [0, -5, 250]) metrics.record(requested({}, took));
    const labels = 'kind="public",result="hit"';
    const buckets = await seriesOf(metrics, 'cardea_request_duration_seconds_bucket');
    assert.equal(buckets.get(`{le="0.0005",${labels}}`), 2);
    assert.equal(buckets.get(`{le="0.1",${labels}}`), 2);
    assert.equal(buckets.get(`{le="0.25",${labels}}`), 3);
    assert.equal((await seriesOf(metrics, 'cardea_request_duration_seconds_sum')).get(`{${labels}}`), 0.25);
  });

  test('fetches by outcome, and what egress refused by reason', async () => {
    const { metrics } = given(card('weather'));
    metrics.record(exchanged());
    metrics.record(exchanged({ outcome: 'denied', code: 'address-forbidden' }));
    metrics.record(exchanged({ outcome: 'rejected', code: 'card-invalid' }));
    const fetches = await seriesOf(metrics, 'cardea_fetch_total');
    for (const outcome of ['stored', 'denied', 'rejected'])
      assert.equal(fetches.get(`{agent="weather",outcome="${outcome}"}`), 1, outcome);
    const denied = await seriesOf(metrics, 'cardea_egress_denied_total');
    assert.deepEqual(
      [...denied].filter(([, value]) => value > 0),
      [['{reason="address-forbidden"}', 1]],
    );
  });

  test('evictions by reason, by how many', async () => {
    const { metrics } = given();
    metrics.record({ kind: 'evicted', reason: 'purge', count: 3, bytes: bytes(1) });
    assert.equal((await seriesOf(metrics, 'cardea_cache_evictions_total')).get('{reason="purge"}'), 3);
  });

  test('under `other` where the configuration does not know the agent, whatever its name', async () => {
    const { metrics } = given(card('weather'));
    for (const agent of [null, agentName('guessed'), agentName('other'), agentName('a"} 1\ncardea_x 1')])
      metrics.record(requested({ agent, result: 'denied' }));
    metrics.record(exchanged({ agent: agentName('guessed') }));
    const requests = await seriesOf(metrics, 'cardea_requests_total');
    assert.equal(requests.get('{agent="other",kind="public",result="denied"}'), 4);
    assert.equal((await seriesOf(metrics, 'cardea_fetch_total')).get('{agent="other",outcome="stored"}'), 1);
    assert.ok(!(await linesOf(metrics)).some((line) => /guessed|cardea_x/.test(line)));
  });

  test('a hit of a known agent asks nothing', async () => {
    const sources = given(card('weather'));
    await sources.metrics.scrape(undefined);
    const before = sources.asked;
    for (let times = 0; times < 100; times += 1) sources.metrics.record(requested());
    assert.equal(sources.asked, before);
  });
});

describe('another configuration', () => {
  test('an agent that is gone takes its series with it, one that came has all of them', async () => {
    const sources = given(card('weather'), card('pay'));
    sources.metrics.record(requested());
    sources.metrics.record(exchanged());
    await sources.metrics.scrape(undefined);
    sources.cards = [card('pay'), card('travel')];
    const lines = await linesOf(sources.metrics);
    assert.ok(!lines.some((line) => line.includes('weather')));
    assert.ok(lines.includes('cardea_fetch_total{agent="travel",outcome="stored"} 0'));
    assert.ok(lines.includes('cardea_requests_total{agent="travel",kind="public",result="hit"} 0'));
  });

  test('what an agent does before the first scrape is its own', async () => {
    const sources = given();
    await sources.metrics.scrape(undefined);
    sources.cards = [card('weather')];
    sources.metrics.record(requested());
    assert.equal(
      (await seriesOf(sources.metrics, 'cardea_requests_total')).get('{agent="weather",kind="public",result="hit"}'),
      1,
    );
  });

  test('an agent that comes back begins at 0', async () => {
    const sources = given(card('weather'));
    sources.metrics.record(requested());
    for (const cards of [[], [card('weather')]]) {
      sources.cards = cards;
      await sources.metrics.scrape(undefined);
    }
    const requests = await seriesOf(sources.metrics, 'cardea_requests_total');
    assert.equal(requests.get('{agent="weather",kind="public",result="hit"}'), 0);
  });
});

describe('how things stand', () => {
  test('a fresh, verified card', async () => {
    const lines = await linesOf(given(card('weather')).metrics);
    for (const line of [
      'cardea_card_last_success_timestamp_seconds{agent="weather"} 1800000000.5',
      'cardea_card_fresh_until_timestamp_seconds{agent="weather"} 1800000300',
      'cardea_card_stale_since_timestamp_seconds{agent="weather"} 0',
      'cardea_card_signature{agent="weather",verdict="verified"} 1',
      'cardea_card_signature{agent="weather",verdict="unsigned"} 0',
      `cardea_card_info{agent="weather",version="1.2.3",protocol_version="1.0",digest="sha256:${'ab'.repeat(32)}"} 1`,
    ])
      assert.ok(lines.includes(line), line);
  });

  for (const state of CARD_STATES) {
    test(`exactly one state is 1: ${state}`, async () => {
      const { metrics } = given(card('weather', { state }));
      const states = await seriesOf(metrics, 'cardea_card_state');
      assert.deepEqual(
        [...states].filter(([, value]) => value === 1),
        [[`{agent="weather",state="${state}"}`, 1]],
      );
      assert.equal(states.size, CARD_STATES.length);
    });
  }

  test('a missing card has no info and no verdict', async () => {
    const nothing = { state: 'missing', signature: null, version: null, protocolVersion: null, digest: null } as const;
    const { metrics } = given(card('weather', nothing));
    assert.equal((await seriesOf(metrics, 'cardea_card_info')).size, 0);
    assert.ok([...(await seriesOf(metrics, 'cardea_card_signature')).values()].every((value) => value === 0));
  });

  const versions: readonly (readonly [version: string, label: string])[] = [
    ['1.0.0-rc.1+b7', '1.0.0-rc.1+b7'],
    ['v1 "x"\n', 'v1x'],
    ['9'.repeat(32), '9'.repeat(32)],
    ['9'.repeat(33), '9'.repeat(32)],
    ['\u{1f600}', ''],
  ];
  for (const [version, label] of versions) {
    test(`the version ${JSON.stringify(version)} becomes ${JSON.stringify(label)}`, async () => {
      const [labels] = [...(await seriesOf(given(card('weather', { version })).metrics, 'cardea_card_info')).keys()];
      assert.match(labels ?? '', new RegExp(`,version="${label.replaceAll(/[.+]/g, String.raw`\$&`)}",`));
    });
  }

  test('a new digest replaces the old series', async () => {
    const sources = given(card('weather'));
    await sources.metrics.scrape(undefined);
    sources.cards = [card('weather', { digest: cardDigest('cd'.repeat(32)) })];
    assert.equal((await seriesOf(sources.metrics, 'cardea_card_info')).size, 1);
  });

  test('the cache by kind, the configuration and the build', async () => {
    const lines = await linesOf(given().metrics);
    for (const line of [
      'cardea_cache_entries{kind="public"} 3',
      'cardea_cache_bytes{kind="other"} 50',
      'cardea_config_last_reload_successful 1',
      'cardea_config_last_reload_success_timestamp_seconds 1800000000',
      'cardea_config_info{digest="d1"} 1',
      'cardea_build_info{version="0.1.0",node="24.0.0"} 1',
    ])
      assert.ok(lines.includes(line), line);
  });

  test('one scrape reads the cards once', async () => {
    const sources = given(card('weather'));
    await sources.metrics.scrape(undefined);
    assert.equal(sources.asked, 1);
  });
});

describe('both expositions', () => {
  test('text by default, OpenMetrics when asked, and neither spoils the other', async () => {
    const { metrics } = given(card('weather'));
    const stable = async (accept?: string): Promise<readonly string[]> =>
      (await linesOf(metrics, accept)).filter((line) => /cardea_|^# EOF/.test(line));
    const [text, open] = [await stable(), await stable(OPENMETRICS)];
    assert.deepEqual(await stable(), text);
    assert.deepEqual(await stable(OPENMETRICS), open);
    assert.ok(text.includes('# TYPE cardea_requests_total counter') && !text.includes('# EOF'));
    assert.ok(open.includes('# TYPE cardea_requests counter') && open.at(-1) === '# EOF');
    const samples = (lines: readonly string[]): readonly string[] => lines.filter((line) => !line.startsWith('#'));
    assert.deepEqual(samples(open), samples(text));
  });

  test('each says what it is', async () => {
    const { metrics } = given();
    assert.match((await metrics.scrape(undefined)).type, /^text\/plain; version=0\.0\.4/);
    assert.match((await metrics.scrape(OPENMETRICS)).type, /^application\/openmetrics-text; version=1\.0\.0/);
  });

  test('scrapes at one time do not mix', async () => {
    const sources = given(card('weather'));
    const first = sources.metrics.scrape(undefined);
    sources.cards = [card('pay')];
    const second = sources.metrics.scrape(OPENMETRICS);
    assert.ok(!(await first).body.includes('pay'));
    assert.ok(!(await second).body.includes('weather'));
  });

  test('two daemons in one process have metrics of their own', async () => {
    const [one, two] = [given(card('weather')), given(card('weather'))];
    one.metrics.record(requested({ agent: WEATHER }));
    const requests = await seriesOf(two.metrics, 'cardea_requests_total');
    assert.ok([...requests.values()].every((value) => value === 0));
  });
});
