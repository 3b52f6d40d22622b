import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AgentCard, type SendMessageRequest } from '@a2a-js/sdk';
import { ClientFactory, ClientFactoryOptions, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client';
import { A2AError, isJsonRpcError, isRestError } from '@a2a-js/sdk/errors';
import fc from 'fast-check';
import { scanRpc } from '../../src/bindings/json-rpc-head.ts';
import { type RpcId, refuseHttpJson, refuseJsonRpc } from '../../src/bindings/operation.ts';
import type { Answer } from '../../src/kernel/answer.ts';
import { FAULT_CODES, fault } from '../../src/kernel/faults.ts';
import { agentName, receiptId } from '../../src/kernel/ids.ts';
import { type Refusal, refuse } from '../../src/kernel/refusal.ts';

const TRACE = { kind: 'forwarded', agent: agentName('weather') } as const;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = ({ body }: Answer): string => (body instanceof Uint8Array ? new TextDecoder().decode(body) : '');
function rpcId(body: Uint8Array): RpcId {
  const scan = scanRpc();
  scan.feed(body);
  return scan.head().id;
}
const more = { agent: agentName('weather'), receipt: receiptId('r1') };

describe('a refused HTTP+JSON operation', () => {
  test("has google.rpc.Status in `error` and the problem's members beside it", () => {
    const answer = refuseHttpJson(refuse('change-held', 'Review it.', more), TRACE);
    assert.equal(answer.status, 503);
    assert.ok(answer.fields.includes('application/json'));
    assert.deepEqual(JSON.parse(textOf(answer)), {
      error: {
        code: 503,
        status: 'UNAVAILABLE',
        message: 'A change waits for review: Review it.',
        details: [
          {
            '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
            reason: 'CHANGE_HELD',
            domain: 'cardea',
            metadata: { type: '/problems/change-held', detail: 'Review it.', agent: 'weather', receipt: 'r1' },
          },
        ],
      },
      type: '/problems/change-held',
      code: 'change-held',
      status: 503,
      title: 'A change waits for review',
      detail: 'Review it.',
      agent: 'weather',
      receipt: 'r1',
    });
  });
});

describe('a refused JSON-RPC operation', () => {
  for (const code of FAULT_CODES) {
    const { a2a, status } = fault(code);
    test(`${code} is ${a2a === undefined ? `-32000 on ${status}` : `${a2a.jsonRpc} on 200`}`, () => {
      const answer = refuseJsonRpc(refuse(code, 'x'), 7, TRACE);
      const { jsonrpc, id, error } = JSON.parse(textOf(answer));
      assert.equal(answer.status, a2a === undefined ? status : 200);
      assert.deepEqual([jsonrpc, id, error.code], ['2.0', 7, a2a?.jsonRpc ?? -32000]);
      const [{ reason, domain }] = error.data;
      assert.equal(reason, a2a?.reason ?? code.toUpperCase().replaceAll('-', '_'));
      assert.equal(domain, a2a === undefined ? 'cardea' : 'a2a-protocol.org');
      assert.equal(answer.trace.code, code);
    });
  }

  test('the fields that a refusal has stay with it', () => {
    const { fields } = refuseJsonRpc(refuse('token-expired', 'x'), null, TRACE);
    assert.ok(fields.includes('Bearer error="invalid_token"'));
    assert.ok(fields.includes('no-store'));
  });
});

describe('the id of a JSON-RPC request', () => {
  const table: readonly (readonly [body: string, id: string | number | null])[] = [
    ['{"jsonrpc":"2.0","id":1,"method":"x"}', 1],
    ['{"id":0}', 0],
    ['{"id":-1.5}', -1.5],
    ['{"id":""}', ''],
    ['{"id":"\\u00e9\\n"}', 'é\n'],
    ['{"id":null}', null],
    ['{"id":true}', null],
    ['{"id":[1]}', null],
    ['{"id":{}}', null],
    ['{}', null],
    ['[{"id":1}]', null],
    ['"id"', null],
    ['null', null],
    ['', null],
    ['{"id":1', null],
    ['{"__proto__":{"id":1}}', null],
    ['['.repeat(60_000), null],
  ];
  for (const [body, id] of table) {
    test(`${body.slice(0, 40)} has ${JSON.stringify(id)}`, () => assert.equal(rpcId(bytes(body)), id));
  }

  test('anything at all has an id or null, and is never an exception', () => {
    fc.assert(fc.property(fc.uint8Array(), (body) => assert.equal(rpcId(body), rpcId(body))));
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.integer()), (id) => assert.equal(rpcId(bytes(JSON.stringify({ id }))), id)),
    );
  });
});

/** The official client gets a refusal as its whole world. */
describe("the official SDK's client understands a refusal", () => {
  type Binding = 'JSONRPC' | 'HTTP+JSON';
  const send = async (binding: Binding, refusal: Refusal): Promise<unknown> => {
    const answer = (body: string): Answer =>
      binding === 'JSONRPC' ? refuseJsonRpc(refusal, rpcId(bytes(body)), TRACE) : refuseHttpJson(refusal, TRACE);
    const fetchImpl: typeof fetch = async (_url, init) => {
      const { status, fields, body } = answer(typeof init?.body === 'string' ? init.body : '');
      const pairs = fields.flatMap((name, at) => (at % 2 === 0 ? [[name, fields[at + 1] ?? '']] : []));
      return new Response(Buffer.from(body instanceof Uint8Array ? body : []), {
        status,
        headers: pairs as [string, string][],
      });
    };
    const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      preferredTransports: [binding],
      transports: [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })],
    });
    const client = await new ClientFactory(options).createFromAgentCard(cardFor(binding));
    const message = {
      messageId: 'm',
      role: 1,
      parts: [],
      contextId: '',
      taskId: '',
      extensions: [],
      referenceTaskIds: [],
    };
    const request = { tenant: '', message, metadata: {} } as unknown as SendMessageRequest;
    return client.sendMessage(request).catch((error: unknown) => error);
  };
  const cardFor = (binding: Binding): AgentCard =>
    AgentCard.fromJSON({
      name: 'A',
      description: '',
      version: '1',
      capabilities: {},
      defaultInputModes: [],
      defaultOutputModes: [],
      skills: [],
      supportedInterfaces: [{ url: 'http://127.0.0.1/a', protocolBinding: binding, protocolVersion: '1.0' }],
    });

  const own: readonly (readonly [Refusal, string])[] = [
    [refuse('not-routed', 'Call it directly.'), 'UnsupportedOperationError'],
    [refuse('extended-not-supported', 'None.'), 'UnsupportedOperationError'],
    [refuse('extended-not-configured', 'None.'), 'ExtendedAgentCardNotConfiguredError'],
    [refuse('version-not-supported', 'Send 1.0.'), 'VersionNotSupportedError'],
  ];
  for (const [refusal, name] of own) {
    for (const binding of ['JSONRPC', 'HTTP+JSON'] as const) {
      test(`${refusal.code} over ${binding} is its ${name}`, async () => {
        const error = await send(binding, refusal);
        assert.ok(error instanceof A2AError);
        assert.equal(error.name, name);
        assert.match(error.message, new RegExp(refusal.detail));
        const metadata = isJsonRpcError(error) ? (error.data as { metadata: object }[])[0]?.metadata : error.metadata;
        assert.equal({ type: '', ...metadata }.type, `/problems/${refusal.code}`);
      });
    }
  }

  test('any other refusal over JSON-RPC is an error with our code, message and reason', async () => {
    const error = await send('JSONRPC', refuse('killed', 'Stopped by a person.'));
    assert.ok(isJsonRpcError(error));
    assert.equal(error.envelopeCode, -32000);
    assert.match(error.message, /Stopped by a person/);
    assert.equal((error.data as { reason: string }[])[0]?.reason, 'KILLED');
  });

  test('any other refusal over HTTP+JSON is an error with our status and message', async () => {
    const error = await send('HTTP+JSON', refuse('killed', 'Stopped by a person.'));
    assert.ok(isRestError(error));
    assert.equal(error.statusCode, 503);
    assert.match(error.message, /Stopped by a person/);
  });
});
