import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readerOf } from '../../src/http/fields.ts';
import { type Exchange, type NotStored, storable } from '../../src/http/storable.ts';
import { urlId } from '../../src/kernel/ids.ts';
import { ANY, CARD, dateAt, fields } from './given.ts';

type Given = Readonly<Record<string, string | readonly string[]>>;
interface Case {
  readonly method?: string;
  readonly request?: Given;
  readonly status?: number;
  readonly response?: Given;
  readonly url?: string;
}

const exchange = ({ method = 'GET', request = {}, status = 200, response = {}, url }: Case): Exchange => ({
  method,
  requestFields: readerOf(fields(request)),
  status,
  fields: fields(response),
  policy: ANY,
  ...(url === undefined ? {} : { url: urlId(url) }),
});
const why = (given: Case): NotStored | 'stored' => {
  const decision = storable(exchange(given));
  return decision.store ? 'stored' : decision.why;
};

const FRESH: Given = { 'Cache-Control': 'max-age=60' };
const control = (value: string): Given => ({ 'Cache-Control': value });
const WITH_TOKEN: Given = { Authorization: 'Bearer x' };
const TARGET = 'https://origin.example/a/b?c';

describe('storing (RFC 9111 §3)', () => {
  const table: readonly (readonly [string, Case, NotStored | 'stored'])[] = [
    ['a plain 200', {}, 'stored'],
    ['HEAD', { method: 'HEAD', response: FRESH }, 'method'],
    ['PUT', { method: 'PUT', response: FRESH }, 'method'],
    ['get in lower case is another method', { method: 'get', response: FRESH }, 'method'],
    ['interim', { status: 103, response: FRESH }, 'interim'],
    ['199', { status: 199, response: FRESH }, 'interim'],
    ['304', { status: 304, response: FRESH }, 'not-modified'],
    ['no-store', { response: control('no-store, max-age=60') }, 'no-store'],
    ['No-Store', { response: control('No-Store') }, 'no-store'],
    ['no-store with a value', { response: control('no-store="x"') }, 'no-store'],
    ['no-store on the second line', { response: { 'Cache-Control': ['max-age=60', ' no-store '] } }, 'no-store'],
    ['no-store quoted', { response: control('"no-store", max-age=60') }, 'no-store'],
    ['private', { response: control('private, max-age=60') }, 'private'],
    ['private for some fields', { response: control('private="set-cookie", max-age=60') }, 'private'],
    ['no-cache is stored', { response: control('no-cache') }, 'stored'],
    ['the caller forbids', { request: control('no-store'), response: FRESH }, 'request-no-store'],
    ['the caller says something else', { request: control('no-cache'), response: FRESH }, 'stored'],
    // §5.2.2.3
    ['understood, so no-store is ignored', { response: control('no-store, must-understand, max-age=60') }, 'stored'],
    ['not understood', { status: 599, response: control('must-understand, max-age=60') }, 'not-understood'],
    [
      'not understood, with no-store',
      { status: 299, response: control('no-store, must-understand, max-age=60') },
      'not-understood',
    ],
    ['must-understand does not lift private', { response: control('must-understand, no-store, private') }, 'private'],
    // §3.5
    ['credentials', { request: WITH_TOKEN, response: FRESH }, 'authorization'],
    ['credentials and Expires', { request: WITH_TOKEN, response: { Expires: dateAt(99) } }, 'authorization'],
    ['credentials and public', { request: WITH_TOKEN, response: control('public, max-age=60') }, 'stored'],
    [
      'credentials and must-revalidate',
      { request: WITH_TOKEN, response: control('must-revalidate, max-age=60') },
      'stored',
    ],
    ['credentials and s-maxage', { request: WITH_TOKEN, response: control('s-maxage=60') }, 'stored'],
    [
      'credentials and proxy-revalidate',
      { request: WITH_TOKEN, response: control('proxy-revalidate, max-age=60') },
      'authorization',
    ],
    // §4.1
    ['Vary: *', { response: { ...FRESH, Vary: '*' } }, 'vary-star'],
    ['Vary: foo, *', { response: { ...FRESH, Vary: ['foo', ', *'] } }, 'vary-star'],
    ['Vary: foo', { response: { ...FRESH, Vary: 'foo' } }, 'stored'],
    ['Vary that cannot be read', { response: { ...FRESH, Vary: 'foo bar' } }, 'vary-star'],
    // §7.3
    ['Set-Cookie with a lifetime', { response: { ...FRESH, 'Set-Cookie': 'a=b' } }, 'stored'],
    ['Set-Cookie and public', { response: { ...control('public'), 'Set-Cookie': 'a=b' } }, 'stored'],
    ['Set-Cookie alone', { response: { 'Set-Cookie': 'a=b' } }, 'set-cookie'],
    // Statuses
    ['unknown status with a lifetime', { status: 599, response: FRESH }, 'stored'],
    ['unknown status with Expires', { status: 299, response: { Expires: dateAt(99) } }, 'stored'],
    ['unknown status, public', { status: 599, response: control('public') }, 'stored'],
    ['unknown status alone', { status: 599 }, 'no-lifetime'],
    ['302 alone', { status: 302 }, 'no-lifetime'],
    ['302 with a lifetime', { status: 302, response: FRESH }, 'stored'],
    ['404 alone', { status: 404 }, 'stored'],
    ['500 alone', { status: 500 }, 'no-lifetime'],
    // Parts
    ['a part', { status: 206, response: { ...FRESH, 'Content-Range': 'bytes 0-4/10' } }, 'stored'],
    ['a part without its place', { status: 206, response: FRESH }, 'partial'],
    [
      'several parts',
      { status: 206, response: { ...FRESH, 'Content-Type': 'multipart/byteranges; boundary=x' } },
      'partial',
    ],
    ['a part of something else', { status: 206, response: { ...FRESH, 'Content-Range': 'lines 0-4/10' } }, 'partial'],
    ['Content-Range on a 200 says nothing', { response: { ...FRESH, 'Content-Range': 'junk' } }, 'stored'],
    // POST, RFC 9110 §9.3.3
    ['POST', { method: 'POST', url: TARGET, response: FRESH }, 'method'],
    [
      'POST that answers GET',
      { method: 'POST', url: TARGET, response: { ...FRESH, 'Content-Location': '/a/b?c' } },
      'stored',
    ],
    [
      'POST that answers GET elsewhere',
      { method: 'POST', url: TARGET, response: { ...FRESH, 'Content-Location': '/a/b' } },
      'method',
    ],
    ['POST without a lifetime', { method: 'POST', url: TARGET, response: { 'Content-Location': TARGET } }, 'method'],
    [
      'POST that failed',
      { method: 'POST', url: TARGET, status: 400, response: { ...FRESH, 'Content-Location': TARGET } },
      'method',
    ],
    [
      'POST with an impossible location',
      { method: 'POST', url: TARGET, response: { ...FRESH, 'Content-Location': 'http://[' } },
      'method',
    ],
    // Targeted
    ['a targeted no-store', { response: { ...FRESH, 'CDN-Cache-Control': 'no-store' } }, 'no-store'],
    [
      'a targeted lifetime over no-store',
      { response: { ...control('no-store'), 'CDN-Cache-Control': 'max-age=9' } },
      'stored',
    ],
    ['a targeted private', { response: { ...FRESH, 'CDN-Cache-Control': 'private' } }, 'private'],
  ];
  for (const [name, given, expected] of table) test(name, () => assert.equal(why(given), expected));

  test('the policy never makes storable what is not', () => {
    for (const response of [control('no-store'), control('private')]) {
      assert.equal(storable({ ...exchange({ response }), policy: { ...CARD, minTtl: CARD.maxTtl } }).store, false);
    }
  });
});
