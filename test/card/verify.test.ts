import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CompactSign, compactVerify, generateKeyPair, exportJWK } from 'jose';
import { ALGORITHMS } from '../../src/card/algorithms.ts';
import { decodeBase64Url } from '../../src/card/base64url.ts';
import { type Claim, holdsLater, holdsNow, publicKeyOf } from '../../src/card/verify.ts';

const ascii = new TextEncoder();

const verdicts = async (claim: Claim): Promise<readonly boolean[]> => [holdsNow(claim), await holdsLater(claim)];

describe('a signature holds at once and off the loop as it does for jose', () => {
  for (const algorithm of ALGORITHMS) {
    test(algorithm.alg, async () => {
      const { privateKey, publicKey } = await generateKeyPair(algorithm.alg, { extractable: true });
      const { kty = '', ...members } = await exportJWK(publicKey);
      const key = publicKeyOf({ kty, ...members });
      const jws = await new CompactSign(ascii.encode('a card'))
        .setProtectedHeader({ alg: algorithm.alg })
        .sign(privateKey);
      const [header = '', payload = '', signed = ''] = jws.split('.');
      const input = ascii.encode(`${header}.${payload}`);
      const signature = decodeBase64Url(signed) ?? new Uint8Array();
      assert.ok(await compactVerify(jws, publicKey));
      assert.deepEqual(await verdicts({ algorithm, key, signature, input }), [true, true]);
      const bent = signature.with(signature.length - 1, (signature.at(-1) ?? 0) ^ 1);
      assert.deepEqual(await verdicts({ algorithm, key, signature: bent, input }), [false, false]);
      const more = ascii.encode(`${header}.${payload}A`);
      assert.deepEqual(await verdicts({ algorithm, key, signature, input: more }), [false, false]);
      assert.deepEqual(await verdicts({ algorithm, key, signature: new Uint8Array(), input }), [false, false]);
    });
  }

  test('by a key of another kind nothing holds', async () => {
    const { publicKey } = await generateKeyPair('EdDSA', { extractable: true });
    const { kty = '', ...members } = await exportJWK(publicKey);
    const key = publicKeyOf({ kty, ...members });
    for (const algorithm of ALGORITHMS.filter((row) => row.kty !== 'OKP'))
      assert.deepEqual(
        await verdicts({ algorithm, key, signature: new Uint8Array(64), input: ascii.encode('a.b') }),
        [false, false],
        algorithm.alg,
      );
  });
});
