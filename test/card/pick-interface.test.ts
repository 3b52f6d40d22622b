import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { carriedInterfaces, interfacesOf, pickInterfaces, type Wanted } from '../../src/card/pick-interface.ts';
import type { JsonObject } from '../../src/card/json.ts';
import { exampleAgent } from '../support/rules.ts';

const ALL = { versions: ['0.2', '0.3', '1.0'] };
const rpc = (url: string, more: object = {}): object => ({
  url,
  protocolBinding: 'JSONRPC',
  protocolVersion: '1.0',
  ...more,
});
const rest = (url: string, more: object = {}): object => rpc(url, { protocolBinding: 'HTTP+JSON', ...more });
const cardWith = (members: object): JsonObject => members as JsonObject;
const urlsOf = (members: object, rule = ALL): readonly string[] =>
  carriedInterfaces(cardWith(members), rule).map(({ url }) => url);

describe('interfaces that can be carried', () => {
  const cases: readonly (readonly [name: string, card: object, urls: readonly string[]])[] = [
    [
      'both bindings, in order',
      { supportedInterfaces: [rest('https://a/r'), rpc('https://a/j')] },
      ['https://a/r', 'https://a/j'],
    ],
    [
      'a word in another case',
      { supportedInterfaces: [rpc('https://a/j', { protocolBinding: 'JsonRpc' })] },
      ['https://a/j'],
    ],
    [
      'gRPC is not',
      { supportedInterfaces: [rpc('a:443', { protocolBinding: 'GRPC' }), rpc('https://a/j')] },
      ['https://a/j'],
    ],
    ['another scheme is not', { supportedInterfaces: [rpc('wss://a/j')] }, []],
    ['a later version is not', { supportedInterfaces: [rpc('https://a/j', { protocolVersion: '1.1' })] }, []],
    [
      'a patch version is its minor',
      { supportedInterfaces: [rpc('https://a/j', { protocolVersion: '1.0.7' })] },
      ['https://a/j'],
    ],
    ['a fragment never travels', { supportedInterfaces: [rpc('https://a/j#x')] }, ['https://a/j']],
    [
      '0.x members',
      { url: 'https://a/j', additionalInterfaces: [{ url: 'https://a/r', transport: 'HTTP+JSON' }] },
      ['https://a/j', 'https://a/r'],
    ],
    [
      'the same one named twice',
      { url: 'https://a/j', additionalInterfaces: [{ url: 'https://a/j', transport: 'JSONRPC' }] },
      ['https://a/j'],
    ],
    [
      'protobuf names',
      { supported_interfaces: [{ url: 'https://a/j', protocol_binding: 'JSONRPC', protocol_version: '1.0' }] },
      ['https://a/j'],
    ],
  ];
  for (const [name, card, urls] of cases) test(name, () => assert.deepEqual(urlsOf(card), urls));

  test('an interface of a version that the agent may not speak is none', () => {
    const dual = { supportedInterfaces: [rpc('https://a/old', { protocolVersion: '0.3' }), rpc('https://a/new')] };
    assert.deepEqual(urlsOf(dual, { versions: ['1.0'] }), ['https://a/new']);
    assert.deepEqual(urlsOf(dual, { versions: ['0.3'] }), ['https://a/old']);
  });

  test('bytes that are no card have none', () => {
    const rule = exampleAgent('weather').card;
    assert.deepEqual(interfacesOf(new TextEncoder().encode('[]'), rule), []);
    const body = new TextEncoder().encode(
      JSON.stringify({ supportedInterfaces: [rpc('https://a/j', { tenant: 't' })] }),
    );
    assert.deepEqual(interfacesOf(body, rule), [
      { url: 'https://a/j', binding: 'JSONRPC', version: '1.0', tenant: 't' },
    ]);
  });
});

describe('the interfaces that a call may go to', () => {
  const interfaces = carriedInterfaces(
    cardWith({
      supportedInterfaces: [
        rpc('https://a/1'),
        rpc('https://a/2'),
        rpc('https://a/acme', { tenant: 'acme' }),
        rpc('https://a/old', { protocolVersion: '0.3' }),
        rpc('https://a/older', { protocolVersion: '0.2' }),
        rest('https://a/r'),
      ],
    }),
    ALL,
  );
  const want = (more: Partial<Wanted>): readonly string[] | string => {
    const picked = pickInterfaces(interfaces, { binding: 'JSONRPC', version: '1.0', tenant: '', ...more });
    return picked.ok ? picked.value.map(({ url }) => url) : picked.refusal.code;
  };
  const cases: readonly (readonly [name: string, wanted: Partial<Wanted>, found: readonly string[] | string])[] = [
    ['1.0 in order', {}, ['https://a/1', 'https://a/2']],
    ['a declared tenant', { tenant: 'acme' }, ['https://a/acme']],
    ['a tenant that nobody declares', { tenant: 'evil' }, 'unknown-agent'],
    ['a tenant in another case', { tenant: 'Acme' }, 'unknown-agent'],
    ['0.3', { version: '0.3' }, ['https://a/old', 'https://a/older']],
    ['no version is 0.3', { version: 'absent' }, ['https://a/old', 'https://a/older']],
    ['the other binding', { binding: 'HTTP+JSON' }, ['https://a/r']],
    ['a version that the binding does not have', { binding: 'HTTP+JSON', version: 'absent' }, 'version-not-supported'],
  ];
  for (const [name, wanted, found] of cases) test(name, () => assert.deepEqual(want(wanted), found));

  test('none in the binding names what there is', () => {
    const only = interfaces.filter(({ binding }) => binding === 'JSONRPC');
    const picked = pickInterfaces(only, { binding: 'HTTP+JSON', version: '1.0', tenant: '' });
    assert.equal(picked.ok, false);
    if (picked.ok) return;
    assert.equal(picked.refusal.code, 'not-routed');
    assert.match(picked.refusal.detail, /its card names JSONRPC\./);
  });
});
