import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { pair, signed } from '../card/signer.ts';
import { CARD, OTHER_CARD, World, type WorldOptions, answers, breaks } from '../support/world.ts';

/** Cases of the HTTP attack table about what lies on the disk between two starts, with every origin down at the second. */

const key = await pair('one');
const genuine = JSON.stringify(await signed(JSON.parse(CARD) as Record<string, unknown>, key));
const config = `keys: { own: { inline: '{ "keys": [${JSON.stringify(key.publicJwk)}] }' } }`;
const SIGNED: WorldOptions = { config, agent: 'keys: [own], signature: require' };

/** Fetches the card, changes the row, starts again and asks. */
async function afterChange(change: (db: DatabaseSync) => void) {
  const state = mkdtempSync(path.join(tmpdir(), 'cardea-tampered-'));
  try {
    const first = await World.start({ ...SIGNED, state, origin: answers(genuine, { 'Cache-Control': 'max-age=600' }) });
    assert.match(String((await first.card()).headers['card-status']), /^verified/);
    const { port } = first.origin;
    await first.stop();
    const db = new DatabaseSync(path.join(state, 'cards.db'));
    change(db);
    db.close();
    const second = await World.start({ ...SIGNED, state, port, origin: breaks });
    const got = await second.card();
    await second.stop();
    return got;
  } finally {
    rmSync(state, { recursive: true });
  }
}

const setHead = (write: (head: Record<string, unknown>) => unknown) => (db: DatabaseSync) => {
  const [row] = db.prepare('select head from cards').all();
  const parsed = JSON.parse(String(row?.['head'])) as { head: Record<string, unknown> };
  db.prepare('update cards set head = ?').run(JSON.stringify({ ...parsed, head: write(parsed.head) }));
};

test('untouched, it is served', async () => {
  const got = await afterChange(() => undefined);
  assert.deepEqual([got.status, got.body], [200, genuine]);
});

test('HTTP-CACHE-29 verification state is bound to bytes', async () => {
  const forged = genuine.replace('Tells the weather.', 'Sells the weather.');
  for (const body of [forged, OTHER_CARD, genuine.slice(0, -1), '']) {
    const got = await afterChange((db) => void db.prepare('update cards set body = ?').run(Buffer.from(body)));
    assert.ok(got.status >= 500, `${got.status} ${got.body}`);
    assert.ok(!String(got.headers['card-status']).startsWith('verified'));
  }
});

test('HTTP-CACHE-31 store deserialisation', async () => {
  const changes: Readonly<Record<string, (db: DatabaseSync) => void>> = {
    'no text of JSON': (db) => void db.prepare('update cards set head = ?').run('{"format":1,"head":{'),
    __proto__: (db) => void db.prepare('update cards set head = ?').run('{"__proto__":{"format":1},"head":{}}'),
    'another format': (db) => void db.prepare('update cards set head = ?').run('{"format":2,"head":{}}'),
    'wrong types': setHead((head) => ({ ...head, fields: 'x', tags: {} })),
    'a lifetime of no length': setHead((head) => ({ ...head, lifetime: { fresh: '1e999' } })),
    'a tag that is no text': setHead((head) => ({ ...head, tags: [{}] })),
    'a huge body': (db) => void db.prepare('update cards set body = ?').run(Buffer.alloc(8 * 1024 * 1024, 0x20)),
  };
  for (const [what, change] of Object.entries(changes)) {
    const got = await afterChange(change);
    assert.deepEqual([got.status, got.code], [502, 'origin-unreachable'], `${what}: ${got.body}`);
  }
});
