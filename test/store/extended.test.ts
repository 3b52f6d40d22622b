import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { ExtendedEntry } from '../../src/kernel/extended-entry.ts';
import { agentName, cardDigest, policyDigest, receiptId, tag } from '../../src/kernel/ids.ts';
import { plainPrincipal } from '../../src/kernel/principal.ts';
import { bytes, epochMs, ms } from '../../src/kernel/units.ts';
import { partitionKey } from '../../src/discovery/partition.ts';
import type { ExtendedStore } from '../../src/ports/callers.ts';
import { createExtendedStore } from '../../src/store/extended.ts';
import { createKeyedHash } from '../../src/store/keyed-hash.ts';
import { strongEtag } from '../../src/http/answer.ts';
import { urlId } from '../../src/kernel/ids.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { RecordingObserver } from '../support/recording-observer.ts';

const hash = createKeyedHash(new Uint8Array(32));
const keyOf = (who: string, agent: string) =>
  partitionKey(
    {
      agent: agentName(agent),
      card: urlId(`https://${agent}.test/`),
      interfaceTenant: '',
      principal: plainPrincipal('opaque', who),
      shown: { by: 'caller', scheme: 'bearer', hash: who, verified: false },
      version: '1.0',
      extensions: '',
    },
    hash,
  );

function world(maxBytes = 1_048_576) {
  const clock = new FakeClock();
  const observer = new RecordingObserver();
  const store = createExtendedStore({ clock, observer, maxBytes: bytes(maxBytes) });
  return { clock, observer, store };
}

const entryFor = (store: ExtendedStore, who: string, agent = 'a', body = `{"for":"${who}"}`): ExtendedEntry => {
  const content = new TextEncoder().encode(body);
  return {
    partition: keyOf(who, agent),
    agent: agentName(agent),
    body: content,
    etag: strongEtag(content),
    fields: [],
    receivedAt: epochMs(0),
    initialAge: ms(0),
    lifetime: {
      fresh: ms(60_000),
      staleWhileRevalidate: ms(0),
      staleIfError: ms(0),
      validateAlways: false,
      mustRevalidate: false,
      immutable: false,
    },
    admission: {
      digest: cardDigest('0'),
      verdict: { signature: 'unsigned' },
      review: 'allowed',
      facts: { name: '', version: '', protocolVersion: '1.0', extended: false },
      policy: policyDigest('p'),
      receipt: receiptId('r'),
      at: epochMs(0),
      warnings: [],
    },
    until: epochMs(Number.POSITIVE_INFINITY),
    publicDigest: cardDigest('1'),
    generation: store.generation(),
    tags: [tag('all'), tag(`agent:${agent}`), tag(`principal:${who}`), tag('tenant:acme')],
  };
};

describe('the store of extended cards', () => {
  test('follows another size at once: what has no room goes, the least recently used first', () => {
    const { store, observer } = world();
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    for (const who of names) store.put(entryFor(store, who));
    store.get(keyOf('a', 'a'));
    const each = store.held().bytes / names.length;
    store.resize(bytes(each * 5 - 1));
    assert.deepEqual(
      names.filter((who) => store.get(keyOf(who, 'a')) !== undefined),
      ['a', 'f', 'g', 'h'],
    );
    assert.deepEqual(store.held(), { entries: 4, bytes: each * 4, principals: 4 });
    assert.equal(observer.events.filter(({ kind }) => kind === 'evicted').length, 4);
    assert.equal(store.purge([tag('principal:b')], false), 0);
    assert.equal(store.purge([tag('principal:f')], false), 1);
    store.resize(bytes(each - 1));
    assert.deepEqual(store.held(), { entries: 0, bytes: 0, principals: 0 });
    assert.equal(store.put(entryFor(store, 'z')), false);
    store.resize(bytes(each * 8));
    assert.equal(store.put(entryFor(store, 'z')), true);
  });
  test('gives each partition its own, and equal bytes once', () => {
    const { store } = world();
    for (const who of ['x', 'y']) store.put(entryFor(store, who, 'a', '{"same":true}'));
    const [one, other] = ['x', 'y'].map((who) => store.get(keyOf(who, 'a')));
    assert.ok(one !== undefined && other !== undefined && one !== other);
    assert.equal(one.body, other.body);
    assert.deepEqual(store.held(), { entries: 2, bytes: 2 * (2_048 + 13), principals: 2 });
    store.drop(one);
    assert.ok(store.get(keyOf('y', 'a')) !== undefined);
    assert.equal(store.held().principals, 1);
  });
  test('a purge takes what carries the tag and nothing else, and bars what was on its way', () => {
    const { store, observer } = world();
    const late = entryFor(store, 'x', 'b');
    for (const who of ['x', 'y']) store.put(entryFor(store, who));
    assert.equal(store.purge([tag('principal:x')], false), 1);
    assert.equal(store.get(keyOf('x', 'a')), undefined);
    assert.ok(store.get(keyOf('y', 'a')) !== undefined);
    assert.equal(store.put(late), false);
    assert.equal(store.put(entryFor(store, 'x', 'b')), true);
    assert.equal(store.purge([tag('all')], false), 2);
    assert.deepEqual(store.held(), { entries: 0, bytes: 0, principals: 0 });
    assert.equal(observer.events.filter(({ kind }) => kind === 'evicted').length, 3);
  });
  test('a soft purge makes stale what is there, and what was on its way', () => {
    const { store, clock } = world();
    const late = entryFor(store, 'y');
    store.put(entryFor(store, 'x'));
    store.purge([tag('agent:a')], true);
    store.put(late);
    for (const who of ['x', 'y']) {
      const entry = store.get(keyOf(who, 'a'));
      assert.ok(entry !== undefined && entry.lifetime.fresh <= clock.now());
    }
  });
  test('room is made by dropping the least recently used, and one entry never takes it all', () => {
    const { store } = world(10 * 2_100);
    for (let index = 0; index < 12; index += 1) {
      store.put(entryFor(store, `p${index}`));
      store.get(keyOf('p0', 'a'));
    }
    assert.ok(store.held().entries <= 10);
    assert.ok(store.get(keyOf('p0', 'a')) !== undefined);
    assert.equal(store.get(keyOf('p1', 'a')), undefined);
    assert.equal(store.put(entryFor(store, 'big', 'a', 'x'.repeat(4_000))), false);
  });
  test('whatever happens, what is held is what was put and not taken away', () => {
    const who = fc.constantFrom('x', 'y', 'z');
    const agent = fc.constantFrom('a', 'b');
    const step = fc.oneof(
      fc.record({ does: fc.constant('put' as const), who, agent }),
      fc.record({ does: fc.constant('purge' as const), who, agent }),
      fc.record({ does: fc.constant('drop' as const), who, agent }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const { store } = world();
        const model = new Map<string, string>();
        for (const { does, who: name, agent: of } of steps) {
          const key = keyOf(name, of);
          const held = store.get(key);
          if (does === 'put') {
            store.put(entryFor(store, name, of));
            model.set(key, name);
          } else if (does === 'purge') {
            store.purge([tag(`principal:${name}`)], false);
            for (const each of ['a', 'b']) model.delete(keyOf(name, each));
          } else if (held !== undefined) {
            store.drop(held);
            model.delete(key);
          }
        }
        for (const name of ['x', 'y', 'z'])
          for (const each of ['a', 'b']) {
            const entry = store.get(keyOf(name, each));
            assert.equal(entry === undefined, !model.has(keyOf(name, each)));
            if (entry !== undefined) assert.equal(new TextDecoder().decode(entry.body), `{"for":"${name}"}`);
          }
        assert.equal(store.held().entries, model.size);
        assert.equal(store.held().principals, new Set(model.values()).size);
      }),
    );
  });
});
