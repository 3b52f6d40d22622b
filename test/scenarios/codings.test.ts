import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import http2 from 'node:http2';
import os from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { ANY_ORIGIN, anyOriginUrl, scenario } from '../support/scenario.ts';
import { CARD, CARD_PATH, type Got, OTHER_CARD, World, type WorldOptions, answers, breaks } from '../support/world.ts';

const MINUTE = { origin: answers(CARD, { 'Cache-Control': 'max-age=60', ETag: '"one"' }) };
const FORMS = ['br', 'gzip', 'identity'] as const;

const decoded = ({ headers, bytes }: Got): string => {
  const coding = headers['content-encoding'];
  if (coding === undefined) return bytes.toString();
  return (coding === 'br' ? brotliDecompressSync(bytes) : gunzipSync(bytes)).toString();
};

const accepting = (coding: string) => ({ 'Accept-Encoding': coding });

describe('a card in each content coding', () => {
  scenario('the first answer already, and every one after it', MINUTE, async (world) => {
    for (const coding of [...FORMS, ...FORMS]) {
      const got = await world.card(accepting(coding));
      assert.equal(got.headers['content-encoding'], coding === 'identity' ? undefined : coding);
      assert.equal(decoded(got), CARD);
      assert.equal(got.headers['content-length'], String(got.bytes.byteLength));
      assert.equal(got.headers.vary, 'A2A-Version, Accept-Encoding');
    }
    assert.equal(world.origin.asked.length, 1);
  });

  scenario('made when the first caller asks, and once for all of them', MINUTE, async (world) => {
    const bytes = (): Promise<string | undefined> => world.metric(/^cardea_cache_bytes\{kind="public"/);
    await world.card();
    const plain = await bytes();
    for (const headers of [{}, accepting('identity'), accepting('br;q=0, gzip;q=0')]) await world.card(headers);
    assert.equal(await bytes(), plain);
    const together = await Promise.all(FORMS.map((coding) => world.card(accepting(coding))));
    assert.deepEqual(
      together.map(({ headers }) => headers['content-encoding']),
      ['br', 'gzip', undefined],
    );
    const coded = await bytes();
    assert.notEqual(coded, plain);
    for (const coding of FORMS) await world.card(accepting(coding));
    assert.equal(await bytes(), coded);
    assert.equal((await world.metric(/^cardea_cache_evictions_total\{reason="replaced"/))?.endsWith(' 0'), true);
  });

  scenario('tag and digest are of the bytes that travel', MINUTE, async (world) => {
    const tags = new Set<string>();
    for (const coding of FORMS) {
      const { headers, bytes } = await world.card(accepting(coding));
      const sha256 = createHash('sha256').update(bytes).digest('base64');
      assert.equal(headers['repr-digest'], `sha-256=:${sha256}:`);
      assert.match(headers.etag ?? '', /^"/, 'a strong tag');
      tags.add(headers.etag ?? '');
    }
    assert.equal(tags.size, FORMS.length);
  });

  scenario('HEAD says what GET says', MINUTE, async (world) => {
    for (const coding of FORMS) {
      const got = await world.card(accepting(coding));
      const head = await world.card(accepting(coding), 'HEAD');
      assert.equal(head.bytes.byteLength, 0);
      for (const name of ['content-encoding', 'content-length', 'etag', 'repr-digest', 'vary', 'content-type'])
        assert.equal(head.headers[name], got.headers[name], name);
    }
  });

  scenario('a tag confirms the form that it is of, and no other', MINUTE, async (world) => {
    const tags = new Map<string, string>();
    for (const coding of FORMS) tags.set(coding, (await world.card(accepting(coding))).headers.etag ?? '');
    for (const asked of FORMS) {
      for (const held of FORMS) {
        const got = await world.card({ ...accepting(asked), 'If-None-Match': tags.get(held) ?? '' });
        assert.equal(got.status, asked === held ? 304 : 200, `${held}'s tag for ${asked}`);
        if (got.status !== 304) continue;
        assert.equal(got.headers.etag, tags.get(held));
        assert.equal(got.headers.vary, 'A2A-Version, Accept-Encoding');
        assert.equal(got.headers['content-encoding'], undefined);
        assert.equal(got.headers['content-length'], undefined);
      }
      const all = await world.card({ ...accepting(asked), 'If-None-Match': [...tags.values()].join(', ') });
      assert.equal(all.status, 304);
      assert.equal(all.headers.etag, tags.get(asked));
    }
  });

  scenario('without the field, and where it is empty, the plain bytes', MINUTE, async (world) => {
    for (const headers of [{}, accepting('')]) {
      const got = await world.card(headers);
      assert.equal(got.headers['content-encoding'], undefined);
      assert.equal(got.body, CARD);
    }
  });

  scenario('nothing acceptable is a 406 that names what there is', MINUTE, async (world) => {
    for (const field of ['identity;q=0', '*;q=0', 'zstd, identity;q=0']) {
      const got = await world.card(accepting(field));
      assert.equal(got.status, 406, field);
      assert.match(got.body, /identity, (br, gzip|gzip, br)/);
      assert.match(String(got.headers.vary), /Accept-Encoding/);
    }
  });

  scenario('on HTTP/2 as well', MINUTE, async (world) => {
    const client = http2.connect(world.base);
    try {
      const stream = client.request({ ':path': CARD_PATH, 'accept-encoding': 'gzip' });
      const head = new Promise<http2.IncomingHttpHeaders>((resolve) => void stream.once('response', resolve));
      const chunks: Buffer[] = [];
      for await (const chunk of stream) chunks.push(Buffer.from(chunk as Uint8Array));
      assert.equal((await head)['content-encoding'], 'gzip');
      assert.equal(gunzipSync(Buffer.concat(chunks)).toString(), CARD);
    } finally {
      client.destroy();
    }
  });
});

describe('what the forms are made of', () => {
  const coded: WorldOptions = {
    origin: (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip', ETag: '"coded"' });
      response.end(gzipSync(CARD, { level: 1 }));
    },
  };
  scenario('the judged bytes, whatever coding the origin used', coded, async (world) => {
    for (const coding of FORMS) assert.equal(decoded(await world.card(accepting(coding))), CARD);
    assert.equal((await world.card()).body, CARD);
    assert.equal(world.origin.asked.length, 1);
  });

  scenario('a confirmed card keeps its forms, another card gets its own', MINUTE, async (world) => {
    const first = await world.card(accepting('br'));
    await world.clock.advance(61_000);
    world.says((_request, response) => void response.writeHead(304, { ETag: '"one"' }).end());
    const confirmed = await world.card(accepting('br'));
    await world.quiet();
    assert.equal(confirmed.headers.etag, first.headers.etag);
    assert.deepEqual(confirmed.bytes, first.bytes);
    await world.clock.advance(120_000);
    world.says(answers(OTHER_CARD, { 'Cache-Control': 'max-age=60' }));
    await world.card(accepting('br'));
    await world.quiet();
    const other = await world.card(accepting('br'));
    assert.equal(decoded(other), OTHER_CARD);
    assert.notEqual(other.headers.etag, first.headers.etag);
  });

  scenario(
    'a card that may not be stored is not coded for one request',
    { origin: answers(CARD, { 'Cache-Control': 'no-store' }) },
    async (world) => {
      const got = await world.card(accepting('gzip, br'));
      assert.equal(got.headers['content-encoding'], undefined);
      assert.equal(got.body, CARD);
      assert.equal(got.headers.vary, 'A2A-Version, Accept-Encoding');
    },
  );

  scenario('their bytes are counted in the store', MINUTE, async (world) => {
    const bytes = async (): Promise<number> =>
      Number(/ (\d+)$/.exec((await world.metric(/^cardea_cache_bytes\{kind="public"/)) ?? '')?.[1]);
    await world.card();
    const lengths = await Promise.all(FORMS.map(async (form) => (await world.card(accepting(form))).bytes.byteLength));
    assert.ok((await bytes()) >= lengths.reduce((sum, length) => sum + length, 0) + 1_536);
  });
});

test('after a restart the forms are the same, tags and all', async () => {
  const state = fs.mkdtempSync(path.join(os.tmpdir(), 'cardea-codings-'));
  const [first, second] = [new Map<string, Got>(), new Map<string, Got>()];
  let port = 0;
  for (const got of [first, second]) {
    const world = await World.start({ ...(got === first ? MINUTE : { origin: breaks }), state, port });
    ({ port } = world.origin);
    try {
      for (const coding of FORMS) got.set(coding, await world.card(accepting(coding)));
    } finally {
      await world.stop();
    }
  }
  for (const coding of FORMS) {
    assert.equal(second.get(coding)?.status, 200, coding);
    assert.equal(second.get(coding)?.headers.etag, first.get(coding)?.headers.etag);
    assert.deepEqual(second.get(coding)?.bytes, first.get(coding)?.bytes);
  }
});

const any = (origin: WorldOptions['origin']): WorldOptions => ({
  ...(origin === undefined ? {} : { origin }),
  config: ANY_ORIGIN,
});

scenario(
  'codings of an origin with content: any are its own business',
  any((_request, response) => {
    response.writeHead(200, { 'Content-Encoding': 'gzip', ETag: 'W/"theirs"', 'Cache-Control': 'max-age=60' });
    response.end(gzipSync('text'));
  }),
  async (world) => {
    for (const result of [/fwd=uri-miss/, /; hit;/]) {
      const got = await world.get(`${anyOriginUrl(world)}/page`, accepting('identity;q=0, br'));
      assert.equal(got.status, 200);
      assert.equal(got.headers['content-encoding'], 'gzip');
      assert.equal(got.headers.etag, 'W/"theirs"');
      assert.equal(got.headers.vary, undefined);
      assert.match(String(got.headers['cache-status']), result);
    }
  },
);
