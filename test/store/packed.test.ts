import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { collectGarbage } from '../../src/daemon/garbage.ts';
import type { Entry } from '../../src/kernel/entry.ts';
import { type EntryKey, agentName, generation, tag, urlId, variantKey } from '../../src/kernel/ids.ts';
import { bytes, ms } from '../../src/kernel/units.ts';
import { entrySize } from '../../src/store/entry-size.ts';
import { createPack } from '../../src/store/packed.ts';
import type { Stored } from '../../src/store/stored.ts';
import { ADMISSION, cardOf, entryOf } from '../support/entries.ts';

const packed = (entry: Entry): Stored => createPack()(entry, entrySize(entry));
const body = (length: number): Uint8Array => new Uint8Array(length).map((_, at) => at % 251);

describe('a packed entry opens as it was', () => {
  const lifetime = { ...entryOf('a').lifetime, fresh: ms(7), immutable: true };
  const facts = { ...ADMISSION.facts, name: '天気 \u{1f326} \ud800', interfaceUrl: 'https://a.example/rpc' };
  const verdict = { signature: 'verified', kid: 'k', alg: 'ES256', keys: 'own', dropped: ['/x'] } as const;
  const coded = [{ coding: 'br' as const, body: body(10), etag: '"coded"' }];
  const cases: Readonly<Record<string, Entry>> = {
    'of an origin': entryOf('a', { body: body(100) }),
    'a card that has its URL for a name': cardOf('a', {
      agent: agentName('https://a.example.com/'),
      tags: [tag('all'), tag('agent:https://a.example.com/'), tag('agent:null')],
    }),
    'whose key ends in its URL': cardOf('a', { key: 'card\0a\0https://a.example.com/' as EntryKey }),
    'whose key ends in another URL': cardOf('a', { key: 'card\0a\0https://a.example.com/x' as EntryKey }),
    'whose key has no parts': cardOf('a', { key: 'https://a.example.com/' as EntryKey }),
    'of an origin, tagged as if it had a name': entryOf('a', { tags: [tag('agent:null'), tag('agent:x')] }),
    'a card': cardOf('a', { body: body(3_000), etag: '"e"' }),
    'with all that a card may say': cardOf('a', { admission: { ...ADMISSION, facts, verdict, warnings: ['odd'] } }),
    'of some callers, for how long': entryOf('a', { vary: ['accept'], variant: variantKey('accept="x"'), lifetime }),
    'without fields and bytes': entryOf('a', { fields: [], body: body(0), tags: [] }),
    'with another status and time': entryOf('a', { status: 404, initialAge: ms(5), generation: generation(3) }),
    'with a large body': entryOf('a', { body: body(9_000) }),
    'with fields of any size': entryOf('a', { fields: ['A', 'x'.repeat(300_000), 'A', ''] }),
    'with its coded forms': entryOf('a', { coded }),
  };
  for (const [what, entry] of Object.entries(cases))
    test(what, () => {
      const opened = packed(entry).open();
      assert.deepEqual(opened, entry);
      assert.deepEqual(Object.keys(opened).toSorted(), Object.keys(entry).toSorted());
    });
});

test('it knows what it was opened as, and no other does', () => {
  const pack = createPack();
  const [one, other] = [pack(cardOf('a'), bytes(1)), pack(cardOf('a'), bytes(1))];
  const [opened, again] = [one.open(), one.open()];
  assert.ok(one.is(opened) && one.is(again));
  assert.ok(!other.is(opened));
  assert.ok(!one.is(cardOf('a')));
});

test('what is alike is one thing for all that say it', () => {
  const pack = createPack();
  const [one, other] = [pack(cardOf('a'), bytes(1)), pack(cardOf('b'), bytes(1))];
  assert.equal(one.open().lifetime, other.open().lifetime);
  one.release();
  assert.deepEqual(other.open(), cardOf('b'));
});

test('it is found by its tags, and by its key and size at once', () => {
  const entry = cardOf('a');
  const { key, size, kind, variant, tags } = packed(entry);
  assert.deepEqual([key, size, kind, variant], [entry.key, entrySize(entry), 'public', entry.variant]);
  assert.deepEqual(tags, [tag('agent:a'), tag('origin:a.example.com')]);
});

describe('it takes', () => {
  /** Bytes of heap and beside it, for each of so many. */
  const taken = (count: number, make: (at: number) => Entry): number => {
    const memory = (): number => {
      collectGarbage();
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    const pack = createPack();
    const before = memory();
    const kept = Array.from({ length: count }, (_, at) => pack(make(at), bytes(1)));
    const bytesTaken = (memory() - before) / kept.length;
    assert.equal(kept.length, count);
    return bytesTaken;
  };

  test('little of a text that was cut out of a long one', () => {
    const size = taken(100, (at) => {
      const text = `https://agents.example/${String(at).padStart(9, '0')}${'x'.repeat(200_000)}`;
      return entryOf(`agent-${at}`, { url: urlId(text.slice(0, 32)), agent: agentName(text.slice(0, 30)) });
    });
    assert.ok(size < 10_000, `${size} bytes an entry`);
  });

  test('less than a third more than the body of a card', () => {
    const size = taken(5_000, (at) => cardOf(`agent-${at}`, { body: new Uint8Array(3_072) }));
    assert.ok(size < 3_072 * 1.3, `${size} bytes an entry`);
  });
});
