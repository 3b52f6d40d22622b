import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWireForms } from '../../src/listen/wire-forms.ts';
import { answer } from '../support/listening.ts';

const DATE = ['Date', 'Mon, 30 Nov 2026 10:00:00 GMT'];

test('the lines of a head that has its date are the same each time', () => {
  const form = createWireForms().of({ ...answer(200, 'ok', DATE), holds: () => true }, 'GET');
  assert.equal(form.lines(), form.lines());
});

test('a date that is written into the lines of a head without one is not that of the next answer', () => {
  const form = createWireForms().of({ ...answer(200), holds: () => true }, 'GET');
  const expected = [...form.lines()];
  form.lines().push('date', 'Mon, 30 Nov 2026 10:00:00 GMT');
  assert.deepEqual(form.lines(), expected);
});
