import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { classifyAddress, vetAddress } from '../../src/egress/addresses.ts';
import { type Ip, BITS, formatIp, inBlock, parseCidr, parseIp } from '../../src/egress/ip.ts';
import { METADATA_ADDRESSES } from '../../src/egress/metadata-addresses.data.ts';
import { SPECIAL_RANGES } from '../../src/egress/special-ranges.data.ts';

const FORBIDDEN = [
  ...SPECIAL_RANGES.map((row) => row.range),
  '224.0.0.0/4',
  'ff00::/8',
  'fec0::/10',
  '::/96',
  '::ffff:0:0:0/96',
];
// These two reach one IPv4 address and nothing else, so that address decides.
const TRANSPARENT = ['::ffff:0:0/96', '64:ff9b::/96'];

const block = (text: string) => parseCidr(text) ?? assert.fail(text);
const ip = (text: string): Ip => parseIp(text) ?? assert.fail(text);
const allowed = (address: string): boolean => classifyAddress(address).allowed;
const below = (bits: number): fc.Arbitrary<bigint> => fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n });

const forbiddenV4: fc.Arbitrary<bigint> = fc
  .constantFrom(...FORBIDDEN.map(block).filter((row) => row.family === 4))
  .chain((row) => below(32 - row.length).map((rest) => row.base | rest));

const METADATA_V4 = METADATA_ADDRESSES.map(({ address }) => ip(address))
  .filter(({ family }) => family === 4)
  .map(({ value }) => value);

describe('the generated table', () => {
  test('has every row of both registries', () => {
    assert.equal(SPECIAL_RANGES.filter((row) => !row.range.includes(':')).length, 26);
    assert.equal(SPECIAL_RANGES.filter((row) => row.range.includes(':')).length, 25);
    for (const row of SPECIAL_RANGES) {
      assert.ok(parseCidr(row.range) !== null, row.range);
      assert.match(row.rfc, /^RFC \d+(, RFC \d+)*$/);
      assert.ok(row.name.length > 2);
    }
  });
  test('says the day of the registries that it was made from', () => {
    const text = readFileSync(new URL('../../src/egress/special-ranges.data.ts', import.meta.url), 'utf8');
    assert.match(text, /as of \d{4}-\d{2}-\d{2}\./);
  });
});

describe('every forbidden range', () => {
  for (const range of FORBIDDEN.filter((text) => !TRANSPARENT.includes(text))) {
    test(`${range}: never allowed inside, first and last included`, () => {
      const row = block(range);
      const size = BITS[row.family] - row.length;
      const last = row.base | ((1n << BigInt(size)) - 1n);
      for (const value of [row.base, last]) assert.equal(allowed(formatIp({ family: row.family, value })), false);
      fc.assert(
        fc.property(below(size), (rest) => !allowed(formatIp({ family: row.family, value: row.base | rest }))),
        { numRuns: 50 },
      );
    });
  }

  test('outside 2000::/3 nothing is allowed, unless NAT64 or mapped', () => {
    fc.assert(
      fc.property(below(128), (value) => {
        const address: Ip = { family: 6, value };
        fc.pre(!inBlock(address, block('2000::/3')) && !TRANSPARENT.some((text) => inBlock(address, block(text))));
        return !allowed(formatIp(address));
      }),
    );
  });
});

describe('an IPv4 address inside an IPv6 one', () => {
  const put = (base: string, value: bigint, shift = 0n): string =>
    formatIp({ family: 6, value: ip(base).value | (value << shift) });
  const EMBEDDINGS: Readonly<Record<string, (value: bigint) => string>> = {
    mapped: (value) => put('::ffff:0:0', value),
    compatible: (value) => put('::', value),
    SIIT: (value) => put('::ffff:0:0:0', value),
    'NAT64 well-known': (value) => put('64:ff9b::', value),
    'NAT64 local-use /96': (value) => put('64:ff9b:1::', value),
    'NAT64 local-use /48': (value) => put(put('64:ff9b:1::', value >> 16n, 64n), value & 0xffffn, 40n),
    '6to4': (value) => put('2002::', value, 80n),
    'Teredo client': (value) => put('2001:0:4136:e378::', value ^ 0xffff_ffffn),
    'Teredo server': (value) => put('2001::f7f7:f7f7', value, 64n),
    ISATAP: (value) => put('2a00:1450:4001:800:0:5efe::', value),
    'ISATAP, universal bit': (value) => put('2a00:1450:4001:800:200:5efe::', value),
  };
  for (const [name, embed] of Object.entries(EMBEDDINGS)) {
    test(`${name}: forbidden inside is forbidden outside`, () => {
      fc.assert(fc.property(forbiddenV4, (value) => !allowed(embed(value))));
    });
  }
  test('the mapped form, which is read as 128 bits, is what the address itself is', () => {
    const values = fc.oneof(forbiddenV4, below(32), fc.constantFrom(...METADATA_V4));
    const unsafe = fc.subarray(['10.0.0.0/8', '127.0.0.1', '169.254.0.0/16', '169.254.169.254', '0.0.0.0/0']);
    fc.assert(
      fc.property(values, unsafe, (value, lines) => {
        const [plain, mapped] = [formatIp({ family: 4, value }), put('::ffff:0:0', value)];
        assert.deepEqual(classifyAddress(plain), classifyAddress(mapped));
        const verdict = vetAddress(plain, lines);
        assert.deepEqual({ ...verdict, address: '' }, { ...vetAddress(mapped, lines), address: '' });
      }),
    );
  });
  test('forms that reach only their IPv4 address are as allowed as it is', () => {
    assert.equal(allowed('::ffff:8.8.8.8'), true);
    assert.equal(allowed('64:ff9b::8.8.8.8'), true);
    assert.equal(allowed('2002:808:808::1'), false);
    assert.equal(allowed('64:ff9b:1::8.8.8.8'), false);
  });
});

describe('global unicast', () => {
  const rows = FORBIDDEN.map(block);
  const metadata = METADATA_ADDRESSES.map((row) => ip(row.address));
  const special = (address: Ip): boolean =>
    rows.some((row) => inBlock(address, row)) ||
    metadata.some((row) => row.family === address.family && row.value === address.value);

  test('random global IPv4 is allowed', () => {
    fc.assert(
      fc.property(below(32), (value) => {
        fc.pre(!special({ family: 4, value }));
        return allowed(formatIp({ family: 4, value }));
      }),
    );
  });
  test('random global IPv6 is allowed', () => {
    fc.assert(
      fc.property(below(125), (rest) => {
        const address: Ip = { family: 6, value: (1n << 125n) | rest };
        const isatap = (address.value >> 32n) & 0xfdff_ffffn;
        fc.pre(!special(address) && isatap !== 0x0000_5efen);
        return allowed(formatIp(address));
      }),
    );
  });
  test('both neighbours of each range are judged by the table alone', () => {
    for (const row of rows) {
      const last = row.base | ((1n << BigInt(BITS[row.family] - row.length)) - 1n);
      for (const value of [row.base - 1n, last + 1n]) {
        if (value < 0n || value >= 1n << BigInt(BITS[row.family])) continue;
        const neighbour: Ip = { family: row.family, value };
        const outside = row.family === 6 && !inBlock(neighbour, block('2000::/3'));
        if (TRANSPARENT.some((text) => inBlock(neighbour, block(text)))) continue;
        assert.equal(
          allowed(formatIp(neighbour)),
          !special(neighbour) && !outside,
          `${row.text} next to ${formatIp(neighbour)}`,
        );
      }
    }
  });
});

describe('what is no address fails closed', () => {
  const BAD: readonly unknown[] = [
    undefined,
    null,
    '',
    'localhost',
    '127.1',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '1.2.3',
    '1.2.3.4.5',
    '256.1.1.1',
    ' 1.1.1.1',
    '1.1.1.1\n',
    '10.0.0.0/8',
    'fe80::1%eth0',
    '::1%lo',
    '[::1]',
    ':::',
    '1::2::3',
    {},
    16843009,
    ['1.1.1.1'],
  ];
  for (const bad of BAD)
    test(JSON.stringify(bad) ?? 'undefined', () => assert.equal(classifyAddress(bad).allowed, false));
  test('never throws', () => {
    fc.assert(fc.property(fc.anything(), (value) => typeof classifyAddress(value).allowed === 'boolean'));
  });
});

describe('unsafeAddresses', () => {
  const CASES: readonly (readonly [string, readonly string[], boolean])[] = [
    ['10.0.0.5', [], false],
    ['10.0.0.5', ['10.0.0.0/8'], true],
    ['10.0.0.5', ['10.0.0.5'], true],
    ['10.0.0.5', ['10.0.0.4/31'], true],
    ['10.0.0.6', ['10.0.0.4/31'], false],
    ['11.0.0.0', [], true],
    ['::ffff:10.0.0.5', ['10.0.0.0/8'], true],
    ['64:ff9b::10.0.0.5', ['10.0.0.0/8'], true],
    ['2002:a00:5::1', ['10.0.0.0/8'], false],
    ['fd00::1', ['fd00::/8'], true],
    ['169.254.169.254', ['169.254.0.0/16'], false],
    ['169.254.169.254', ['0.0.0.0/0'], false],
    ['169.254.169.254', ['169.254.169.254/31'], false],
    ['169.254.169.254', ['169.254.169.254'], true],
    ['169.254.169.254', ['169.254.169.254/32'], true],
    ['::ffff:169.254.169.254', ['::/0'], false],
    ['168.63.129.16', [], false],
    ['168.63.129.16', ['168.63.129.16'], true],
    ['fd00:ec2::254', ['fd00::/8'], false],
    ['fd00:ec2::254', ['fd00:ec2::254'], true],
    ['127.1', ['127.0.0.0/8'], false],
  ];
  for (const [address, unsafe, expected] of CASES) {
    test(`${address} under [${unsafe.join()}]`, () => assert.equal(vetAddress(address, unsafe).allowed, expected));
  }
  test('the entry that a denial names would indeed allow it', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          forbiddenV4.map((value) => formatIp({ family: 4, value })),
          below(128).map((value) => formatIp({ family: 6, value })),
        ),
        (address) => {
          const verdict = vetAddress(address, []);
          return verdict.allowed || (verdict.entry !== null && vetAddress(address, [verdict.entry]).allowed);
        },
      ),
    );
  });
});
