import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cidr, dnsServer, listenAddress, overlaps } from '../../src/config/types/addresses.ts';
import { agentBase, cardUrl, hostName, originMatch, pageOrigin, proxyUrl } from '../../src/config/types/web.ts';
import type { ListenAddress } from '../../src/kernel/listen-address.ts';
import { describeType, type TypeCases } from '../support/type-cases.ts';

const TABLES: readonly TypeCases[] = [
  {
    name: 'address to listen on',
    type: listenAddress,
    good: [
      ['127.0.0.1:8642', '127.0.0.1:8642'],
      ['0.0.0.0:0', '0.0.0.0:0'],
      ['[::1]:65535', '[::1]:65535'],
      ['[0:0::1]:80', '[::1]:80'],
      ['unix:/run/cardea.sock', 'unix:/run/cardea.sock'],
      ['unix:/run/a/../cardea.sock', 'unix:/run/cardea.sock'],
      [`unix:/${'a'.repeat(106)}`, `unix:/${'a'.repeat(106)}`],
    ],
    bad: [
      ['127.0.0.1:65536', 'port 65536 is too high'],
      ['127.0.0.1', 'write 127.0.0.1:8642'],
      ['8642', 'write 127.0.0.1:8642'],
      [':8642', 'write 0.0.0.0:8642 for every IPv4 address'],
      ['*:8642', 'write 0.0.0.0:8642'],
      ['localhost:8642', 'write 127.0.0.1:8642'],
      ['::1:8642', 'write [::1]:8642'],
      ['[127.0.0.1]:80', 'names no address'],
      ['127.1:80', 'names no address'],
      ['0127.0.0.1:80', 'names no address'],
      ['256.0.0.1:80', 'names no address'],
      ['[fe80::1%eth0]:80', 'names no address'],
      ['127.0.0.1:', 'is no address with a port'],
      ['http://127.0.0.1:80', 'write one like 127.0.0.1:8642'],
      ['unix:', 'is followed by the path of a socket'],
      ['unix:/run/', 'is followed by the path of a socket'],
      ['unix:///run/x.sock', 'write one slash: unix:/run/x.sock'],
      ['unix:@x', 'abstract sockets have no mode'],
      ['unix:~/x.sock', 'write the whole path'],
      ['unix:/a\0b', 'NUL'],
      [`unix:/${'a'.repeat(107)}`, 'has 108 bytes'],
      [`unix:/${'ä'.repeat(54)}`, 'has 109 bytes'],
      ['', 'is no address with a port'],
    ],
  },
  {
    name: 'address block',
    type: cidr,
    good: [
      ['10.0.0.0/8', '10.0.0.0/8'],
      ['127.0.0.1', '127.0.0.1/32'],
      ['::1', '::1/128'],
      ['FD00::/8', 'fd00::/8'],
      ['0.0.0.0/0', '0.0.0.0/0'],
      ['::ffff:10.0.0.0/104', '::ffff:a00:0/104'],
    ],
    bad: [
      ['10.0.0.5/8', 'write 10.0.0.5/32 for the one address or 10.0.0.0/8 for the block'],
      ['fd00::1/8', 'write fd00::1/128 for the one address or fd00::/8'],
      ['10.0.0.1/31', 'or 10.0.0.0/31'],
      ['10.0.0.0/33', 'write 10.0.0.0/32'],
      ['::/129', 'write ::/128'],
      ['10/8', 'is no address block'],
      ['10.0.0.0/', 'is no address block'],
      ['host/8', 'is no address block'],
    ],
  },
  {
    name: 'origin of an agent',
    type: agentBase,
    good: [
      ['https://a.example', 'https://a.example'],
      ['https://a.example/', 'https://a.example'],
      ['https://a.example:443', 'https://a.example'],
      ['https://a.example:443/x', 'https://a.example/x'],
      ['http://a.example:443', 'http://a.example:443'],
      ['https://a.example:8443/team/agent', 'https://a.example:8443/team/agent'],
      ['https://a.example/team/agent/', 'https://a.example/team/agent'],
      ['https://a.example/team/.well-known/agent-card.json', 'https://a.example/team'],
      ['https://a.example/.well-known/agent.json', 'https://a.example'],
      ['https://[::1]:8443', 'https://[::1]:8443'],
      ['https://my_host.example', 'https://my_host.example'],
    ],
    bad: [
      ['a.example', '"a.example" is no absolute URL; write https://a.example'],
      ['a.example:8443/x', 'write https://a.example:8443/x'],
      ['https:a.example', 'write https://a.example'],
      ['ftp://a.example', 'the scheme ftp: is not known; write https:'],
      ['https://A.example', 'is not spelled as it is used; write https://a.example/'],
      ['HTTPS://a.example', 'write https://a.example/'],
      ['https://bücher.example', 'write https://xn--bcher-kva.example/'],
      ['https://a.example.', 'a host has no trailing dot; write https://a.example/'],
      ['https://a.example/x/../y', 'write https://a.example/y'],
      ['https://a.example/%2e%2e/y', 'write https://a.example/y'],
      ['https:\\\\a.example', 'is no absolute URL'],
      ['https://a.example\\@b.example', 'is not spelled'],
      ['https://0177.0.0.1', 'write https://127.0.0.1/'],
      ['https://2130706433', 'write https://127.0.0.1/'],
      ['https://a.example?x=1', 'an origin has no query; write https://a.example/'],
      ['https://a.example/?x=1', 'an origin has no query; write https://a.example/'],
      ['https://a.example/?', 'an origin has no query'],
      ['https://a.example/#x', 'a fragment is never sent; write https://a.example/'],
      ['https://a.example/#', 'a fragment is never sent'],
      ['https://u:hunter2@a.example/x', 'holds no user name and no password; write https://a.example/x'],
      ['https://@a.example', 'holds no user name'],
      ['https://a.example /x', 'no white space'],
      ['https://a.example:99999', 'its host or port cannot be read'],
      ['https://', 'its host or port cannot be read'],
      [`https://${'a'.repeat(64)}.example`, 'is no host name'],
      ['https://xn--a.example', 'is no host name'],
      ['https://-a.example', 'is no host name'],
      ['https://a.example:0', 'port 0 does not exist'],
      [`https://a.example/${'a'.repeat(8_192)}`, 'longer than 8192 characters'],
      ['https://a..example', 'is no host name'],
      ["https://a'b.example", 'is no host name'],
      ['u:hunter2@a.example', 'what is written is no absolute URL'],
    ],
  },
  {
    name: 'URL of a card',
    type: cardUrl,
    good: [
      ['https://a.example/c.json', 'https://a.example/c.json'],
      ['https://a.example/c?x=1&y', 'https://a.example/c?x=1&y'],
      ['https://a.example', 'https://a.example/'],
    ],
    bad: [
      ['https://a.example/c#x', 'write https://a.example/c'],
      ['https://u@a.example/c', 'holds no user name'],
      ['https://a.example/ä', 'write https://a.example/%C3%A4'],
    ],
  },
  {
    name: 'allowed origin',
    type: originMatch,
    good: [
      ['https://a.example', 'https://a.example'],
      ['https://a.example:8443/', 'https://a.example:8443'],
      ['https://*.a.example', 'https://*.a.example'],
      ['https://*.agents.internal:8443/', 'https://*.agents.internal:8443'],
    ],
    bad: [
      ['https://*.A.example', 'write https://*.a.example'],
      ['https://*.a.example:443', 'write https://*.a.example'],
      ['https://*.a.example/x', 'leave out the path'],
      ['https://a.*.example', 'whole left label alone'],
      ['https://*a.example', 'whole left label alone'],
      ['https://*', 'whole left label alone'],
      ['https://*.co.uk', 'is a public suffix'],
      ['https://*.github.io', 'is a public suffix'],
      ['https://*.svc.cluster.local', 'name the hosts'],
      ['https://*.10.0.0.5', 'an address has no names below it'],
      ['https://u:hunter2@*.a.example', 'holds no user name'],
      ['https://a.example/x', 'an origin has no path and no query; write https://a.example'],
      ['https://a.example/?', 'an origin has no path and no query'],
      ['https://a.example.', 'no trailing dot'],
    ],
  },
  {
    name: 'origin of a web page',
    type: pageOrigin,
    good: [
      ['https://app.example', 'https://app.example'],
      ['http://localhost:3000', 'http://localhost:3000'],
      ['https://app.example/', 'https://app.example'],
    ],
    bad: [
      ['*', 'would let any web page read answers'],
      ['null', 'would let any web page read answers'],
      ['https://*.app.example', 'write the origin of each page'],
      ['https://App.example', 'write https://app.example'],
      ['https://app.example/x', 'an origin has no path'],
      ['app.example', 'https://'],
    ],
  },
  {
    name: 'proxy',
    type: proxyUrl,
    good: [
      ['http://proxy.example:3128', 'http://proxy.example:3128'],
      ['http://proxy.example', 'http://proxy.example'],
      ['http://10.0.0.5:3128/', 'http://10.0.0.5:3128'],
      ['http://[fd00::1]:3128', 'http://[fd00::1]:3128'],
    ],
    bad: [
      ['https://proxy.example:3128', 'a proxy is asked in cleartext; write http://proxy.example:3128'],
      ['socks5://proxy.example', 'the scheme socks5: is not known'],
      ['http://u:hunter2@proxy.example:3128', 'holds no user name and no password; write http://proxy.example:3128/'],
      ['http://proxy.example:3128/path', 'a proxy has no path and no query; write http://proxy.example:3128'],
      ['http://proxy.example:3128/?x', 'a proxy has no path and no query'],
      ['proxy.example:3128', 'is no absolute URL'],
      ['http://proxy.example:0', 'port 0 does not exist'],
      ['', 'is no absolute URL'],
    ],
  },
  {
    name: 'name server',
    type: dnsServer,
    good: [
      ['10.0.0.53', '10.0.0.53'],
      ['10.0.0.53:53', '10.0.0.53'],
      ['10.0.0.53:5353', '10.0.0.53:5353'],
      ['fd00::53', 'fd00::53'],
      ['[FD00::53]', 'fd00::53'],
      ['[fd00::53]:5353', '[fd00::53]:5353'],
      ['10.0.0.53:65535', '10.0.0.53:65535'],
    ],
    bad: [
      ['dns.example', 'write one like 10.0.0.53'],
      ['10.0.0.53:0', 'port 0 does not exist'],
      ['10.0.0.53:65536', 'port 65536 does not exist'],
      ['10.0.53', 'is no address of a name server'],
      ['[10.0.0.53]:53', 'is no address of a name server'],
      ['https://1.1.1.1/dns-query', 'is no address of a name server'],
      ['', 'is no address of a name server'],
    ],
  },
  {
    name: 'host',
    type: hostName,
    good: [
      ['cardea.internal', 'cardea.internal'],
      ['10.0.0.5', '10.0.0.5'],
      ['::1', '::1'],
      ['[::1]', '::1'],
    ],
    bad: [
      ['Cardea.internal', 'write cardea.internal'],
      ['cardea.internal:8642', 'write cardea.internal'],
      ['http://cardea.internal/', 'write cardea.internal'],
      ['cardea.internal.', 'write cardea.internal'],
      ['', 'is no host name'],
      ['*.x', 'is no host name'],
      ['a b', 'is no host name'],
    ],
  },
];

for (const cases of TABLES) describeType(cases);

describe('the pattern of an origin', () => {
  const cases: readonly (readonly [string, object])[] = [
    ['https://a.example', { scheme: 'https', host: 'a.example', wildcard: false, port: 443 }],
    ['http://a.example', { scheme: 'http', host: 'a.example', wildcard: false, port: 80 }],
    ['https://[fd00::1]:8443', { scheme: 'https', host: 'fd00::1', wildcard: false, port: 8443 }],
  ];
  for (const [written, pattern] of cases) {
    test(written, () => {
      const read = originMatch.read(written, '');
      assert.deepEqual(read.ok ? read.value.pattern : read.why, pattern);
    });
  }
});

describe('two listeners on one address', () => {
  const cases: readonly (readonly [string, string, boolean])[] = [
    ['127.0.0.1:1', '127.0.0.1:1', true],
    ['127.0.0.1:1', '127.0.0.1:2', false],
    ['127.0.0.1:1', '127.0.0.2:1', false],
    ['127.0.0.1:0', '127.0.0.1:0', false],
    ['0.0.0.0:1', '127.0.0.1:1', true],
    ['0.0.0.0:1', '[::1]:1', false],
    ['[::]:1', '127.0.0.1:1', true],
    ['[::]:1', '0.0.0.0:1', true],
    ['[::1]:1', '127.0.0.1:1', false],
    ['unix:/run/a', 'unix:/run/a', true],
    ['unix:/run/a', 'unix:/run/./a', true],
    ['unix:/run/a', 'unix:/run/b', false],
    ['unix:/run/a', '127.0.0.1:1', false],
  ];
  for (const [one, other, clash] of cases) {
    test(`${one} and ${other}`, () => {
      assert.equal(overlaps(address(one), address(other)), clash);
      assert.equal(overlaps(address(other), address(one)), clash);
    });
  }
});

function address(text: string): ListenAddress {
  const read = listenAddress.read(text, '');
  assert.ok(read.ok);
  return read.value;
}
