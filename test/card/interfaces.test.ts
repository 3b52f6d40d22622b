import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isSameSite } from '../../src/card/interface-hosts.ts';
import { interfaceUrl } from '../../src/card/interfaces.ts';
import { majorMinor } from '../../src/card/version.ts';
import type { CardRule } from '../../src/kernel/card-rule.ts';
import { card03, card10, judge, words } from './support.ts';

const OK = 'accepted 1.0 unsigned';
const at = (url: string, protocolBinding = 'JSONRPC') =>
  card10({ supportedInterfaces: [{ url, protocolBinding, protocolVersion: '1.0' }] });

describe('where interfaces may be', () => {
  const cases: readonly (readonly [CardRule['interfaces'], string, string, string])[] = [
    ['same-origin', 'https://a.example/card', 'https://a.example/rpc', OK],
    ['same-origin', 'https://a.example/card', 'https://A.Example:443/rpc', OK],
    ['same-origin', 'https://a.example/card', 'https://a.example:8443/rpc', 'interface-not-allowed'],
    ['same-origin', 'https://a.example/card', 'https://b.a.example/rpc', 'interface-not-allowed'],
    ['same-site', 'https://a.example/card', 'https://a.example:8443/rpc', OK],
    ['same-site', 'https://cards.example.com/', 'https://api.example.com/', OK],
    ['same-site', 'https://cards.example.com/', 'https://example.com.evil.com/', 'interface-not-allowed'],
    ['same-site', 'https://a.vercel.app/', 'https://b.vercel.app/', 'interface-not-allowed'],
    ['same-site', 'https://a.vercel.app/', 'https://a.vercel.app./', OK],
    ['same-site', 'https://a.co.uk/', 'https://b.co.uk/', 'interface-not-allowed'],
    [
      'same-site',
      'https://weather.ns1.svc.cluster.local/',
      'https://evil.ns2.svc.cluster.local/',
      'interface-not-allowed',
    ],
    ['same-site', 'https://weather.ns1.svc.cluster.local/', 'https://weather.ns1.svc.cluster.local:8443/', OK],
    ['same-site', 'https://10.0.0.1/', 'https://10.0.0.2/', 'interface-not-allowed'],
    ['same-site', 'https://weather/', 'https://evil/', 'interface-not-allowed'],
    ['same-site', 'https://a.example/', 'https://allowed.test/x', OK],
    ['allowed', 'https://a.example/', 'https://allowed.test/x', OK],
    ['allowed', 'https://a.example/', 'https://a.example/rpc', OK],
    ['allowed', 'https://a.example.com/', 'https://b.example.com/', 'interface-not-allowed'],
    ['any', 'https://a.example/', 'https://evil.example/', OK],
  ];
  for (const [interfaces, cardUrl, url, verdict] of cases) {
    test(`${interfaces}: a card of ${cardUrl} with ${url}: ${verdict}`, async () => {
      const outcome = await judge(at(url), {
        url: cardUrl,
        rule: { interfaces, cleartext: false },
        isAllowed: (one) => one.hostname === 'allowed.test',
      });
      assert.equal(words(outcome), verdict);
      if (!outcome.ok) assert.match(outcome.refusal.detail, /^\/supportedInterfaces\/0\/url/);
    });
  }

  const urls: readonly (readonly [string, string, string])[] = [
    ['http://agent.example.com/rpc', 'JSONRPC', 'interface-not-allowed'],
    ['/api/a2a', 'HTTP+JSON', 'card-invalid'],
    ['agent.example.com/rpc', 'JSONRPC', 'card-invalid'],
    ['agent.example.com:443', 'JSONRPC', 'card-invalid'],
    ['agent.example.com:443', 'GRPC', OK],
    ['[::1]:50051', 'GRPC', OK],
    ['//agent.example.com/rpc', 'JSONRPC', 'card-invalid'],
    ['wss://agent.example.com/', 'JSONRPC', 'card-invalid'],
    ['javascript://x/%0aalert(1)', 'JSONRPC', 'card-invalid'],
    ['https://user:pass@agent.example.com/', 'JSONRPC', 'card-invalid'],
    ['https://agent.example.com\\@evil.example/', 'JSONRPC', 'card-invalid'],
    ['https://agent.exam\tple.com/', 'JSONRPC', 'card-invalid'],
    [' https://agent.example.com/', 'JSONRPC', 'card-invalid'],
    ['https://{tenant}.example.com/', 'JSONRPC', 'card-invalid'],
    ['https://agent.example.com/{tenant}', 'JSONRPC', OK],
    ['https:///rpc', 'JSONRPC', 'card-invalid'],
  ];
  for (const [url, binding, verdict] of urls) {
    test(`${binding} ${JSON.stringify(url)}: ${verdict}`, async () => {
      assert.equal(words(await judge(at(url, binding), { rule: { cleartext: false } })), verdict);
    });
  }

  test('http is fine where the rule says so', async () => {
    assert.equal(words(await judge(at('http://agent.example.com/rpc'), { rule: { cleartext: true } })), OK);
  });

  for (const [count, verdict] of [
    [64, OK],
    [65, 'card-invalid'],
    [4000, 'card-invalid'],
  ] as const) {
    test(`${count} interfaces, at every level: ${verdict}`, async () => {
      const supportedInterfaces = Array.from({ length: count }, (_, index) => ({
        url: `https://agent.example.com/${index}`,
        protocolBinding: 'JSONRPC',
        protocolVersion: '1.0',
      }));
      for (const schema of ['compatible', 'off'] as const)
        assert.equal(words(await judge(card10({ supportedInterfaces }), { rule: { schema } })), verdict);
    });
  }

  test('every interface is looked at, the 0.x ones too', async () => {
    const evil = { url: 'https://evil.example/', transport: 'GRPC' };
    const outcome = await judge(card03({ additionalInterfaces: [evil] }), { rule: { interfaces: 'same-site' } });
    assert.ok(!outcome.ok && outcome.refusal.detail.startsWith('/additionalInterfaces/0/url'));
  });

  test('two names have one site only under a listed suffix', () => {
    assert.equal(isSameSite('a.github.io', 'b.github.io'), false);
    assert.equal(isSameSite('a.b.github.io', 'c.b.github.io'), true);
    assert.equal(isSameSite('com', 'com'), true);
    assert.equal(isSameSite('[::1]', '[::2]'), false);
  });

  test('a URL is read as WHATWG does', () => {
    assert.equal(interfaceUrl({ url: 'https://EXAMPLE.com:443/a/../b', binding: '' })?.href, 'https://example.com/b');
  });
});

describe('versions', () => {
  for (const [text, cut] of [
    ['1.0', '1.0'],
    ['1.0.0', '1.0'],
    ['1', '1.0'],
    ['01.00', '1.0'],
    ['0.3.0-rc.1', '0.3'],
    ['v1.0', undefined],
    ['', undefined],
    ['1.0 ', undefined],
    ['1.', undefined],
    ['1e0', undefined],
  ] as const) {
    test(`${JSON.stringify(text)} is ${cut ?? 'none'}`, () => assert.equal(majorMinor(text), cut));
  }

  const interfaces = (...versions: readonly string[]) =>
    card10({
      supportedInterfaces: versions.map((protocolVersion) => ({
        url: 'https://agent.example.com/a2a/v1',
        protocolBinding: 'JSONRPC',
        protocolVersion,
      })),
    });
  const cases: readonly (readonly [string, Record<string, unknown>, readonly string[], string])[] = [
    ['1.0', interfaces('1.0'), ['0.2', '0.3', '1.0'], OK],
    ['1.2 alone', interfaces('1.2'), ['0.2', '0.3', '1.0'], 'unsupported-version'],
    ['1.2 beside 1.0', interfaces('1.2', '1.0'), ['0.2', '0.3', '1.0'], OK],
    ['1.0 where 0.3 is wanted', interfaces('1.0'), ['0.3'], 'unsupported-version'],
    [
      'dual where 0.3 is wanted',
      { ...interfaces('1.0'), url: 'https://agent.example.com/a2a/v1' },
      ['0.2', '0.3'],
      'accepted 0.2 unsigned',
    ],
    ['2.0 at the root', card03({ protocolVersion: '2.0' }), ['0.2', '0.3', '1.0'], 'unsupported-version'],
    ['1.0 at the root, without interfaces', card03({ protocolVersion: '1.0' }), ['0.2', '0.3', '1.0'], 'card-invalid'],
    ['0.3.7', card03({ protocolVersion: '0.3.7' }), ['0.3'], 'accepted 0.3 unsigned'],
    ['0.2.9', card03({ protocolVersion: '0.2.9' }), ['0.3'], 'unsupported-version'],
    [
      'none stated, with preferredTransport',
      card03({ protocolVersion: undefined }),
      ['0.2', '0.3'],
      'accepted 0.3 unsigned',
    ],
    [
      'none stated, without',
      card03({ protocolVersion: undefined, preferredTransport: undefined }),
      ['0.2', '0.3'],
      'accepted 0.2 unsigned',
    ],
  ];
  for (const [name, card, versions, verdict] of cases) {
    test(`${name}, accepted are ${versions.join(' ')}: ${verdict}`, async () => {
      assert.equal(words(await judge(card, { rule: { versions } })), verdict);
    });
  }

  test('the refusal lists both sides', async () => {
    const outcome = await judge(interfaces('1.2', '7'), { rule: { versions: ['0.3', '1.0'] } });
    assert.equal(
      outcome.ok ? '' : outcome.refusal.detail,
      'The card is for A2A "1.2", "7.0"; accepted here are 0.3, 1.0.',
    );
  });
});

describe('members that say the same thing', () => {
  const url = 'https://agent.example.com/a2a/v1';
  const scheme = { securitySchemes: { a: { mtlsSecurityScheme: {} }, b: { mtlsSecurityScheme: {} } } };
  const cases: readonly (readonly [string, Record<string, unknown>, string, string?])[] = [
    ['url that agrees', card10({ url, preferredTransport: 'JSONRPC', protocolVersion: '0.3.0' }), OK],
    ['url in another spelling', card10({ url: 'https://AGENT.example.com:443/a2a/v1' }), OK],
    [
      'url that disagrees',
      card10({ url: 'https://agent.example.com/other' }),
      'card-ambiguous',
      '/url and /supportedInterfaces',
    ],
    [
      'transport that disagrees',
      card10({ url, preferredTransport: 'GRPC' }),
      'card-ambiguous',
      '/preferredTransport and /supportedInterfaces/0/url',
    ],
    [
      'additional interface that disagrees',
      card10({ url, additionalInterfaces: [{ url: 'https://agent.example.com/x', transport: 'GRPC' }] }),
      'card-ambiguous',
      '/additionalInterfaces/0/url',
    ],
    [
      '1.x at the root that no interface has',
      card10({ url, protocolVersion: '1.1' }),
      'card-ambiguous',
      '/protocolVersion',
    ],
    ['0.3 at the root without a url', card10({ protocolVersion: '0.3.0' }), 'card-ambiguous', '/protocolVersion'],
    [
      'extended flags that agree',
      card10({ supportsAuthenticatedExtendedCard: true, capabilities: { extendedAgentCard: true } }),
      OK,
    ],
    [
      'extended flags that disagree',
      card10({ supportsAuthenticatedExtendedCard: true, capabilities: { extendedAgentCard: false } }),
      'card-ambiguous',
      '/supportsAuthenticatedExtendedCard and /capabilities/extendedAgentCard',
    ],
    [
      'security in both words',
      card10({
        ...scheme,
        security: [{ a: [] }, { b: ['r'] }],
        securityRequirements: [{ schemes: { b: { list: ['r'] } } }, { schemes: { a: { list: [] } } }],
      }),
      OK,
    ],
    [
      'security that disagrees',
      card10({ ...scheme, security: [{ a: [] }], securityRequirements: [{ schemes: { b: { list: [] } } }] }),
      'card-ambiguous',
      '/security and /securityRequirements',
    ],
    [
      'one 0.3 url with two transports',
      card03({ additionalInterfaces: [{ url, transport: 'GRPC' }] }),
      'card-ambiguous',
      '/preferredTransport and /additionalInterfaces/0/transport',
    ],
    [
      'one 0.3 url with its transport among others',
      card03({
        additionalInterfaces: [
          { url, transport: 'GRPC' },
          { url, transport: 'JSONRPC' },
        ],
      }),
      'accepted 0.3 unsigned',
    ],
  ];
  for (const [name, card, verdict, detail] of cases) {
    test(`${name}: ${verdict}`, async () => {
      const outcome = await judge(card);
      assert.equal(words(outcome), verdict);
      if (detail !== undefined)
        assert.ok(!outcome.ok && outcome.refusal.detail.includes(detail), JSON.stringify(outcome));
    });
  }
});

describe('extensions', () => {
  const uri = 'https://example.com/ext/geo/v1';
  const withExtension = (extension: unknown) => card10({ capabilities: { extensions: [extension] } });
  const cases: readonly (readonly [string, unknown, readonly string[], string])[] = [
    ['optional', { uri }, [], OK],
    ['required: false', { uri, required: false }, [], OK],
    ['required and honoured', { uri, required: true }, [uri], OK],
    ['required and not honoured', { uri, required: true }, [`${uri}/`], 'unsupported-extension'],
  ];
  for (const [name, extension, extensions, verdict] of cases) {
    test(`${name}: ${verdict}`, async () => {
      const outcome = await judge(withExtension(extension), { rule: { extensions } });
      assert.equal(words(outcome), verdict);
      if (!outcome.ok) assert.ok(outcome.refusal.detail.includes(uri));
    });
  }
});
