import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Event } from '../../src/kernel/event.ts';
import { FAULTS, type FaultCode } from '../../src/kernel/faults.ts';
import { agentName, cardDigest, policyDigest, receiptId, urlId, variantKey } from '../../src/kernel/ids.ts';
import { REQUEST_RESULTS } from '../../src/kernel/outcome.ts';
import type { Receipt } from '../../src/kernel/receipt.ts';
import { bytes, epochMs } from '../../src/kernel/units.ts';
import { type LogOptions, createLog } from '../../src/observe/log.ts';
import { WEATHER, exchange, exchanged, requested } from '../support/events.ts';

type Line = Readonly<Record<string, unknown>>;

/** The raw lines of some events. */
function linesOf(events: readonly Event[], options: Partial<LogOptions> = {}): readonly string[] {
  const lines: string[] = [];
  const log = createLog({
    now: () => epochMs(1_790_000_000_000),
    level: 'debug',
    hits: false,
    destination: { write: (line) => lines.push(line) },
    ...options,
  });
  for (const event of events) log.record(event);
  return lines;
}

function lineOf(event: Event): Line {
  const [line = '{}', ...more] = linesOf([event]);
  assert.equal(more.length, 0);
  return JSON.parse(line) as Line;
}

const MADE = { id: receiptId('r-2'), at: epochMs(1_800_000_000_000) } as const;
const DIGEST = cardDigest('ab'.repeat(32));
const SIGNED = { signature: 'verified', kid: 'key-1', alg: 'ES256', keys: 'example', form: 'a2a-1.0' } as const;

/** One of each, with every member that it can have. */
const FULL: Readonly<Record<string, Event>> = {
  request: requested({
    result: 'denied',
    code: 'card-invalid',
    cache: 'cardea; hit; ttl=1',
    receipt: receiptId('r-1'),
  }),
  exchange: exchanged({
    trail: {
      requestedUrl: urlId('https://weather.example.com/a'),
      finalUrl: urlId('https://weather.example.com/b'),
      redirects: [urlId('https://weather.example.com/b')],
      addresses: ['203.0.113.7'],
      reused: false,
    },
    caching: { 'cache-control': 'max-age=60', etag: '"one"' },
    digest: DIGEST,
    interfaceUrl: 'https://weather.example.com/rpc',
    verdict: SIGNED,
    changes: ['skill-text'],
    warnings: ['skills[0].id: is empty'],
    policy: policyDigest('p-1'),
  }),
  verdict: told({
    ...MADE,
    kind: 'verdict',
    agent: WEATHER,
    variant: variantKey(''),
    digest: DIGEST,
    verdict: SIGNED,
    review: 'allowed',
    changes: [],
    outcome: 'accepted',
    code: null,
    why: null,
    policy: policyDigest('p-1'),
  }),
  review: told({
    ...MADE,
    kind: 'review',
    agent: WEATHER,
    digest: DIGEST,
    action: 'approve',
    reason: 'seen',
    by: 'admin',
  }),
  switch: told({ ...MADE, kind: 'switch', action: 'kill', kill: 'k-1', scope: 'all', reason: 'leak', by: 'signal' }),
  change: told({ ...MADE, kind: 'change', action: 'purge', about: ['agent:weather'], reason: 'old', by: 'socket' }),
  registry: told({
    ...MADE,
    kind: 'registry',
    agent: WEATHER,
    registry: 'catalog',
    entry: 'urn:air:example.com:agents:weather',
    status: 'revoked',
    action: 'block',
    said: 'withdrawn',
    url: urlId('https://weather.example.com/a'),
    code: 'origin-not-allowed',
    why: 'No rule allows it.',
  }),
  refusal: told({
    ...MADE,
    kind: 'refusal',
    agent: WEATHER,
    code: 'change-held',
    principal: 'h-1',
    tenant: 'h-2',
    count: 3,
  }),
  'receipts lost': { kind: 'receipts-lost', count: 2 },
  evicted: { kind: 'evicted', reason: 'size', count: 1, bytes: bytes(2_000) },
};

function told(receipt: Receipt): Event {
  return { kind: 'receipt', receipt };
}

describe('the page says what the lines say', () => {
  const page = readFileSync(new URL('../../docs/logs.md', import.meta.url), 'utf8');
  const sections = new Map(
    page.split(/^## /m).map((section) => {
      const [title = ''] = section.split('\n', 1);
      return [title, [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, member]) => member)];
    }),
  );
  for (const [msg, event] of Object.entries(FULL)) {
    test(msg, () => {
      const { level: _, time: __, ...line } = lineOf(event);
      assert.equal(line['msg'], msg);
      assert.deepEqual(
        sections.get(msg),
        Object.keys(line).filter((member) => member !== 'msg'),
      );
    });
  }
  test('and of nothing else', () => {
    assert.deepEqual([...sections.keys()].slice(1).toSorted(), [...Object.keys(FULL), 'Notices'].toSorted());
  });
});

describe('what is worth a line', () => {
  for (const result of REQUEST_RESULTS) {
    const silent = result === 'hit' || result === 'not_modified';
    test(`${result}: ${silent ? 'only with log.hits' : 'always'}`, () => {
      assert.equal(linesOf([requested({ result })]).length, silent ? 0 : 1);
      assert.equal(linesOf([requested({ result })], { hits: true }).length, 1);
    });
  }

  test('nothing below the level', () => {
    const events = Object.values(FULL);
    const levels = events.map((event) => lineOf(event)['level']);
    for (const [level, wanted] of [
      ['info', ['info', 'warn', 'error']],
      ['warn', ['warn', 'error']],
      ['error', ['error']],
    ] as const) {
      const shown = linesOf(events, { level }).map((line) => (JSON.parse(line) as Line)['level']);
      assert.deepEqual(
        shown,
        levels.filter((each) => wanted.some((one) => one === each)),
      );
    }
  });
});

describe('a line', () => {
  test('has the time at which the event was told of, whenever its line is made', () => {
    const lines: string[] = [];
    const makers: (() => void)[] = [];
    let now = 1_790_000_000_000;
    const destination = { write: (line: string) => lines.push(line), soon: (make: () => void) => makers.push(make) };
    const log = createLog({ level: 'info', hits: true, destination, now: () => epochMs(now) });
    log.record(requested({ result: 'hit' }));
    now += 1_000;
    log.record(requested({ result: 'hit' }));
    now += 1_000;
    assert.equal(lines.length, 0);
    for (const make of makers) make();
    const times = lines.map((line) => Date.parse(String((JSON.parse(line) as Line)['time'])));
    assert.deepEqual(times, [1_790_000_000_000, 1_790_000_001_000]);
  });

  test('breaks nothing where it cannot be written, whenever it is made', async () => {
    const warned: string[] = [];
    const collect = ({ message }: Error): void => void (message === 'log: no room' && warned.push(message));
    process.on('warning', collect);
    const makers: (() => void)[] = [];
    const destination = {
      write(): never {
        throw new Error('no room');
      },
      soon: (make: () => void) => makers.push(make),
    };
    const log = createLog({ level: 'info', hits: true, destination, now: () => epochMs(0) });
    for (let times = 0; times < 3; times += 1) log.record(requested({ result: 'hit' }));
    for (const make of makers) make();
    await turn();
    process.off('warning', collect);
    assert.deepEqual([makers.length, warned.length], [3, 1]);
  });

  test('is one line of JSON with level, time and msg, and nothing of the process', () => {
    const [line = ''] = linesOf([requested({ result: 'miss' })]);
    assert.match(line, /^\{"level":"info","time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z",.*"msg":"request"\}\n$/);
    assert.doesNotMatch(line, /"(?:pid|hostname)"/);
  });

  test('stays one line whatever others wrote', () => {
    const why = 'a\n{"level":"info","msg":"forged"}\r\n\u2028b';
    const [line = '', ...more] = linesOf([exchanged({ code: 'origin-status', why })]);
    assert.equal(more.length, 0);
    assert.equal(line.trimEnd().split(/[\n\r\u2028]/).length, 1);
  });

  for (const code of Object.keys(FAULTS) as FaultCode[]) {
    test(`${code} has the level of its fault`, () => {
      assert.equal(lineOf(requested({ result: 'denied', code }))['level'], FAULTS[code].level);
      assert.equal(lineOf(exchanged({ outcome: 'rejected', code }))['level'], FAULTS[code].level);
    });
  }

  test('a plain exchange leaves out what does not apply', () => {
    const line = lineOf(exchanged());
    for (const member of ['finalUrl', 'redirects', 'interface', 'kid', 'keys', 'form', 'warnings'])
      assert.ok(!(member in line), member);
  });

  test('lists are bounded', () => {
    const warnings = Array.from({ length: 40 }, (_, at) => `w${at}`);
    const shown = lineOf(exchanged({ warnings }))['warnings'] as readonly string[];
    assert.deepEqual(shown, [...warnings.slice(0, 32), '… 8 more']);
    assert.deepEqual(lineOf(exchanged({ warnings: warnings.slice(0, 32) }))['warnings'], warnings.slice(0, 32));
  });
});

describe('a secret reaches no line', () => {
  const SECRET = 'hunter2hunter2';
  const url = urlId(`https://user:${SECRET}@weather.example.com/card.json?key=${SECRET}#${SECRET}`);
  const why = `The origin answered 401. It asks for credentials: Bearer error_description="no ${SECRET}x", Bearer ${SECRET}.`;
  const cases: Readonly<Record<string, Event>> = {
    'in the URLs of an exchange': exchanged({
      trail: { ...exchange().trail, requestedUrl: url, finalUrl: urlId(`${url}2`), redirects: [url] },
      interfaceUrl: url,
    }),
    'in a challenge that throws a token back': exchanged({
      code: 'origin-status',
      why: why.replace(`no ${SECRET}x`, `no Bearer ${SECRET}`),
    }),
    'in a caching field': exchanged({ caching: { etag: `"token=${SECRET}"` } }),
    'in a version': exchanged({ version: `Bearer ${SECRET}` }),
    'in a warning': exchanged({ warnings: [`at ${url}`] }),
    'in a method': { ...requested({ result: 'denied' }), method: `TOKEN=${SECRET}` },
    'in what a notice is about': {
      kind: 'notice',
      level: 'error',
      msg: `a request broke at ${url}`,
      about: { error: `Error: at ${url}`, list: [`password=${SECRET}`], agent: agentName('weather') },
    },
    'in the reason of an order': told({
      ...MADE,
      kind: 'change',
      action: 'purge',
      about: [`origin:${url}`],
      reason: `password=${SECRET}`,
      by: 'admin',
    }),
  };
  for (const [name, event] of Object.entries(cases)) {
    test(name, () => {
      const text = linesOf([event]).join('');
      assert.ok(text.length > 0 && !text.includes(SECRET), text);
    });
  }
});
