import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Event } from '../../src/kernel/event.ts';
import { createObserver } from '../../src/observe/observer.ts';
import { requested } from '../support/events.ts';

const breaking = (message: string) => ({
  record(): never {
    throw new Error(message);
  },
});

function hears(): { readonly heard: Event[]; record(event: Event): void } {
  const heard: Event[] = [];
  return { heard, record: (event) => void heard.push(event) };
}

describe('the observer', () => {
  test('tells both of everything', () => {
    const [metrics, log] = [hears(), hears()];
    const event = requested();
    createObserver(metrics, log).record(event);
    assert.deepEqual([metrics.heard, log.heard], [[event], [event]]);
  });

  test('metrics that break keep nothing from the log, nor the log from metrics, and nobody who is observed', () => {
    const [metrics, log] = [hears(), hears()];
    createObserver(breaking('one'), log).record(requested());
    createObserver(metrics, breaking('two')).record(requested());
    assert.deepEqual([metrics.heard.length, log.heard.length], [1, 1]);
  });

  test('says once what broke', async () => {
    const told: string[] = [];
    const collect = ({ message }: Error): void => void (message === 'metrics: a third' && told.push(message));
    process.on('warning', collect);
    const observer = createObserver(breaking('a third'), hears());
    for (let times = 0; times < 10; times += 1) observer.record(requested());
    await turn();
    process.off('warning', collect);
    assert.equal(told.length, 1);
  });
});
