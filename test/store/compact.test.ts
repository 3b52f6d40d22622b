import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { collectGarbage } from '../../src/daemon/garbage.ts';
import type { Entry } from '../../src/kernel/entry.ts';
import { type EntryKey, tag, urlId } from '../../src/kernel/ids.ts';
import { compactEntry } from '../../src/store/compact.ts';
import { ADMISSION, entryOf } from '../support/entries.ts';

describe('an entry does not keep a long text of which it has', () => {
  const heap = (): number => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const cases: Readonly<Record<string, (part: string) => Partial<Entry>>> = {
    'its key': (part) => ({ key: part as EntryKey }),
    'its URL': (part) => ({ url: urlId(part) }),
    'a field': (part) => ({ fields: ['Server', part] }),
    'a tag': (part) => ({ tags: [tag(`kid:${part}`)] }),
    'the name in a card': (part) => ({ admission: { ...ADMISSION, facts: { ...ADMISSION.facts, name: part } } }),
    'a place in a card': (part) => ({
      admission: { ...ADMISSION, verdict: { ...ADMISSION.verdict, dropped: [part] } },
    }),
  };
  for (const [what, entryWith] of Object.entries(cases))
    test(what, () => {
      const before = heap();
      const kept = Array.from({ length: 100 }, (_, at) => {
        const text = `https://agents.example/${String(at).padStart(9, '0')}${'x'.repeat(200_000)}`;
        return compactEntry(entryOf(`agent-${at}`, entryWith(text.slice(0, 32))));
      });
      const taken = (heap() - before) / kept.length;
      assert.ok(taken < 50_000, `${taken} bytes an entry`);
    });
});

test('it says the same, with the same bytes', () => {
  const coded = [{ coding: 'br' as const, body: new Uint8Array(64).subarray(8, 16), etag: '"coded"' }];
  const entry = { ...entryOf('weather', { body: new Uint8Array(64).subarray(1, 9).fill(7) }), coded };
  assert.deepEqual(compactEntry(entry), entry);
});
