import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { exchange } from '../store/ledger-world.ts';
import { AdminWorld } from './admin-world.ts';

const text = ({ value }: IteratorResult<Uint8Array, undefined>): string =>
  value === undefined ? '' : new TextDecoder().decode(value);

describe('the events that are watched', () => {
  test('are receipts, notices and requests that are no plain hits', async () => {
    const world = new AdminWorld();
    const stream = await world.stream('/events', new AbortController().signal);
    assert.equal(text(await stream.next()), ': cardea\n\n');
    world.feed.record({ kind: 'receipt', receipt: exchange('r-1') });
    world.feed.record({ kind: 'notice', level: 'debug', msg: 'quiet' });
    world.feed.record({ kind: 'notice', level: 'warn', msg: 'two\nlines' });
    world.feed.record({ kind: 'evicted', reason: 'size', count: 1, bytes: 1 as never });
    const blocks = text(await stream.next()).split('\n\n');
    assert.equal(blocks.length, 3);
    assert.match(blocks[0] ?? '', /^event: receipt\ndata: \{"kind":"exchange","id":"r-1"/);
    assert.equal(blocks[1], 'event: notice\ndata: {"level":"warn","msg":"two\\nlines"}');
  });

  test('end with their watcher, even while it waits', async () => {
    const world = new AdminWorld();
    const controller = new AbortController();
    const stream = await world.stream('/events', controller.signal);
    await stream.next();
    const waiting = stream.next();
    controller.abort();
    assert.equal((await waiting).done, true);
    assert.equal(world.clock.waiting, 0);
    const other = await world.stream('/events', new AbortController().signal);
    await other.next();
    const pending = other.next();
    await other.return?.();
    assert.equal((await pending).done, true);
  });

  test('end when the feed closes, and none begin after it', async () => {
    const world = new AdminWorld();
    const stream = await world.stream('/events', new AbortController().signal);
    world.feed.close();
    assert.equal((await stream.next()).done, true);
    assert.equal((await world.ask('/events')).status, 503);
  });

  test('are lost to a watcher that is slow, which is told', async () => {
    const world = new AdminWorld();
    const stream = await world.stream('/events', new AbortController().signal);
    for (let n = 0; n < 300; n += 1) world.feed.record({ kind: 'notice', level: 'info', msg: `n-${n}` });
    const got = text(await stream.next());
    assert.match(got, /^event: lost\ndata: \{"count":45\}\n\n/);
    assert.equal(got.split('\n\n').length, 1 + 256 + 1);
    assert.match(got, /n-299/);
  });

  test('have a heartbeat', async () => {
    const world = new AdminWorld();
    const stream = await world.stream('/events', new AbortController().signal);
    await stream.next();
    await world.clock.advance(15_000);
    assert.equal(text(await stream.next()), ': still here\n\n');
  });

  test('have 16 watchers at most, and a HEAD is none', async () => {
    const world = new AdminWorld();
    const { signal } = new AbortController();
    for (let n = 0; n < 16; n += 1) await world.stream('/events', signal);
    assert.equal((await world.ask('/events')).status, 503);
    assert.equal((await world.ask('/events', { method: 'HEAD' })).status, 200);
  });
});
