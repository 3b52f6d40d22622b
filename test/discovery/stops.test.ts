import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createStops } from '../../src/discovery/stops.ts';
import { tag } from '../../src/kernel/ids.ts';

const WEATHER = [tag('all'), tag('agent:weather')];

describe('what ends work that is on its way', () => {
  const cases: readonly (readonly [
    name: string,
    end: (stops: ReturnType<typeof createStops>) => void,
    ended: boolean,
  ])[] = [
    ['a kill of one of its tags', (stops) => stops.stop(tag('agent:weather')), true],
    ['a kill of everything', (stops) => stops.stop(tag('all')), true],
    ['a kill of something else', (stops) => stops.stop(tag('agent:planner')), false],
    ['an agent that is another now', (stops) => stops.endWatched(tag('agent:weather')), true],
    ['another agent that is another now', (stops) => stops.endWatched(tag('agent:planner')), false],
    ['settings that are others, of an agent that is the same', (stops) => stops.end(WEATHER), false],
  ];
  for (const [name, end, ended] of cases) {
    test(`${name}: a stream ${ended ? 'ends' : 'goes on'}`, () => {
      const stops = createStops(new AbortController().signal);
      const { signal } = stops.watch(WEATHER);
      end(stops);
      assert.equal(signal.aborted, ended);
    });
  }

  test('the end of the daemon ends all of it', () => {
    const stopping = new AbortController();
    const stops = createStops(stopping.signal);
    const [watched, shared] = [stops.watch(WEATHER), stops.signal(WEATHER)];
    stopping.abort();
    assert.deepEqual([watched.signal.aborted, shared.aborted], [true, true]);
  });

  test('what begins after the end of the daemon is ended at once', () => {
    const why = new Error('over');
    const stops = createStops(AbortSignal.abort(why));
    const [watched, shared] = [stops.watch(WEATHER), stops.signal(WEATHER)];
    assert.deepEqual([watched.signal.reason, shared.reason], [why, why]);
  });

  test('work that is over is let go', () => {
    const stops = createStops(new AbortController().signal);
    const watched = stops.watch(WEATHER);
    watched.forget();
    stops.stop(tag('all'));
    assert.equal(watched.signal.aborted, false);
  });
});
