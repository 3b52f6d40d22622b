import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collectGarbage } from '../../src/daemon/garbage.ts';
import { urlId } from '../../src/kernel/ids.ts';
import { compactEntry } from '../../src/store/compact.ts';
import { entryOf } from '../support/entries.ts';

test('an entry with a text that was cut out of a long one does not keep the long one', () => {
  const heap = (): number => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const before = heap();
  const kept = Array.from({ length: 100 }, (_, at) => {
    const text = `https://agents.example/${String(at).padStart(9, '0')}${'x'.repeat(200_000)}`;
    return compactEntry({ ...entryOf(`agent-${at}`), url: urlId(text.slice(0, 32)) });
  });
  const taken = (heap() - before) / kept.length;
  assert.ok(taken < 50_000, `${taken} bytes an entry`);
});

test('it says the same, with the same bytes', () => {
  const coded = [{ coding: 'br' as const, body: new Uint8Array(64).subarray(8, 16), etag: '"coded"' }];
  const entry = { ...entryOf('weather', { body: new Uint8Array(64).subarray(1, 9).fill(7) }), coded };
  assert.deepEqual(compactEntry(entry), entry);
});
