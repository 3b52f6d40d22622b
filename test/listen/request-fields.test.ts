import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import * as fc from 'fast-check';
import { Connection } from '../../src/listen/connection.ts';
import { FieldPlaces } from '../../src/listen/field-places.ts';
import { readField, tooLong, wrongNames } from '../../src/listen/request-fields.ts';
import { PREFACE, TYPE, frame, getLines, isAnswered, request } from '../support/http2-frames.ts';
import { type Listening, answer, ask2, listening } from '../support/listening.ts';

describe('fields as an Ask reads them', () => {
  let on: Listening;
  before(async () => {
    on = await listening(() => answer(200));
  });
  after(() => on.close());

  const lists = ['if-none-match', 'cache-control', 'if-modified-since', 'a2a-version', 'via', 'x-list'];
  for (const name of lists) {
    test(`all lines of ${name}, over each protocol`, async () => {
      const socket = await on.connect();
      await socket.send(`GET / HTTP/1.1\r\nHost: localhost\r\n${name}: one\r\n${name.toUpperCase()}: two\r\n\r\n`);
      await socket.responses(1);
      assert.equal(on.asks.at(-1)?.field(name), 'one, two');
      const asks = on.asks.length;
      const frames = await on.connect();
      // Node's own client sends no second line of some of these.
      const lines = [...getLines(), [name, 'one'], [name, 'two']] as const;
      await frames.send(Buffer.concat([Buffer.from(PREFACE), frame(TYPE.settings, 0, 0), request(1, lines)]));
      await frames.until(() => isAnswered(frames, 1));
      assert.equal(on.asks.length, asks + 1);
      assert.equal(on.asks.at(-1)?.field(name), 'one, two');
    });
  }

  test('cookies that HTTP/2 cut into crumbs are one again', async () => {
    await ask2(on.session(), { cookie: ['a=1', 'b=2', 'c=3'] });
    const ask = on.asks.at(-1);
    assert.equal(ask?.field('cookie'), 'a=1; b=2; c=3');
    assert.equal(ask?.fields.filter((each) => each === 'cookie').length, 1);
    assert.ok(ask?.fields.every((each) => !each.startsWith(':')));
  });

  test('names of Object.prototype are no fields', () => {
    for (const name of ['constructor', '__proto__', 'tostring'])
      assert.equal(readField(['Host', 'x'], name), undefined);
  });
});

describe('where fields stand, known from an earlier request', () => {
  const name = fc.constantFrom('Host', 'host', 'HOST', 'Accept', 'a2a-version', 'X_Y', 'constructor', '__proto__');
  const line = fc.tuple(name, fc.string({ maxLength: 4 })).map(([one, value]) => [one, value] as const);
  const headOf = fc.array(line, { maxLength: 6 }).map((lines) => lines.flat());
  const asked = ['host', 'accept', 'a2a-version', 'x_y', 'constructor', '__proto__', 'via'];

  test('every field reads as it does without', () => {
    fc.assert(
      fc.property(headOf, (fields) => {
        const places = new FieldPlaces(fields);
        assert.ok(places.fit(fields));
        for (const each of asked) assert.equal(places.read(fields, each), readField(fields, each));
        assert.deepEqual(places.wrong, wrongNames(fields));
      }),
    );
  });
  test('and so it does on a connection, whatever its requests before were', () => {
    fc.assert(
      fc.property(fc.array(headOf, { maxLength: 6 }), (requests) => {
        const connection = new Connection();
        for (const fields of requests) {
          const places = connection.placesOf(fields);
          for (const each of asked) assert.equal(places.read(fields, each), readField(fields, each));
          assert.deepEqual(places.wrong, wrongNames(fields));
        }
      }),
    );
  });
  const cases: readonly (readonly [name: string, fields: readonly string[], fits: boolean])[] = [
    ['the same names with other values', ['Host', 'b', 'Accept', 'c'], true],
    ['another case', ['host', 'a', 'Accept', '*'], false],
    ['another order', ['Accept', '*', 'Host', 'a'], false],
    ['one less', ['Host', 'a'], false],
    ['one more', ['Host', 'a', 'Accept', '*', 'Accept', '*'], false],
  ];
  const known = new FieldPlaces(['Host', 'a', 'Accept', '*']);
  for (const [title, fields, fits] of cases) test(title, () => assert.equal(known.fit(fields), fits));
});

const wrongFields = (fields: readonly string[]) => wrongNames(fields) ?? tooLong(fields, 100);

describe('what is wrong with fields', () => {
  const size = (bytes: number): string[] => ['x', 'a'.repeat(bytes - 1)];
  const cases: readonly (readonly [name: string, fields: readonly string[], status: number | undefined])[] = [
    ['nothing', ['Host', 'a', 'X', '1', 'X', '2'], undefined],
    ['Host twice', ['Host', 'a', 'HOST', 'a'], 400],
    ['Authorization twice', ['authorization', 'a', 'Authorization', 'a'], 400],
    ['Content-Type twice', ['content-type', 'a', 'content-type', 'b'], 400],
    ['as long as is allowed', size(100), undefined],
    ['a byte longer', size(101), 431],
  ];
  for (const [name, fields, status] of cases) {
    test(name, () => {
      const wrong = wrongFields(fields);
      assert.equal(wrong?.code, { 400: 'bad-request', 431: 'request-too-large' }[status ?? 0]);
      assert.equal(wrong?.status, status === 431 ? 431 : undefined);
    });
  }
  test('never throws, and never repeats a value', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('host', 'Authorization', 'content_length', 'x', '')), (names) => {
        const wrong = wrongFields(names.flatMap((name) => [name, 'hunter2']));
        assert.ok(wrong === undefined || !wrong.detail.includes('hunter2'));
      }),
    );
  });
});
