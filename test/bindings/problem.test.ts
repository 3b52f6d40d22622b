import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { problemIndex, problemPage } from '../../src/bindings/problem-page.ts';
import { problemAnswer } from '../../src/bindings/problem.ts';
import type { Answer } from '../../src/kernel/answer.ts';
import { FAULT_CODES, type FaultCode, fault } from '../../src/kernel/faults.ts';
import { agentName, receiptId } from '../../src/kernel/ids.ts';
import { type Refusal, refuse } from '../../src/kernel/refusal.ts';
import { seconds } from '../../src/kernel/units.ts';

const TRACE = { kind: 'public', agent: agentName('weather') } as const;

const json = (answer: Answer): Record<string, unknown> => {
  assert.ok(answer.body instanceof Uint8Array);
  return JSON.parse(new TextDecoder().decode(answer.body));
};

const fieldOf = (answer: Answer, name: string): string | undefined => {
  const at = answer.fields.findIndex((each, index) => index % 2 === 0 && each.toLowerCase() === name);
  return at === -1 ? undefined : answer.fields[at + 1];
};

describe('a refusal as a problem document', () => {
  test('has the documented members in their order, and none that is empty', () => {
    const more = { agent: agentName('weather'), receipt: receiptId('r1') };
    const answer = problemAnswer(refuse('dns-failed', 'Check "x".', more), TRACE);
    assert.deepEqual(Object.entries(json(answer)), [
      ['type', '/problems/dns-failed'],
      ['code', 'dns-failed'],
      ['status', 502],
      ['title', 'Name not resolved'],
      ['detail', 'Check "x".'],
      ['agent', 'weather'],
      ['receipt', 'r1'],
    ]);
    assert.deepEqual(Object.keys(json(problemAnswer(refuse('not-found', 'x'), TRACE))), [
      'type',
      'code',
      'status',
      'title',
      'detail',
    ]);
  });

  for (const code of FAULT_CODES) {
    test(`${code} has the status of the table, is never stored and is counted by its code`, () => {
      const answer = problemAnswer(refuse(code, 'x'), TRACE);
      assert.equal(answer.status, fault(code).status);
      assert.equal(json(answer)['status'], answer.status);
      assert.equal(fieldOf(answer, 'content-type'), 'application/problem+json');
      assert.equal(fieldOf(answer, 'cache-control'), 'no-store');
      assert.equal(fieldOf(answer, 'www-authenticate') !== undefined, answer.status === 401);
      assert.deepEqual({ ...answer.trace, result: undefined }, { ...TRACE, code, result: undefined });
    });
  }

  test("the refusal's own status wins, in the body too", () => {
    const answer = problemAnswer(refuse('request-too-large', 'x', { status: 431 }), TRACE);
    assert.equal(answer.status, 431);
    assert.equal(json(answer)['status'], 431);
  });

  const fields: readonly (readonly [string, Refusal, string, string | undefined])[] = [
    ['an origin was involved', refuse('tls-failed', 'x'), 'proxy-status', 'cardea; error=tls_certificate_error'],
    [
      'an origin answered',
      refuse('origin-status', 'x', { receivedStatus: 404 }),
      'proxy-status',
      'cardea; error=http_protocol_error; received-status=404',
    ],
    [
      'a finer type is known',
      refuse('origin-timeout', 'x', { proxyError: 'connection_timeout' }),
      'proxy-status',
      'cardea; error=connection_timeout',
    ],
    ['no origin was involved', refuse('not-found', 'x'), 'proxy-status', undefined],
    ['no origin was involved by a hold', refuse('change-held', 'x'), 'proxy-status', undefined],
    ['it may be sent again', refuse('origin-unreachable', 'x', { retryAfter: seconds(7) }), 'retry-after', '7'],
    ['at once is a time too', refuse('origin-unreachable', 'x', { retryAfter: seconds(0) }), 'retry-after', '0'],
    ['it may not', refuse('origin-unreachable', 'x'), 'retry-after', undefined],
    ['a switch is on', refuse('killed', 'x'), 'retry-after', '60'],
    ['a switch says when', refuse('killed', 'x', { retryAfter: seconds(5) }), 'retry-after', '5'],
    ['a limit is reached', refuse('overloaded', 'x'), 'retry-after', '1'],
    ['a rate is reached', refuse('rate-limited', 'x'), 'retry-after', '1'],
    ['another method works', refuse('method-not-allowed', 'x', { allow: ['GET', 'HEAD'] }), 'allow', 'GET, HEAD'],
    ['no credential was shown', refuse('principal-required', 'x'), 'www-authenticate', 'Bearer'],
    ['the admin wants one', refuse('unauthorized', 'x'), 'www-authenticate', 'Bearer'],
    ['a bad one was shown', refuse('token-expired', 'x'), 'www-authenticate', 'Bearer error="invalid_token"'],
    [
      'the origin has its own challenge',
      refuse('extended-refused', 'x', { status: 401, challenge: 'Basic realm="a"' }),
      'www-authenticate',
      'Basic realm="a"',
    ],
    ['a 403 came with one', refuse('extended-refused', 'x', { challenge: 'Basic' }), 'www-authenticate', 'Basic'],
    ['a 403 came without', refuse('extended-refused', 'x'), 'www-authenticate', undefined],
    [
      'the credential was for a proxy',
      refuse('token-invalid', 'x', { status: 407 }),
      'proxy-authenticate',
      'Bearer error="invalid_token"',
    ],
  ];
  for (const [when, refusal, name, expected] of fields) {
    test(`${name} when ${when}: ${expected ?? 'none'}`, () => {
      assert.equal(fieldOf(problemAnswer(refusal, TRACE), name), expected);
    });
  }

  const results: readonly (readonly [FaultCode, string])[] = [
    ['killed', 'killed'],
    ['not-found', 'denied'],
    ['origin-not-allowed', 'denied'],
    ['address-forbidden', 'denied'],
    ['redirect-refused', 'denied'],
    ['change-held', 'denied'],
    ['first-use-held', 'denied'],
    ['loop-detected', 'denied'],
    ['overloaded', 'denied'],
    ['rate-limited', 'denied'],
    ['origin-timeout', 'error'],
    ['origin-status', 'error'],
    ['card-invalid', 'error'],
    ['keys-unavailable', 'error'],
    ['internal', 'error'],
  ];
  for (const [code, result] of results) {
    test(`${code} is counted as ${result}`, () => {
      assert.equal(problemAnswer(refuse(code, 'x'), TRACE).trace.result, result);
    });
  }

  test('text that is no ASCII stays in the body, and out of the fields', () => {
    const answer = problemAnswer(refuse('bad-request', 'é\r\nX: "1"\u2028'), TRACE);
    assert.equal(json(answer)['detail'], 'é\r\nX: "1"\u2028');
    assert.ok(answer.fields.every((text) => /^[\x20-\x7e]*$/.test(text)));
  });
});

describe('GET /problems/{code}', () => {
  for (const code of FAULT_CODES) {
    test(`explains ${code} and how to mend it`, () => {
      const answer = problemPage(code);
      const { status, title, meaning, mend, retry } = fault(code);
      assert.equal(answer.status, 200);
      assert.deepEqual(json(answer), { type: `/problems/${code}`, code, status, title, meaning, mend, retry });
    });
  }

  for (const code of ['', 'nope', 'constructor', '__proto__', 'toString', 'not-found/', 'NOT-FOUND', 'not%2dfound']) {
    test(`${JSON.stringify(code)} is no problem`, () => {
      const answer = problemPage(code);
      assert.equal(answer.status, 404);
      assert.equal(json(answer)['code'], 'not-found');
    });
  }

  test('lists all of them', () => {
    const { problems } = json(problemIndex());
    assert.ok(Array.isArray(problems));
    assert.deepEqual(
      problems.map(({ code }) => code),
      FAULT_CODES,
    );
  });
});
