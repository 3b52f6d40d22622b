import fc from 'fast-check';
import { test } from 'node:test';
import { follows, steps } from './model.ts';

test('the memory store does what a plain list would, for long', () =>
  fc.assert(fc.asyncProperty(steps(400), follows), { numRuns: 400 }));
