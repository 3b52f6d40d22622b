import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { readHttpJson } from '../../src/bindings/http-json-path.ts';
import { isIdempotent, operationOf } from '../../src/bindings/operations.ts';
import type { CallerVersion } from '../../src/kernel/ask.ts';

function read(line: string, version: CallerVersion): string {
  const [method = '', path = ''] = line.split(' ');
  const call = readHttpJson(method, path, version);
  if (!call.ok) return call.refusal.code;
  return call.value.tenant === '' ? call.value.operation : `${call.value.operation} of ${call.value.tenant}`;
}

describe('paths of A2A 1.0', () => {
  const cases: readonly (readonly [line: string, read: string])[] = [
    ['POST /message:send', 'SendMessage'],
    ['POST /message:stream', 'SendStreamingMessage'],
    ['GET /tasks', 'ListTasks'],
    ['GET /tasks/t-1', 'GetTask'],
    ['GET /tasks/a%20b', 'GetTask'],
    ['POST /tasks/t-1:cancel', 'CancelTask'],
    ['GET /tasks/t-1:subscribe', 'SubscribeToTask'],
    ['POST /tasks/t-1:subscribe', 'SubscribeToTask'],
    ['POST /tasks/t/pushNotificationConfigs', 'CreateTaskPushNotificationConfig'],
    ['GET /tasks/t/pushNotificationConfigs', 'ListTaskPushNotificationConfigs'],
    ['GET /tasks/t/pushNotificationConfigs/c', 'GetTaskPushNotificationConfig'],
    ['DELETE /tasks/t/pushNotificationConfigs/c', 'DeleteTaskPushNotificationConfig'],
    ['GET /extendedAgentCard', 'GetExtendedAgentCard'],
    ['POST /acme/message:send', 'SendMessage of acme'],
    ['POST /a%20b/message:send', 'SendMessage of a b'],
    ['GET /acme/tasks/t', 'GetTask of acme'],
    ['GET /acme/extendedAgentCard', 'GetExtendedAgentCard of acme'],
    ['GET /v1/tasks/t', 'GetTask of v1'],
    // two readings
    ['GET /tasks/tasks', 'bad-request'],
    ['GET /tasks/extendedAgentCard', 'bad-request'],
    ['POST /tasks/message:send', 'bad-request'],
    // neither reading
    ['GET /', 'bad-request'],
    ['GET /cards', 'not-found'],
    ['GET /a/b/tasks', 'not-found'],
    ['GET /tasks/:cancel', 'GetTask'],
    ['POST /tasks/:cancel', 'method-not-allowed'],
    ['GET /tasks/t/artifacts', 'not-found'],
    ['GET /ExtendedAgentCard', 'not-found'],
    ['GET /message:send', 'method-not-allowed'],
    ['POST /extendedAgentCard', 'method-not-allowed'],
    ['HEAD /tasks/t', 'method-not-allowed'],
    ['GET /tasks/t:cancel', 'method-not-allowed'],
    // what the next server may resolve or decode
    ['GET /tasks/../extendedAgentCard', 'bad-request'],
    ['GET /tasks/%2e%2e/extendedAgentCard', 'bad-request'],
    ['GET /tasks/.%2E', 'bad-request'],
    ['GET /tasks/..%2fextendedAgentCard', 'bad-request'],
    ['GET /tasks/x%5c..%5cextendedAgentCard', 'bad-request'],
    ['GET /tasks\\extendedAgentCard', 'bad-request'],
    ['GET //extendedAgentCard', 'bad-request'],
    ['GET /tasks/', 'bad-request'],
    ['GET /tasks/%', 'bad-request'],
    ['GET /tasks/%ff', 'bad-request'],
    ['GET /tasks/a%00b', 'bad-request'],
    ['GET /%65xtendedAgentCard', 'not-found'],
  ];
  for (const [line, expected] of cases) test(line, () => assert.equal(read(line, '1.0'), expected));
});

describe('paths of A2A 0.3', () => {
  const cases: readonly (readonly [line: string, read: string])[] = [
    ['POST /v1/message:send', 'SendMessage'],
    ['POST /v1/message:stream', 'SendStreamingMessage'],
    ['GET /v1/tasks/t', 'GetTask'],
    ['POST /v1/tasks/t:cancel', 'CancelTask'],
    ['GET /v1/tasks/t:subscribe', 'SubscribeToTask'],
    ['GET /v1/tasks/t/pushNotificationConfigs', 'ListTaskPushNotificationConfigs'],
    ['GET /v1/card', 'GetExtendedAgentCard'],
    ['GET /v1/extendedAgentCard', 'version-not-supported'],
    ['POST /message:send', 'version-not-supported'],
    ['GET /acme/tasks/t', 'version-not-supported'],
    ['GET /v2/card', 'not-found'],
    ['GET /v1', 'not-found'],
    ['GET /v1/../message:send', 'bad-request'],
  ];
  for (const version of ['0.3', 'absent'] as const) {
    for (const [line, expected] of cases)
      test(`${line}, ${version}`, () => assert.equal(read(line, version), expected));
  }
});

test('property: what is accepted means the same after a URL parser has resolved it', () => {
  const segment = fc.oneof(
    fc.constantFrom(
      'tasks',
      'message:send',
      'extendedAgentCard',
      'v1',
      'card',
      '..',
      '%2e',
      '.',
      't:cancel',
      '',
      'a%2Fb',
      '\\',
    ),
    fc.stringMatching(/^[!$-.0-;=@-Z_a-z~%\\]{1,8}$/),
  );
  fc.assert(
    fc.property(
      fc.array(segment, { minLength: 1, maxLength: 5 }),
      fc.constantFrom('GET', 'POST', 'DELETE'),
      fc.constantFrom<CallerVersion>('1.0', '0.3'),
      (segments, method, version) => {
        const path = `/${segments.join('/')}`;
        const call = readHttpJson(method, path, version);
        if (!call.ok) return;
        assert.equal(new URL(`https://a.example/base${path}`).pathname, `/base${path}`);
      },
    ),
    { numRuns: 2_000 },
  );
});

test('operations by JSON-RPC method', () => {
  assert.equal(operationOf('SendMessage'), 'SendMessage');
  assert.equal(operationOf('message/send'), 'SendMessage');
  assert.equal(operationOf('agent/getAuthenticatedExtendedCard'), 'GetExtendedAgentCard');
  assert.equal(operationOf('sendmessage'), null);
  assert.equal(operationOf('constructor'), null);
  assert.equal(isIdempotent('GetTask'), true);
  assert.equal(isIdempotent('SendMessage'), false);
  assert.equal(isIdempotent(null), false);
});
