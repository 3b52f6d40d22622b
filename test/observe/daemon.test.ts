import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { scenario } from '../support/scenario.ts';
import { CARD_PATH, World, answers, CARD, fails } from '../support/world.ts';

const OPENMETRICS = { Accept: 'application/openmetrics-text;version=1.0.0' };
const MINUTE = { origin: answers(CARD, { 'Cache-Control': 'max-age=60', ETag: '"one"' }) };

const metricsOf = (world: World, headers = {}) => world.get(`http://${world.daemon.started.ops[0]}/metrics`, headers);

async function value(world: World, series: string): Promise<number | undefined> {
  const line = (await metricsOf(world)).body.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

const requests = (result: string): string => `cardea_requests_total{agent="weather",kind="public",result="${result}"}`;

describe('the metrics of a daemon', () => {
  scenario('tell a card’s life', MINUTE, async (world) => {
    assert.equal(await value(world, requests('miss')), 0);
    assert.equal(await value(world, 'cardea_card_state{agent="weather",state="missing"}'), 1);
    await world.card();
    await world.card();
    const { headers } = await world.card();
    await world.card({ 'If-None-Match': headers.etag });
    assert.equal(await value(world, requests('miss')), 1);
    assert.equal(await value(world, requests('hit')), 2);
    assert.equal(await value(world, requests('not_modified')), 1);
    assert.equal(await value(world, 'cardea_fetch_total{agent="weather",outcome="stored"}'), 1);
    assert.equal(await value(world, 'cardea_card_state{agent="weather",state="fresh"}'), 1);
    assert.equal(await value(world, 'cardea_cache_entries{kind="public"}'), 1);
    const now = world.clock.now() / 1000;
    assert.equal(await value(world, 'cardea_card_last_success_timestamp_seconds{agent="weather"}'), now);
    assert.equal(await value(world, 'cardea_card_fresh_until_timestamp_seconds{agent="weather"}'), now + 60);
    assert.equal(await value(world, 'cardea_card_stale_since_timestamp_seconds{agent="weather"}'), 0);
    world.says(fails(503));
    await world.clock.advance(61_000);
    await world.quiet();
    await world.card();
    await world.quiet();
    assert.equal(await value(world, 'cardea_card_state{agent="weather",state="stale"}'), 1);
    assert.equal(await value(world, 'cardea_card_stale_since_timestamp_seconds{agent="weather"}'), now + 60);
    assert.ok(((await value(world, 'cardea_fetch_total{agent="weather",outcome="status"}')) ?? 0) > 0);
  });

  scenario('do not grow with what callers make up', MINUTE, async (world) => {
    const series = async (): Promise<readonly string[]> =>
      (await metricsOf(world)).body
        .split('\n')
        .flatMap((line) => /^(cardea_\S+?(?:\{.*\})?) \S+$/.exec(line)?.[1] ?? []);
    const flood = async (from: number): Promise<void> => {
      for (let at = from; at < from + 100; at += 1) {
        await world.get(`/agents/made-up-${at}/.well-known/agent-card.json`);
        await world.get(`/made/up/${at}`);
        await world.get(`${CARD_PATH}?made=${at}`, { 'A2A-Version': `9.${at}` });
        await world.get(`/origins/made-up-${at}.example/card.json`);
      }
    };
    await flood(0);
    await series(); // a scrape is a request too
    const once = await series();
    await flood(100);
    assert.deepEqual((await series()).toSorted(), once.toSorted());
    assert.ok(!once.some((line) => line.includes('made')), 'no label is a caller’s word');
    assert.ok(once.some((line) => line.includes('agent="other"')));
  });
});

describe('both expositions', () => {
  let world: World;
  before(async () => {
    world = await World.start({ ...MINUTE, prefetch: true });
    await world.card();
  });
  after(() => world.stop());

  test('text is the default and says its version', async () => {
    const { headers, body } = await metricsOf(world);
    assert.match(String(headers['content-type']), /^text\/plain; version=0\.0\.4/);
    assert.match(body, /^# TYPE cardea_requests_total counter$/m);
  });

  test('OpenMetrics holds what its specification asks', async () => {
    const { headers, body } = await metricsOf(world, OPENMETRICS);
    assert.match(String(headers['content-type']), /^application\/openmetrics-text; version=1\.0\.0/);
    checkOpenMetrics(body);
    assert.match((await metricsOf(world)).body, /^cardea_requests_total\{/m, 'and spoils no later scrape');
  });

  test('promtool finds nothing to say about what is ours', async (t) => {
    if (spawnSync('promtool', ['--version']).error !== undefined) {
      assert.notEqual(process.env['CI'], 'true', '.ci/run installs prometheus, which has promtool');
      return t.skip('no promtool on this machine: install prometheus');
    }
    const { body } = await metricsOf(world);
    // prom-client's own nodejs_active_*_total are gauges, which promtool frowns upon.
    const ours = body.split('\n').filter((line) => /^(?:# (?:HELP|TYPE) )?cardea_/.test(line));
    assert.ok(ours.length > 50);
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: `${ours.join('\n')}\n`,
      encoding: 'utf8',
    });
    assert.equal(`${stdout}${stderr}`, '');
    assert.equal(status, 0);
  });
});

/** OpenMetrics 1.0: one block per family, its samples' names made from it by its type, no blank line, and an end. */
function checkOpenMetrics(body: string): void {
  assert.ok(body.endsWith('\n# EOF\n'));
  const seen = new Set<string>();
  let family = '';
  let suffixes: readonly string[] = [];
  for (const line of body.slice(0, -'# EOF\n'.length).trimEnd().split('\n')) {
    const [, help] = /^# HELP (\w+) (?:[^"\\]|\\[n"\\])*$/.exec(line) ?? [];
    const [, typed, type] = /^# TYPE (\w+) (counter|gauge|histogram)$/.exec(line) ?? [];
    if (help !== undefined) {
      assert.ok(!seen.has(help), `${help} stands twice`);
      seen.add(help);
      family = help;
    } else if (typed !== undefined) {
      assert.equal(typed, family, line);
      suffixes = type === 'counter' ? ['_total'] : type === 'gauge' ? [''] : ['_bucket', '_sum', '_count'];
      assert.ok(type !== 'counter' || !family.endsWith('_total'), line);
    } else {
      const [, name] =
        /^(\w+)(?:\{\w+="(?:[^"\\\n]|\\[n"\\])*"(?:,\w+="(?:[^"\\\n]|\\[n"\\])*")*\})? \S+$/.exec(line) ?? [];
      assert.ok(
        suffixes.some((suffix) => name === family + suffix),
        `${line} is no sample of ${family}`,
      );
    }
  }
}

describe('the log of a daemon', () => {
  scenario('tells of the exchange and the miss, and of hits nothing', MINUTE, async (world) => {
    await world.card();
    const [exchange] = world.logged('exchange');
    assert.equal(exchange?.['outcome'], 'stored');
    assert.deepEqual(exchange?.['addresses'], ['127.0.0.1']);
    const [miss] = world.logged('request');
    assert.equal(miss?.['result'], 'miss');
    assert.equal(miss?.['receipt'], exchange?.['receipt'], 'one leads to the other');
    const lines = world.log.length;
    await world.card();
    await metricsOf(world);
    assert.equal(world.log.length, lines);
  });

  scenario('tells of hits where that is wanted', { ...MINUTE, config: 'log: { hits: true }' }, async (world) => {
    await world.card();
    await world.card();
    assert.deepEqual(
      world.logged('request').map(({ result }) => result),
      ['miss', 'hit'],
    );
  });

  const SECRET = 'hunter2hunter2';
  const challenge = { 'WWW-Authenticate': `Bearer error="invalid_token", error_description="Bearer ${SECRET} is old"` };
  scenario('shows no secret of callers or origins', { origin: fails(401, challenge) }, async (world) => {
    const sent = {
      Authorization: `Bearer ${SECRET}`,
      Cookie: `sid=${SECRET}`,
      'X-Api-Key': SECRET,
      'Proxy-Authorization': `Basic ${SECRET}`,
    };
    for (const path of [
      CARD_PATH,
      '/agents/weather/v1/card',
      `/agents/none/?token=${SECRET}`,
      '/nowhere',
      '/origins/a',
    ])
      for (const query of ['', `?access_token=${SECRET}`]) await world.get(path + query, sent);
    await world.quiet();
    assert.ok(world.logged('exchange').length > 0 && world.logged('request').length > 0);
    assert.match(String(world.logged('exchange')[0]?.['why']), /It asks for credentials: Bearer error="invalid_token"/);
    for (const line of world.log) assert.ok(!line.includes(SECRET), line);
    assert.ok(!(await metricsOf(world)).body.includes(SECRET));
  });
});
