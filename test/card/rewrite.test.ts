import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { refuseContradiction } from '../../src/card/agreement.ts';
import { allInterfaces } from '../../src/card/interfaces.ts';
import type { JsonObject } from '../../src/card/json.ts';
import { carriedInterfaces } from '../../src/card/pick-interface.ts';
import { formsToSign, refuseUncarried, rewriteCard } from '../../src/card/rewrite.ts';
import { card10, scannedObject } from './support.ts';

const BASE = 'http://127.0.0.1:8642/agents/weather';
const RULE = { versions: ['0.2', '0.3', '1.0'] };

const rpc = (url: string, more: object = {}): object => ({
  url,
  protocolBinding: 'JSONRPC',
  protocolVersion: '1.0',
  ...more,
});
/** Out of JSON and back, so that objects without a prototype compare with plain ones. */
const rewritten = (members: object): unknown =>
  JSON.parse(JSON.stringify(rewriteCard(scannedObject(members), BASE, RULE)));

describe('a rewritten card', () => {
  const cases: readonly (readonly [name: string, card: object, rewritten: object])[] = [
    [
      'keeps tenants, bindings, versions and what it does not know',
      {
        name: 'W',
        supportedInterfaces: [
          rpc('https://a/1', { tenant: 't', x: 1 }),
          rpc('https://a/2', { protocolBinding: 'HTTP+JSON' }),
          rpc('https://a/3', { protocolVersion: '0.3' }),
        ],
        unknown: { url: 'https://a/stays' },
      },
      {
        name: 'W',
        supportedInterfaces: [
          rpc(BASE, { tenant: 't', x: 1 }),
          rpc(BASE, { protocolBinding: 'HTTP+JSON' }),
          rpc(BASE, { protocolVersion: '0.3' }),
        ],
        unknown: { url: 'https://a/stays' },
      },
    ],
    [
      'has one of those that are the same now, and none that cannot be carried',
      { supportedInterfaces: [rpc('https://a/1'), rpc('https://a/2'), rpc('a:1', { protocolBinding: 'GRPC' })] },
      { supportedInterfaces: [rpc(BASE)] },
    ],
    [
      'loses its signatures',
      { supportedInterfaces: [rpc('https://a/1')], signatures: [{}] },
      { supportedInterfaces: [rpc(BASE)] },
    ],
    [
      'of 0.3 with its main URL alone',
      { url: 'https://a/1', protocolVersion: '0.3.0' },
      { url: BASE, protocolVersion: '0.3.0' },
    ],
    [
      'of 0.3 lists the main URL beside others, which have the same URL now',
      {
        url: 'https://a/1',
        preferredTransport: 'JSONRPC',
        additionalInterfaces: [
          { url: 'a:1', transport: 'GRPC' },
          { url: 'https://a/2', transport: 'HTTP+JSON' },
        ],
      },
      {
        url: BASE,
        preferredTransport: 'JSONRPC',
        additionalInterfaces: [
          { url: BASE, transport: 'JSONRPC' },
          { url: BASE, transport: 'HTTP+JSON' },
        ],
      },
    ],
    [
      'of 0.3 whose main URL is gRPC takes the first that can be carried',
      {
        url: 'https://a:1',
        preferredTransport: 'GRPC',
        additionalInterfaces: [
          { url: 'https://a:1', transport: 'GRPC' },
          { url: 'https://a/2', transport: 'HTTP+JSON' },
        ],
      },
      {
        url: BASE,
        preferredTransport: 'HTTP+JSON',
        additionalInterfaces: [{ url: BASE, transport: 'HTTP+JSON' }],
      },
    ],
    [
      'with both kinds of members leaves out the older ones where none can be carried',
      {
        supportedInterfaces: [rpc('https://a/1')],
        url: 'https://a:1',
        preferredTransport: 'GRPC',
        additionalInterfaces: [{ url: 'https://a:1', transport: 'GRPC' }],
      },
      { supportedInterfaces: [rpc(BASE)] },
    ],
    [
      'is rewritten under protobuf names too',
      { supported_interfaces: [{ url: 'https://a/1', protocol_binding: 'JSONRPC', protocol_version: '1.0' }] },
      { supported_interfaces: [{ url: BASE, protocol_binding: 'JSONRPC', protocol_version: '1.0' }] },
    ],
  ];
  for (const [name, card, expected] of cases) test(name, () => assert.deepEqual(rewritten(card), expected));

  test('property: it names nothing but Cardea, says what it said of versions and tenants, and does not contradict itself', () => {
    const url = fc.constantFrom('https://a/1', 'https://a/2', 'a:443', 'http://b:1/x');
    const binding = fc.constantFrom('JSONRPC', 'HTTP+JSON', 'GRPC', 'jsonrpc');
    const supported = fc.record(
      {
        url,
        protocolBinding: binding,
        protocolVersion: fc.constantFrom('1.0', '0.3', '2.0'),
        tenant: fc.constantFrom('', 't'),
      },
      { requiredKeys: ['url', 'protocolBinding'] },
    );
    const additional = fc.record({ url, transport: binding });
    const card = fc.record(
      {
        supportedInterfaces: fc.array(supported, { maxLength: 4 }),
        url,
        preferredTransport: binding,
        protocolVersion: fc.constantFrom('0.3.0', '0.2.6'),
        additionalInterfaces: fc.array(additional, { maxLength: 4 }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(card, (members) => {
        const before = scannedObject(members);
        const after = rewriteCard(before, BASE, RULE);
        for (const one of allInterfaces(after)) assert.equal(one.url, BASE);
        const kinds = (of: JsonObject): Set<string> =>
          new Set(carriedInterfaces(of, RULE).map((one) => `${one.binding} ${one.version} ${one.tenant}`));
        assert.deepEqual(kinds(after), kinds(before));
        // With both kinds of members the older ones may name a binding that the others do not have; then they share the URL all the same.
        const isOld = members.url !== undefined || members.additionalInterfaces !== undefined;
        const isDual = isOld && members.supportedInterfaces !== undefined;
        if (!isDual && refuseContradiction(before) === undefined) assert.equal(refuseContradiction(after), undefined);
      }),
    );
  });
});

describe('a card that cannot be carried', () => {
  const grpc = scannedObject({
    supportedInterfaces: [rpc('a:1', { protocolBinding: 'GRPC' })],
  });
  test('is refused where its calls are to pass through', () => {
    const refusal = refuseUncarried(grpc, { ...RULE, route: 'through' });
    assert.equal(refusal?.code, 'interface-not-allowed');
    assert.match(refusal?.detail ?? '', /route: direct/);
  });
  test('is served as it is else', () => assert.equal(refuseUncarried(grpc, { ...RULE, route: 'direct' }), undefined));
});

describe('the forms that it is signed in', () => {
  test('are one where they say the same', () => {
    assert.deepEqual(formsToSign(scannedObject(card10({ capabilities: { streaming: true } })), '1.0'), ['a2a-1.0']);
  });
  test('are two where the SDK leaves out what the specification keeps', () => {
    assert.deepEqual(formsToSign(scannedObject(card10({ description: '' })), '1.0'), ['a2a-1.0', 'sdk-js']);
  });
});
