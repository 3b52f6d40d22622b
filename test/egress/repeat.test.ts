import assert from 'node:assert/strict';
import { type TestContext, describe, test } from 'node:test';
import { startRawOrigin } from '../support/origin-server.ts';
import { orderFor, rig, scripted } from './harness.ts';

async function* chunks(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield new TextEncoder().encode(text);
}

/** An origin that answers one request per connection, and closes on the second without a word. */
async function closing(t: TestContext) {
  const heard: string[] = [];
  const server = await startRawOrigin((socket, count) => {
    let said = server.asked.at(-1) ?? '';
    const answer = (): void => {
      heard[count - 1] = said;
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      socket.once('data', () => socket.destroy());
    };
    const isWhole = (): boolean => !/content-length: 6/i.test(said) || said.endsWith('abcdef');
    const hear = (chunk: Buffer): void => {
      said += String(chunk);
      if (!isWhole()) return;
      socket.off('data', hear);
      answer();
    };
    if (isWhole()) answer();
    else socket.on('data', hear);
  });
  t.after(() => server.close());
  const { fetcher } = rig({ resolver: scripted({}), ownAddresses: () => [] });
  t.after(() => fetcher.close());
  assert.ok((await fetcher.fetch(orderFor(`${server.url}/first`))).ok);
  return { heard, fetcher, url: `${server.url}/second` };
}

const LENGTH = ['Content-Length', '6'];

describe('a request on a kept connection that the origin is just closing', () => {
  const cases: readonly (readonly [method: string, what: string, fields: readonly string[], again: boolean])[] = [
    ['PUT', 'a short body', LENGTH, true],
    ['DELETE', 'a short body', LENGTH, true],
    ['PUT', 'a body of unknown length', [], false],
    ['POST', 'a short body: it may have been acted on', LENGTH, false],
    ['PATCH', 'a short body', LENGTH, false],
  ];
  for (const [method, what, fields, again] of cases)
    test(`${method} with ${what} is ${again ? '' : 'not '}sent again`, async (t) => {
      const { heard, fetcher, url } = await closing(t);
      const result = await fetcher.fetch(orderFor(url, { method, fields, body: chunks('abc', 'def') }));
      assert.equal(result.ok, again);
      if (again) assert.match(heard[1] ?? '', new RegExp(`^${method} /second[^]*\\r\\n\\r\\nabcdef$`));
    });

  test('DELETE without a body is sent again', async (t) => {
    const { heard, fetcher, url } = await closing(t);
    assert.ok((await fetcher.fetch(orderFor(url, { method: 'DELETE' }))).ok);
    assert.match(heard[1] ?? '', /^DELETE \/second/);
  });

  test('a body that breaks before it is whole reaches no origin', async (t) => {
    const { heard, fetcher, url } = await closing(t);
    const breaking = async function* (): AsyncGenerator<Uint8Array> {
      yield* chunks('abc');
      throw new Error('the client left');
    };
    const result = await fetcher.fetch(orderFor(url, { method: 'PUT', fields: LENGTH, body: breaking() }));
    assert.ok(!result.ok);
    assert.equal(result.refusal.code, 'bad-request');
    assert.equal(heard.length, 1);
  });
});
