import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { checkHost, hostOf, isOwnAuthority } from '../../src/listen/host.ts';

describe('the host part of Host', () => {
  const table: readonly (readonly [authority: string, host: string | undefined])[] = [
    ['localhost', 'localhost'],
    ['LocalHost', 'localhost'],
    ['localhost.', 'localhost'],
    ['localhost:8642', 'localhost'],
    ['localhost.:8642', 'localhost'],
    ['localhost:', 'localhost'],
    ['localhost:0', 'localhost'],
    ['localhost:65535', 'localhost'],
    ['localhost:65536', undefined],
    ['localhost:123456', undefined],
    ['127.0.0.1', '127.0.0.1'],
    ['127.0.0.1:80', '127.0.0.1'],
    ['[::1]', '[::1]'],
    ['[::1]:80', '[::1]'],
    ['[FE80::1%25eth0]:80', '[fe80::1]'],
    ['[fe80::1%eth0]', '[fe80::1]'],
    ['[::ffff:127.0.0.1]', '[::ffff:127.0.0.1]'],
    ['a_b.example', 'a_b.example'],
    ['', undefined],
    [' ', undefined],
    ['::1', undefined],
    ['[::1', undefined],
    ['[]', undefined],
    ['[%25eth0]', undefined],
    ['[localhost]', undefined],
    ['localhost, evil.test', undefined],
    ['localhost evil', undefined],
    ['localhost@evil.test', undefined],
    ['evil.test/localhost', undefined],
    ['evil.test#localhost', undefined],
    ['localhost:80:80', undefined],
    ['localhost:8a', undefined],
    ['http://localhost', undefined],
    ['locälhost', undefined],
    ['*', undefined],
  ];
  for (const [authority, host] of table) {
    test(`of ${JSON.stringify(authority)} is ${host ?? 'none'}`, () => assert.equal(hostOf(authority), host));
  }

  test('is its own host part, whatever it was cut from', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.domain(),
          fc.ipV4(),
          fc.ipV6().map((ip) => `[${ip}]`),
        ),
        (authority) => {
          const host = hostOf(authority);
          // "a.." names the root's child "" and is left as it is: no rule knows it.
          if (host !== undefined && host !== '' && !host.endsWith('.')) assert.equal(hostOf(host), host);
        },
      ),
    );
  });
});

describe('whether a host is ours', () => {
  const rule = { names: new Set(['agents.internal', 'a_b.example']), over: 'tcp' } as const;
  const ours: readonly (readonly [authority: string, local: string | undefined])[] = [
    ['localhost', '127.0.0.1'],
    ['LOCALHOST.:1', '10.0.0.7'],
    ['127.0.0.1:8642', '127.0.0.1'],
    ['10.0.0.7', '10.0.0.7'],
    ['127.0.0.1', '::ffff:127.0.0.1'],
    ['[::ffff:127.0.0.1]', '127.0.0.1'],
    ['[::ffff:7f00:1]', '127.0.0.1'],
    ['[::FFFF:127.0.0.1]', '::ffff:127.0.0.1'],
    ['[::1]:8642', '::1'],
    ['[0:0:0:0:0:0:0:1]', '::1'],
    ['[fe80::1%25eth0]', 'fe80::1%eth0'],
    ['[fe80::1]', 'fe80::1%eth0'],
    ['Agents.Internal.:80', '127.0.0.1'],
    ['a_b.example', undefined],
    ['localhost', undefined],
  ];
  for (const [authority, local] of ours) {
    test(`${authority} on ${local} is`, () => assert.equal(checkHost(hostOf(authority) ?? '', local, rule), undefined));
  }

  const foreign: readonly (readonly [authority: string, local: string | undefined])[] = [
    ['evil.test', '127.0.0.1'],
    ['localhost.evil.test', '127.0.0.1'],
    ['evil.localhost', '127.0.0.1'],
    ['localhost..', '127.0.0.1'],
    ['.', '127.0.0.1'],
    ['127.0.0.2', '127.0.0.1'],
    ['127.1', '127.0.0.1'],
    ['2130706433', '127.0.0.1'],
    ['0x7f.0.0.1', '127.0.0.1'],
    ['127.0.0.01', '127.0.0.1'],
    ['0.0.0.0', '127.0.0.1'],
    ['[::]', '::1'],
    ['[::1]', '127.0.0.1'],
    ['127.0.0.1', '::1'],
    ['[::127.0.0.1]', '127.0.0.1'],
    ['[fe80::2]', 'fe80::1%eth0'],
    ['127.0.0.1', undefined],
    ['internal', '127.0.0.1'],
    ['x.agents.internal', '127.0.0.1'],
    ['constructor', '127.0.0.1'],
  ];
  for (const [authority, local] of foreign) {
    test(`${authority} on ${local} is not`, () =>
      assert.equal(checkHost(hostOf(authority) ?? '', local, rule)?.code, 'misdirected'));
  }

  test('on a socket in the file system every host is', () => {
    for (const host of ['', 'localhost', 'evil.test', '[::1]'])
      assert.equal(checkHost(host, undefined, { ...rule, over: 'unix' }), undefined);
  });

  test('no name but ours ever passes', () => {
    fc.assert(
      fc.property(fc.domain(), (name) => assert.equal(checkHost(name, '127.0.0.1', rule)?.code, 'misdirected')),
    );
  });
});

describe('whether an address is surely this listener', () => {
  const tcp = { over: 'tcp', names: new Set<string>(), scheme: 'http' } as const;
  const cases: readonly (readonly [authority: string, port: number | undefined, over: object, own: boolean])[] = [
    ['127.0.0.1:8642', 8642, {}, true],
    ['127.0.0.1:8643', 8642, {}, false],
    ['localhost', 80, {}, true],
    ['localhost', 8642, {}, false],
    ['localhost', 443, { scheme: 'https' }, true],
    ['localhost', 443, {}, false],
    ['[::1]:8642', 8642, {}, true],
    ['[::1]', 8642, {}, false],
    ['localhost:', 80, {}, true],
    ['', undefined, { over: 'unix' }, true],
    ['localhost', undefined, { over: 'unix' }, true],
    ['localhost:6666', undefined, { over: 'unix' }, false],
    ['evil.example', undefined, { over: 'unix' }, false],
  ];
  for (const [authority, port, over, own] of cases) {
    test(`${authority} at ${port} ${JSON.stringify(over)}: ${own}`, () => {
      assert.equal(isOwnAuthority(authority, port, { ...tcp, ...over }), own);
    });
  }
});
