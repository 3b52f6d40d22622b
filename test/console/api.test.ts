import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createApi } from '../../console/api.js';

const KEY = 'cardea-console-key';

/** The door of one tab: what is stored is every tab's. */
function door(answers: () => number | Promise<number>, stored = new Map([[KEY, 'one']])) {
  const told: { ended: number; readonly keys: (string | null)[] } = { ended: 0, keys: [] };
  const api = createApi({
    fetch: async (_path, init) => {
      told.keys.push(new Headers(init?.headers).get(KEY));
      const status = await answers();
      await turn();
      init?.signal?.throwIfAborted();
      return new Response('{"key":"next"}', { status });
    },
    storage: {
      getItem: (name) => stored.get(name) ?? null,
      setItem: (name, value) => void stored.set(name, value),
      removeItem: (name) => void stored.delete(name),
    },
    now: () => 0,
    ended: () => {
      told.ended += 1;
    },
  });
  return { api, stored, told };
}

describe('a session that is over', () => {
  test('by the daemon: the key goes, and the page is told', async () => {
    const { api, stored, told } = door(() => 401);
    await api.get('/agents', 'page');
    assert.deepEqual([stored.size, told.ended], [0, 1]);
  });
  test('by another tab that signed out, which took the key: the page is told', async () => {
    const { api, told } = door(() => 401, new Map());
    await api.get('/agents', 'page');
    assert.equal(told.ended, 1);
  });
  test('and was replaced in another tab meanwhile: the newer key stays', async () => {
    const stored = new Map([[KEY, 'one']]);
    const { api, told } = door(() => (stored.set(KEY, 'two'), 401), stored);
    await api.get('/agents', 'page');
    assert.deepEqual([stored.get(KEY), told.ended], ['two', 0]);
  });
  test('by whoever signs out: the key goes at once, and what was being read with it tells of no end', async () => {
    const { api, stored, told } = door(() => 401);
    const read = api.get('/agents', 'page');
    api.signOut();
    assert.equal(stored.size, 0);
    const reply = await read;
    assert.ok(!reply.ok && reply.problem.code === 'unreachable', 'what comes of it is not looked at');
    assert.deepEqual(told, { ended: 0, keys: ['one', 'one'] });
  });
  test('has ended before the next one begins: its cookie goes with it', async () => {
    const leaving = Promise.withResolvers<number>();
    const answers = [leaving.promise, 200];
    const { api, stored, told } = door(() => answers.shift() ?? 500);
    api.signOut();
    const coming = api.signIn({ code: 'fresh' });
    await turn();
    assert.deepEqual(told.keys, ['one']);
    leaving.resolve(200);
    assert.equal((await coming).ok, true);
    assert.deepEqual([told.keys, stored.get(KEY)], [['one', null], 'next']);
  });
  test('is not known by a sign-in that fails', async () => {
    const { api, stored, told } = door(() => 401);
    await api.signIn({ code: 'used' });
    assert.deepEqual([stored.get(KEY), told.ended], ['one', 0]);
  });
});
