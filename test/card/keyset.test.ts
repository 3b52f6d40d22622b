import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { calculateJwkThumbprint, exportSPKI, generateKeyPair, importJWK } from 'jose';
import { parseKeySet } from '../../src/card/keyset.ts';
import { pair, signed } from './signer.ts';
import { card10, judge, keySet, NOW, utf8, words } from './support.ts';

const origin = { name: 'x', revoked: [], fetchedAt: NOW };
const why = async (document: string): Promise<string> => {
  const reading = await parseKeySet(utf8(document), origin);
  return reading.ok ? 'read' : reading.why;
};

const { publicJwk, privateJwk } = await pair('k');

describe('key set documents', () => {
  test('a set, one key, and PEM by name give the same key', async () => {
    for (const alg of ['ES256', 'ES384', 'ES512', 'EdDSA', 'RS256']) {
      const one = await pair('k', alg);
      const publicKey = await importJWK(one.publicJwk, alg, { extractable: true });
      assert.ok(!(publicKey instanceof Uint8Array));
      const documents = [{ keys: [one.publicJwk] }, one.publicJwk, { k: await exportSPKI(publicKey) }];
      for (const document of documents) {
        const set = await keySet('x', document);
        assert.deepEqual(
          set.keys.map(({ kid, thumbprint }) => [kid, thumbprint]),
          [['k', await calculateJwkThumbprint(one.publicJwk)]],
        );
      }
    }
  });

  test('a card verifies with a PEM document', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
    const by = { ...(await pair('pem')), privateKey };
    const set = await keySet('x', { pem: await exportSPKI(publicKey) });
    assert.equal(
      words(await judge(await signed(card10(), by), { rule: { keys: ['x'] }, keys: [set] })),
      'accepted 1.0 verified',
    );
  });

  const refused: readonly (readonly [string, string, RegExp])[] = [
    ['no JSON', 'x', /line 1, column 1/],
    ['an array', '[]', /an array, not a JWK Set/],
    ['an empty object', '{}', /neither "keys" nor PEM/],
    ['texts that are no PEM', '{"a":"b"}', /neither "keys" nor PEM/],
    ['"keys" twice', '{"keys":[],"keys":[]}', /stands twice/],
    ['256 KiB and one byte', `{"keys":[]}${' '.repeat(262_144 - 10)}`, /262145 bytes/],
  ];
  for (const [name, document, expected] of refused) {
    test(`${name} is no set`, async () => assert.match(await why(document), expected));
  }
  test('256 KiB are read', async () => assert.equal(await why(`{"keys":[]}${' '.repeat(262_144 - 11)}`), 'read'));

  const passedOver: readonly (readonly [string, unknown, RegExp])[] = [
    ['a private key', privateJwk, /private members/],
    ['an unknown curve', { kty: 'EC', crv: 'secp256k1', x: 'AA', y: 'AA' }, /curve is not accepted/],
    ['an algorithm that does not fit', { ...publicJwk, alg: 'RS256' }, /"alg" does not fit/],
    ['an algorithm nobody knows', { ...publicJwk, alg: 'ES256K' }, /"alg" does not fit/],
    ['a key for encryption', { ...publicJwk, use: 'enc' }, /"use" is not "sig"/],
    ['no type', { kid: 'k' }, /type is missing/],
  ];
  for (const [name, jwk, expected] of passedOver) {
    test(`${name} is passed over with a warning`, async () => {
      const reading = await parseKeySet(utf8(JSON.stringify({ keys: [jwk, publicJwk] })), origin);
      assert.ok(reading.ok);
      assert.equal(reading.set.keys.length, 1);
      assert.equal(reading.warnings.length, 1);
      assert.match(reading.warnings[0] ?? '', expected);
      assert.ok(!(reading.warnings[0] ?? '').includes(String(privateJwk.d)), 'a warning holds no secret');
    });
  }
});
