import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { invalidatedUrls } from '../../src/http/invalidation.ts';
import { urlId } from '../../src/kernel/ids.ts';
import { fields } from './given.ts';

const TARGET = urlId('https://origin.example/a/b?c');
type Given = Readonly<Record<string, string | readonly string[]>>;
const invalidated = (method: string, status: number, given: Given = {}): readonly string[] =>
  invalidatedUrls({ method, url: TARGET, status, fields: fields(given) });

describe('invalidation (RFC 9111 §4.4)', () => {
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'M-SEARCH', 'get', 'UNHEARD-OF']) {
    test(`${method} makes its target stale`, () => assert.deepEqual(invalidated(method, 200), [TARGET]));
  }
  for (const method of ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY']) {
    test(`${method} only looks`, () => assert.deepEqual(invalidated(method, 200, { Location: '/x' }), []));
  }

  test('only a non-error answer does', () => {
    assert.deepEqual(
      [199, 200, 299, 300, 399, 400, 500].map((status) => invalidated('POST', status).length),
      [0, 1, 1, 1, 1, 0, 0],
    );
  });

  test('what Location and Content-Location name goes with it', () => {
    assert.deepEqual(
      invalidated('POST', 201, { Location: 'd', 'Content-Location': 'https://origin.example:443/e#f' }),
      [TARGET, 'https://origin.example/a/d', 'https://origin.example/e'],
    );
    assert.deepEqual(invalidated('PUT', 200, { 'Content-Location': '/a/b?c' }), [TARGET]);
  });

  for (const reference of [
    'https://other.example/x',
    'http://origin.example/x',
    'https://origin.example:8443/x',
    '//other.example/x',
    'https://u:p@origin.example/x',
    'http://[',
    'javascript:x',
  ]) {
    test(`${reference} is nothing of this origin`, () =>
      assert.deepEqual(invalidated('POST', 200, { Location: reference }), [TARGET]));
  }
});
