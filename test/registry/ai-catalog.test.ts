import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { urlId } from '../../src/kernel/ids.ts';
import { RegistryError } from '../../src/kernel/registry.ts';
import { readCatalog } from '../../src/registry/ai-catalog.ts';

const BASE = urlId('https://catalog.example.com/.well-known/ai-catalog.json');
const LIFECYCLE = 'https://ai-catalog.org/extensions/lifecycle';
const A2A = 'application/a2a-agent-card+json';
const PAY = 'urn:air:example.com:agents:pay';

interface Setting {
  readonly nested?: Readonly<Record<string, unknown>>;
  readonly ids?: readonly string[];
  readonly base?: typeof BASE | null;
}

const bytesOf = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

/** Reads a catalog whose nested ones are at hand by URL. */
function read(document: unknown, { nested = {}, ids = [PAY], base = BASE }: Setting = {}) {
  const open = async (url: string): Promise<Uint8Array | null> => {
    const found = nested[url];
    if (found === null) return null;
    if (found === undefined) throw new RegistryError(`${url} cannot be had`);
    return bytesOf(found);
  };
  const bytes = document instanceof Uint8Array ? document : bytesOf(document);
  return readCatalog(bytes, { base, identifiers: new Set(ids), open });
}

const catalog = (...entries: readonly object[]) => ({ specVersion: '1.0', entries });
const agent = (more: object = {}) => ({
  identifier: PAY,
  type: A2A,
  url: 'https://pay.example.com/card.json',
  ...more,
});
const withStatus = (status: unknown) => agent({ extensions: { [LIFECYCLE]: { status } } });
const inside = (more: object) => ({
  identifier: 'urn:air:example.com:catalog:in',
  type: 'application/ai-catalog+json',
  ...more,
});

describe('an entry', () => {
  test('is found by its identifier, with its URL; others are not looked at', async () => {
    const strangers = [{ identifier: 'urn:x', type: A2A, url: 'not a url' }, { type: 3 }, { identifier: null }];
    const found = await read(catalog(...strangers, agent()));
    assert.deepEqual(
      [...found],
      [[PAY, { status: 'approved', card: 'https://pay.example.com/card.json', said: 'listed' }]],
    );
  });

  for (const [type, isCard] of [
    [A2A, true],
    ['Application/A2A-Agent-Card+JSON; charset=utf-8', true],
    ['application/agent-card+json', true],
    ['application/mcp-server-card+json', false],
    ['', false],
  ] as const)
    test(`of the type ${JSON.stringify(type)} ${isCard ? 'is' : 'is not'} an agent's card`, async () => {
      assert.equal((await read(catalog(agent({ type })))).size, isCard ? 1 : 0);
    });

  test('may still name its type `mediaType`', async () => {
    const { type: mediaType, ...rest } = agent();
    assert.equal((await read(catalog({ ...rest, mediaType }))).get(PAY)?.status, 'approved');
  });

  for (const [url, card] of [
    ['/cards/pay.json', 'https://catalog.example.com/cards/pay.json'],
    ['https://pay.example.com/card.json#part', 'https://pay.example.com/card.json'],
    ['ftp://pay.example.com/card.json', null],
    ['https://user:secret@pay.example.com/card.json', null],
    ['', 'https://catalog.example.com/.well-known/ai-catalog.json'],
    [undefined, null],
  ] as const)
    test(`at ${JSON.stringify(url)} has its card at ${card}`, async () => {
      assert.equal((await read(catalog(agent({ url })))).get(PAY)?.card, card);
    });

  test('with the card in it and no URL is unknown: a card is fetched from where its agent is', async () => {
    const found = await read(catalog({ identifier: PAY, type: A2A, data: { name: 'Pay' } }));
    assert.deepEqual(found.get(PAY)?.status, 'unknown');
  });
});

describe('a status', () => {
  for (const [word, status] of [
    ['active', 'approved'],
    ['approved', 'approved'],
    ['Stable ', 'approved'],
    ['preview', 'pending'],
    ['pending', 'pending'],
    ['deprecated', 'deprecated'],
    ['sunset', 'deprecated'],
    ['retired', 'retired'],
    ['revoked', 'revoked'],
    ['withdrawn', 'revoked'],
    ['quarantined', 'unknown'],
    ['', 'unknown'],
    [true, 'unknown'],
  ] as const)
    test(`${JSON.stringify(word)} is ${status}`, async () => {
      assert.equal((await read(catalog(withStatus(word)))).get(PAY)?.status, status);
    });

  test('of a catalog is that of everything in it, unless what is inside is stricter', async () => {
    const retired = inside({ extensions: { [LIFECYCLE]: { status: 'retired' } }, data: catalog(agent()) });
    assert.equal((await read(catalog(retired))).get(PAY)?.status, 'retired');
    const revoked = inside({
      extensions: { [LIFECYCLE]: { status: 'deprecated' } },
      data: catalog(withStatus('revoked')),
    });
    assert.equal((await read(catalog(revoked))).get(PAY)?.status, 'revoked');
  });

  test('that is revoked needs no URL', async () => {
    assert.equal((await read(catalog({ ...withStatus('revoked'), url: undefined }))).get(PAY)?.status, 'revoked');
  });
});

describe('of several versions', () => {
  const version = (number: string | undefined, more: object = {}) =>
    agent({ version: number, url: `https://pay.example.com/${number}.json`, ...more });
  for (const [versions, latest] of [
    [['1.0.0', '2.0.0'], '2.0.0'],
    [['2.0.0', '1.0.0'], '2.0.0'],
    [['1.10.0', '1.9.0'], '1.10.0'],
    [['2.0.0-rc.1', '2.0.0'], '2.0.0'],
    [['2.0.0-rc.2', '2.0.0-rc.10'], '2.0.0-rc.10'],
    [['2.0.0-alpha', '2.0.0-1'], '2.0.0-alpha'],
    [['v1.2', '1.1.9'], 'v1.2'],
  ] as const)
    test(`${versions.join(', ')} the latest is ${latest}`, async () => {
      const found = await read(catalog(...versions.map((each) => version(each))));
      assert.equal(found.get(PAY)?.card, `https://pay.example.com/${latest}.json`);
    });

  test('that are no semantic ones the one that changed last counts', async () => {
    const [may, june] = [{ updatedAt: '2026-05-01T00:00:00Z' }, { updatedAt: '2026-06-01T00:00:00Z' }];
    const found = await read(catalog(version('spring', june), version('autumn', may)));
    assert.equal(found.get(PAY)?.card, 'https://pay.example.com/spring.json');
  });

  test('two that nothing orders are at no known place', async () => {
    const found = await read(catalog(agent(), agent({ url: 'https://pay.example.net/card.json' })));
    const said = 'listed, in two entries that nothing orders';
    assert.deepEqual(found.get(PAY), { status: 'unknown', card: null, said });
  });

  for (const [what, other] of [
    ['at one place', {}],
    ['at two places', { url: 'https://pay.example.net/card.json' }],
    ['of one version', { version: '1.0.0' }],
    ['of versions that are no semantic ones', { version: 'spring' }],
    ['of one time', { updatedAt: '2026-05-01T00:00:00Z' }],
  ] as const)
    test(`two that nothing orders, ${what}, are revoked where one of them is`, async () => {
      const revoked = { ...withStatus('revoked'), ...other };
      const listed = agent(what === 'of versions that are no semantic ones' ? { version: 'autumn' } : other);
      for (const entries of [
        [revoked, listed],
        [listed, revoked],
      ])
        assert.equal((await read(catalog(...entries))).get(PAY)?.status, 'revoked');
    });

  for (const [what, dates] of [
    ['it has no time', [undefined, '2026-06-01T00:00:00Z']],
    ['its time cannot be read', ['yesterday', '2026-06-01T00:00:00Z']],
    ['the other has none', ['2026-05-01T00:00:00Z', undefined]],
  ] as const)
    test(`one that is revoked is not ordered before another where ${what}`, async () => {
      const [revoked, listed] = dates.map((updatedAt) => ({ updatedAt }));
      const found = await read(catalog(agent(listed), { ...withStatus('revoked'), ...revoked }));
      assert.equal(found.get(PAY)?.status, 'revoked');
    });

  test('a later one takes a revocation of an earlier one back', async () => {
    const entries = [{ ...withStatus('revoked'), version: '1.0.0' }, version('2.0.0')];
    assert.equal((await read(catalog(...entries))).get(PAY)?.status, 'approved');
  });
});

describe('nested catalogs', () => {
  test('are read inline and by URL, relative to where they are', async () => {
    const nested = { 'https://catalog.example.com/finance/all.json': catalog(agent({ url: 'pay.json' })) };
    const found = await read(catalog(inside({ url: '/finance/all.json' })), { nested });
    assert.equal(found.get(PAY)?.card, 'https://catalog.example.com/finance/pay.json');
    assert.equal((await read(catalog(inside({ data: catalog(agent()) })))).size, 1);
  });

  test('an entry that is a catalog stands for the card in it', async () => {
    const id = 'urn:air:example.com:agent:both';
    const both = {
      identifier: id,
      type: 'application/ai-catalog+json',
      data: catalog(agent({ identifier: `${id}:a2a` })),
    };
    assert.equal((await read(catalog(both), { ids: [id] })).get(id)?.card, 'https://pay.example.com/card.json');
  });

  const deep = (depth: number): object => (depth === 1 ? catalog(agent()) : catalog(inside({ data: deep(depth - 1) })));
  test('four deep are read, five are refused', async () => {
    assert.equal((await read(deep(4))).size, 1);
    await assert.rejects(read(deep(5)), /nested deeper than 4/);
  });

  test('that contain themselves are refused', async () => {
    const url = 'https://catalog.example.com/a.json';
    await assert.rejects(
      read(catalog(inside({ url })), { nested: { [url]: catalog(inside({ url })) } }),
      /contains itself/,
    );
    await assert.rejects(read(catalog(inside({ url: BASE }))), /contains itself/);
  });

  test('that cannot be had end the walk: what is missing may be a revocation', async () => {
    await assert.rejects(read(catalog(agent(), inside({ url: '/gone.json' }))), /gone\.json cannot be had/);
  });

  test('that no rule lets in are passed over', async () => {
    const url = 'https://elsewhere.example.net/catalog.json';
    const found = await read(catalog(inside({ url }), agent()), { nested: { [url]: null } });
    assert.equal(found.get(PAY)?.status, 'approved');
  });

  test('are bounded in number', async () => {
    const many = (count: number) =>
      catalog(...Array.from({ length: count }, () => inside({ data: catalog() })), agent());
    assert.equal((await read(many(63))).size, 1);
    await assert.rejects(read(many(64)), /more than 64/);
  });
});

describe('what is no catalog', () => {
  for (const [what, document, why] of [
    ['not UTF-8', new Uint8Array([0xff, 0xfe]), /not UTF-8/],
    ['no JSON', new TextEncoder().encode('<html>'), /no JSON: line 1, column 1/],
    ['a name twice', new TextEncoder().encode('{"specVersion":"1.0","entries":[],"entries":[]}'), /stands twice/],
    ['a list', [], /no JSON object/],
    ['no version', { entries: [] }, /no specVersion/],
    ['a later major version', { specVersion: '2.0', entries: [] }, /version "2\.0"/],
    ['entries that are no list', { specVersion: '1.0', entries: {} }, /no list/],
  ] as const)
    test(`${what} says why`, async () => {
      await assert.rejects(read(document), (error) => error instanceof RegistryError && why.test(error.message));
    });

  test('a later minor version is read', async () => {
    assert.equal((await read({ ...catalog(agent()), specVersion: '1.7' })).size, 1);
  });
});

test('whatever it is, reading it gives listings or says why', async () => {
  const entry = fc.oneof(
    fc.jsonValue(),
    fc.record(
      {
        identifier: fc.constant(PAY),
        type: fc.constant(A2A),
        url: fc.jsonValue(),
        version: fc.jsonValue(),
        extensions: fc.jsonValue(),
      },
      { requiredKeys: [] },
    ),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(entry), async (entries) => {
      try {
        for (const { card } of (await read({ specVersion: '1.0', entries })).values())
          assert.ok(card === null || /^https?:\/\//.test(card));
      } catch (error) {
        assert.ok(error instanceof RegistryError);
      }
    }),
    { numRuns: 300 },
  );
});
