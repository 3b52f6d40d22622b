import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { scanRpc } from '../../src/bindings/json-rpc-head.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

function scanned(text: string, size = text.length) {
  const scan = scanRpc();
  const bytes = bytesOf(text);
  for (let at = 0; at < bytes.length; at += Math.max(1, size)) scan.feed(bytes.subarray(at, at + Math.max(1, size)));
  return { ...scan.head(), wrong: scan.wrong(), complete: scan.complete() };
}

describe('the head of a JSON-RPC request', () => {
  const good: readonly (readonly [
    text: string,
    method: string | undefined,
    id: string | number | null,
    tenant: string,
  ])[] = [
    ['{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"tenant":"acme"}}', 'SendMessage', 1, 'acme'],
    ['{"params":{"tenant":"acme"},"method":"GetTask","id":"r-1"}', 'GetTask', 'r-1', 'acme'],
    [' {\n"method" : "GetTask" , "id" : -7 }\n', 'GetTask', -7, ''],
    ['{"method":"GetTask","id":null,"params":{"tenant":null}}', 'GetTask', null, ''],
    ['{"\\u006dethod":"Get\\u0054ask"}', 'GetTask', null, ''],
    ['{"id":1.5,"method":"x"}', 'x', 1.5, ''],
    ['{"id":true,"method":"x"}', 'x', null, ''],
    ['{"method":"x","params":[{"tenant":"no"}]}', 'x', null, ''],
    ['{"method":"x","params":{"message":{"tenant":"no","method":"no"},"id":{}}}', 'x', null, ''],
    ['{"method":"x","meta":{"tenant":"no"},"tenant":{"a":1}}', 'x', null, ''],
    ['{"method":"x","params":{"a":"\\"tenant\\":\\"no\\"","b":"}{"}}', 'x', null, ''],
    ['{"method":"x","params":{"method":{"deep":1},"tenant":"t"}}', 'x', null, 't'],
    ['{"id":1}', undefined, 1, ''],
    ['{}', undefined, null, ''],
  ];
  for (const [text, method, id, tenant] of good) {
    for (const size of [1, 3, text.length]) {
      test(`${text} by ${size}`, () => {
        assert.deepEqual(scanned(text, size), { method, id, tenant, wrong: undefined, complete: true });
      });
    }
  }

  const bad: readonly (readonly [text: string, wrong: RegExp])[] = [
    ['[{"method":"x"}]', /batches/],
    ['"x"', /no JSON object/],
    ['\u001f\u008b', /no JSON object/],
    ['{"method":"x"} {}', /something follows/],
    ['{"method":"SendMessage","method":"GetExtendedAgentCard"}', /"method" stands twice/],
    ['{"method":"SendMessage","\\u006dethod":"GetExtendedAgentCard"}', /"method" stands twice/],
    ['{"Method":"GetExtendedAgentCard"}', /"method" is written in another case/],
    ['{"method":"x","PARAMS":{}}', /"params" is written in another case/],
    ['{"method":"x","param\u017f":{}}', /"params" is written in another case/],
    ['{"method":"x","params":{"tenant":"a"},"params":{"tenant":"b"}}', /"params" stands twice/],
    ['{"method":"x","params":{"tenant":"a","tenant":"b"}}', /"params.tenant" stands twice/],
    ['{"method":"x","params":{"Tenant":"b"}}', /"params.tenant" is written in another case/],
    ['{"method":{"a":1}}', /"method" is no text/],
    ['{"method":7}', /"method" is no text/],
    ['{"method":"x","params":{"tenant":["a"]}}', /"tenant" is no text/],
    ['{"method":"x","params":{"tenant":false}}', /"tenant" is no text/],
    [`{"method":"${'a'.repeat(1_025)}"}`, /"method" is too long/],
    ['{"method":"\\ud800\\x"}', /"method" is too long or no text/],
  ];
  for (const [text, wrong] of bad) {
    test(`${text.slice(0, 80)} is refused`, () => assert.match(scanned(text, 2).wrong ?? '', wrong));
  }

  test('a word of the greatest length is read', () => {
    assert.equal(scanned(`{"method":"${'a'.repeat(1_024)}"}`).method, 'a'.repeat(1_024));
  });

  test('what is unfinished is not complete', () => {
    for (const text of ['{"method":"x"', '{"method":"x', '{', '', '{"params":{}'])
      assert.equal(scanned(text).complete, false, text);
  });

  test('property: it agrees with JSON.parse, however the bytes are cut', () => {
    const words = fc.string({ unit: 'binary', maxLength: 20 });
    fc.assert(
      fc.property(
        fc.record(
          { method: words, id: fc.oneof(words, fc.integer()), params: fc.record({ tenant: words, x: fc.jsonValue() }) },
          { requiredKeys: ['method'] },
        ),
        fc.integer({ min: 1, max: 9 }),
        (request, size) => {
          const found = scanned(JSON.stringify(request), size);
          const { tenant } = request.params ?? {};
          assert.equal(found.wrong, undefined);
          // What is no well-formed Unicode is the same after one trip through UTF-8.
          assert.equal(found.method, request.method.toWellFormed());
          assert.equal(found.id, typeof request.id === 'string' ? request.id.toWellFormed() : (request.id ?? null));
          assert.equal(found.tenant, (tenant ?? '').toWellFormed());
          assert.equal(found.complete, true);
        },
      ),
    );
  });

  test('property: it never throws', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (chunks) => {
        const scan = scanRpc();
        for (const chunk of chunks) scan.feed(chunk);
        scan.head();
      }),
    );
  });
});
