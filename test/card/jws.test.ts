import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { base64url } from 'jose';
import { scannedObject, card10, judge, keySet, words } from './support.ts';
import { canonicalCard } from '../../src/card/canonical.ts';
import { urlId } from '../../src/kernel/ids.ts';
import { bytes } from '../../src/kernel/units.ts';
import { type Pair, pair, rawSignature, signature, signed } from './signer.ts';

/** The corpus of attacks on signatures, keys and canonical JSON; each case is a test here, or stands below with the reason why not. */
const CORPUS: readonly { readonly id: string; readonly title: string }[] = JSON.parse(
  readFileSync(new URL('../fixtures/attacks/jws.json', import.meta.url), 'utf8'),
);

const ELSEWHERE: Readonly<Record<string, string>> = {
  'JWS-HINT-4': 'no key is pinned by certificate: x5c is refused (JWS-HINT-2) and certificates are never read',
  'JWS-HINT-10': 'about fetching a jku; the address gate is tested with egress',
  'JWS-HINT-14':
    'about fetching a jku: only the exact URLs of the configuration are ever fetched, tested where keys are fetched',
  'JWS-KID-12': 'a kid selects among public keys of a set that is itself published: there is no secret list to leak',
  'JWS-JWKS-5': 'about refetching a set; tested where keys are fetched',
  'JWS-JWKS-13': 'about the lifetime of a fetched set; tested where keys are fetched',
  'JWS-JCS-17': 'a card always comes from JSON text: holes and undefined cannot be written there',
  'JWS-BIND-3': 'a replayed card is a change like another, and held by review; tested with the gate',
  'JWS-BIND-7': 'about response fields; tested with the listener, which writes Card-Status itself',
  'JWS-BIND-9':
    'about the event loop under load; the number of verifications per card is bounded here (JWS-STR-6), their concurrency by limits.concurrency',
};

const CARD = card10();
const k1 = await pair('k1');
const k2 = await pair('k2');
const other = await pair('k1');
const rs256 = await pair('rsa', 'RS256');
const ps256 = { ...rs256, alg: 'PS256', privateKey: (await pair('x', 'PS256')).privateKey };
const TRUSTED = await keySet('alpha', { keys: [k1.publicJwk] });

const RULE = { signature: 'require', keys: ['alpha'] } as const;
const given = { rule: RULE, keys: [TRUSTED] };

/** Judges a card whose `signatures` are these. */
const withSignatures = (signatures: unknown, card: Record<string, unknown> = CARD) =>
  judge({ ...card, signatures }, given);

async function expectRefused(signatures: unknown, code = 'signature-invalid'): Promise<void> {
  assert.equal(words(await withSignatures(signatures)), code);
}

async function expectHeaderRefused(header: Record<string, unknown>, code = 'signature-invalid'): Promise<void> {
  const text = JSON.stringify({ alg: 'ES256', kid: 'k1', typ: 'JOSE', ...header });
  await expectRefused([await rawSignature(CARD, k1, text)], code);
}

const good = await signature(CARD, k1);
const ACCEPTED = 'accepted 1.0 verified';

/** The order of P-256. */
const N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const P = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn;
const scalar = (value: bigint): Buffer => Buffer.from(value.toString(16).padStart(64, '0').slice(-64), 'hex');
const rs = (r: bigint, s: bigint): string => base64url.encode(Buffer.concat([scalar(r), scalar(s)]));
const [R, S] = [0, 32].map((at) =>
  BigInt(
    `0x${Buffer.from(base64url.decode(good.signature))
      .subarray(at, at + 32)
      .toString('hex')}`,
  ),
);

/** Reads a set of one key and counts what is left of it. */
async function keysRead(jwk: Record<string, unknown>): Promise<number> {
  return (await keySet('x', { keys: [jwk] })).keys.length;
}

const jwkOf = (by: Pair): Record<string, unknown> => ({ ...by.publicJwk });
const canonical = (text: string): string => canonicalCard(scannedObject(text), 'jcs').text;
const refusedText = async (text: string): Promise<string> => words(await judge(text));

const CASES: Readonly<Record<string, () => Promise<void>>> = {
  'JWS-ALG-1': () => expectRefused([{ protected: base64url.encode('{"alg":"none","kid":"k1"}'), signature: '' }]),
  'JWS-ALG-3': () => expectHeaderRefused({ alg: undefined }),
  'JWS-ALG-5': async () => {
    for (const alg of ['es256', 'ES256 ', 'ES256\u0000', ' ES256', 'Es256']) await expectHeaderRefused({ alg });
  },
  'JWS-ALG-7': async () => {
    for (const alg of ['HS256', 'HS384', 'HS512']) await expectHeaderRefused({ alg });
    assert.equal(await keysRead({ kty: 'oct', k: 'c2VjcmV0', kid: 'k1', alg: 'HS256' }), 0);
  },
  'JWS-ALG-9': () => expectHeaderRefused({ alg: 'ES384' }),
  'JWS-ALG-11': async () => {
    const keys = [await keySet('alpha', { keys: [rs256.publicJwk] })];
    const card = { ...CARD, signatures: [await signature(CARD, ps256, { header: { kid: 'rsa' } })] };
    assert.equal(words(await judge(card, { rule: RULE, keys })), 'signature-untrusted');
  },
  'JWS-ALG-13': async () => {
    const one = await rawSignature(CARD, k1, '{"kid":"k1"}');
    await expectRefused([{ ...one, header: { alg: 'ES256' } }]);
  },
  'JWS-CRIT-1': () => expectHeaderRefused({ crit: ['bork'], bork: 1 }),
  'JWS-CRIT-3': async () => {
    for (const name of ['alg', 'kid']) await expectHeaderRefused({ crit: [name] });
  },
  'JWS-CRIT-5': () => expectHeaderRefused({ crit: ['b64', 'b64'], b64: true }),
  'JWS-CRIT-7': async () => {
    const one = await signature(CARD, k1, { header: { b64: false, crit: ['b64'] } });
    await expectRefused([one]);
  },
  'JWS-CRIT-9': () => expectRefused([{ ...good, header: { b64: false } }]),
  'JWS-CRIT-11': async () => {
    for (const b64 of [true, false]) await expectHeaderRefused({ b64 });
  },
  'JWS-HINT-2': async () => {
    for (const name of ['jwk', 'x5c', 'x5u'])
      await expectHeaderRefused({ [name]: name === 'jwk' ? k1.publicJwk : ['x'] });
  },
  'JWS-HINT-6': async () => {
    const one = await signature(CARD, k1, { header: { x5t: 'AAAA', 'x5t#S256': 'AAAA' } });
    assert.equal(words(await withSignatures([one])), ACCEPTED, 'a thumbprint of a certificate is never read');
  },
  'JWS-HINT-8': async () => {
    const jku = urlId('https://agent.example.com/jwks.json');
    const card = await signed(CARD, k1, { header: { jku } });
    const keys = [await keySet(jku, { keys: [k1.publicJwk] }, { jku })];
    const allowed = { signature: 'require', keys: [], jku: [jku] } as const;
    assert.equal(words(await judge(card, { rule: allowed, keys })), ACCEPTED);
    const elsewhere = { ...allowed, jku: [urlId('https://agent.example.com/jwks.json?x')] };
    assert.equal(words(await judge(card, { rule: elsewhere, keys })), 'signature-untrusted', 'exactly that URL');
    const silent = await signed(CARD, k1);
    assert.equal(
      words(await judge(silent, { rule: allowed, keys })),
      'signature-untrusted',
      'the signature must name it',
    );
    assert.equal(words(await judge(card, { rule: allowed, keys: [] })), 'keys-unavailable', 'never had');
  },
  'JWS-HINT-12': () => expectRefused([{ ...good, header: { jku: 'https://evil.example/jwks.json' } }]),
  'JWS-HINT-16': async () => {
    for (const jku of [{}, [], 1, 'j'.repeat(10_240)]) await expectHeaderRefused({ jku });
  },
  'JWS-KID-2': async () => {
    const keys = [await keySet('alpha', { keys: [k1.publicJwk, k2.publicJwk] })];
    const card = { ...CARD, signatures: [await signature(CARD, k1, { header: { kid: undefined } })] };
    assert.equal(words(await judge(card, { rule: RULE, keys })), 'signature-untrusted');
    assert.equal(words(await judge(card, given)), ACCEPTED, 'the one key that fits');
  },
  'JWS-KID-4': async () => {
    for (const kid of ['../../etc/passwd', '/dev/null', 'file:///x', 'C:\\x', '__proto__', 'constructor']) {
      await expectHeaderRefused({ kid }, 'signature-untrusted');
    }
  },
  'JWS-KID-6': () => expectHeaderRefused({ kid: 'k'.repeat(10_240) }),
  'JWS-KID-8': async () => {
    const sets = [await keySet('one', { keys: [other.publicJwk] }), await keySet('two', { keys: [k1.publicJwk] })];
    const card = await signed(CARD, other);
    assert.equal(words(await judge(card, { rule: { ...RULE, keys: ['two'] }, keys: sets })), 'signature-invalid');
    assert.equal(words(await judge(card, { rule: { ...RULE, keys: ['one'] }, keys: sets })), ACCEPTED);
  },
  'JWS-KID-10': () => expectRefused([{ ...good, header: { kid: 'k2' } }]),
  'JWS-STR-2': () => expectRefused([], 'signature-required'),
  'JWS-STR-4': async () => {
    const bad = { ...good, signature: rs(1n, 1n) };
    const outcome = await withSignatures([bad, bad, good]);
    assert.equal(words(outcome), ACCEPTED);
    assert.equal(outcome.ok ? outcome.value.verdict.kid : '', 'k1');
    assert.equal(
      words(await judge({ ...CARD, signatures: [bad, bad, good] }, { ...given, rule: { ...RULE, signatures: 2 } })),
      'signature-invalid',
    );
  },
  'JWS-STR-6': async () => {
    const many = { ...CARD, signatures: Array.from({ length: 10_000 }, () => good) };
    assert.equal(words(await judge(many, given)), 'card-too-large');
    const large = { ...given, rule: { ...RULE, maxBytes: bytes(4_194_304) } };
    assert.equal(words(await judge(many, large)), 'card-invalid');
    assert.equal(words(await withSignatures(Array.from({ length: 17 }, () => good))), 'signature-invalid');
    assert.equal(words(await withSignatures(Array.from({ length: 16 }, () => good))), ACCEPTED);
  },
  'JWS-STR-8': async () => {
    for (const text of ['{"alg":"none","alg":"ES256","kid":"k1"}', '{"alg":"ES256","kid":"evil","kid":"k1"}']) {
      await expectRefused([await rawSignature(CARD, k1, text)]);
    }
  },
  'JWS-STR-10': async () => {
    for (const text of ['[]', '"x"', 'null', '{}', '', '1']) await expectRefused([await rawSignature(CARD, k1, text)]);
  },
  'JWS-STR-12': async () => {
    for (const typ of ['at+jwt', 'JWT', 'dpop+jwt', 1]) await expectHeaderRefused({ typ });
    await expectHeaderRefused({ zip: 'DEF' });
    const one = await signature(CARD, k1, { header: { typ: 'jose', cty: 'x', epk: {}, nonce: 'n', iat: 1 } });
    assert.equal(words(await withSignatures([one])), ACCEPTED, 'others are ignored');
  },
  'JWS-STR-14': async () => {
    const compact = `${good.protected}.e30.${good.signature}`;
    for (const text of [compact, 'a.b.c.d.e']) await expectRefused([{ ...good, signature: text }]);
  },
  'JWS-STR-16': async () => {
    const text = JSON.stringify({ ...CARD, signatures: [good] }).replace(
      '"signature":',
      '"header":{"__proto__":{"alg":"none"}},"signature":',
    );
    assert.equal(words(await judge(text, given)), 'card-not-json');
  },
  'JWS-STR-18': async () => {
    const card = card10({ capabilities: { streaming: true, signatures: ['inner'] } });
    const outcome = await judge(await signed(card, k1), given);
    assert.equal(words(outcome), ACCEPTED);
    assert.ok(outcome.ok && new TextDecoder().decode(outcome.value.body).includes('"inner"'));
    const changed = { ...(await signed(card, k1)), capabilities: { streaming: true, signatures: ['other'] } };
    assert.equal(words(await judge(changed, given)), 'signature-invalid');
  },
  'JWS-B64-1': async () => {
    await expectRefused([{ ...good, signature: `${good.signature}==` }]);
    await expectRefused([{ ...good, protected: `${good.protected}=` }]);
  },
  'JWS-B64-3': async () => {
    const last = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'.indexOf(
      good.signature.at(-1) ?? '',
    );
    const twin = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'[last + 1] ?? '';
    await expectRefused([{ ...good, signature: `${good.signature.slice(0, -1)}${twin}` }]);
  },
  'JWS-B64-5': async () => {
    for (const end of ['!', 'é', '\n', '+', '/'])
      await expectRefused([{ ...good, signature: `${good.signature}${end}` }]);
  },
  'JWS-B64-7': async () => {
    await expectRefused([{ ...good, signature: '' }]);
    await expectRefused([{ ...good, signature: null }]);
    for (const value of [1, []]) await expectRefused([{ ...good, signature: value }], 'card-invalid');
  },
  'JWS-EC-2': async () => {
    for (const value of [0n, N, P, N + (R ?? 0n)]) {
      await expectRefused([{ ...good, signature: rs(value, S ?? 0n) }]);
      await expectRefused([{ ...good, signature: rs(R ?? 0n, value) }]);
    }
    await expectRefused([{ ...good, signature: rs(0n, 0n) }]);
  },
  'JWS-EC-4': async () => {
    for (const length of [0, 1, 32, 63, 65, 96, 128, 132, 4096]) {
      await expectRefused([{ ...good, signature: base64url.encode(new Uint8Array(length).fill(1)) }]);
    }
  },
  'JWS-EC-6': async () => {
    const bent = { ...jwkOf(k2), x: jwkOf(k1)['x'] };
    const set = await keySet('alpha', { keys: [bent, k1.publicJwk] });
    assert.equal(set.keys.length, 1);
    assert.equal(
      words(await judge(await signed(CARD, k1), { rule: RULE, keys: [set] })),
      ACCEPTED,
      'the rest stays usable',
    );
  },
  'JWS-ED-1': async () => {
    const points = [
      Buffer.concat([Buffer.of(1), Buffer.alloc(31)]),
      Buffer.alloc(32),
      Buffer.from('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05', 'hex'),
      Buffer.from('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85', 'hex'),
      Buffer.concat([Buffer.of(0xec), Buffer.alloc(30, 0xff), Buffer.of(0x7f)]),
    ];
    for (const point of points)
      assert.equal(await keysRead({ kty: 'OKP', crv: 'Ed25519', x: base64url.encode(point) }), 0);
  },
  'JWS-ED-3': async () => {
    for (const [length, read] of [
      [31, 0],
      [33, 0],
    ] as const) {
      assert.equal(
        await keysRead({ kty: 'OKP', crv: 'Ed25519', x: base64url.encode(new Uint8Array(length).fill(7)) }),
        read,
      );
    }
    assert.equal(await keysRead(jwkOf(await pair('ed', 'EdDSA'))), 1);
  },
  'JWS-RSA-2': async () => {
    for (const e of [[2], [0], [1], [1, 0, 0], [1, 0, 0, 0, 1]]) {
      assert.equal(await keysRead({ ...jwkOf(rs256), e: base64url.encode(Uint8Array.from(e)) }), 0);
    }
    assert.equal(await keysRead(jwkOf(rs256)), 1);
  },
  'JWS-RSA-4': async () => {
    const modulus = (length: number) => base64url.encode(new Uint8Array(length).fill(0xff));
    for (const [length, read] of [
      [255, 0],
      [256, 1],
      [1024, 1],
      [1025, 0],
      [2048, 0],
    ] as const) {
      assert.equal(await keysRead({ kty: 'RSA', n: modulus(length), e: 'AQAB' }), read, `${length * 8} bits`);
    }
  },
  'JWS-RSA-6': async () => {
    const keys = [await keySet('alpha', { keys: [rs256.publicJwk] })];
    const one = await signature(CARD, rs256);
    assert.equal(words(await judge({ ...CARD, signatures: [one] }, { rule: RULE, keys })), ACCEPTED);
    const raw = base64url.decode(one.signature);
    for (const bent of [Buffer.concat([raw, Buffer.of(0)]), raw.subarray(1), Buffer.alloc(256, 1)]) {
      const card = { ...CARD, signatures: [{ ...one, signature: base64url.encode(bent) }] };
      assert.equal(words(await judge(card, { rule: RULE, keys })), 'signature-invalid');
    }
  },
  'JWS-KEY-2': async () => {
    for (const key_ops of [['sign'], ['encrypt'], []]) assert.equal(await keysRead({ ...jwkOf(k1), key_ops }), 0);
    assert.equal(await keysRead({ ...jwkOf(k1), use: 'enc' }), 0);
    assert.equal(await keysRead({ ...jwkOf(k1), key_ops: ['verify'] }), 1);
  },
  'JWS-KEY-4': async () => {
    const { alg: _, ...silent } = jwkOf(k1);
    const set = await keySet('alpha', { keys: [silent] });
    assert.deepEqual(
      set.keys[0]?.algorithms.map(({ alg }) => alg),
      ['ES256'],
      'what its curve is for',
    );
  },
  'JWS-KEY-6': async () => {
    const seconds = Date.UTC(2026, 10, 30) / 1000;
    const card = await signed(CARD, k1);
    for (const [dates, verdict] of [
      [{ nbf: seconds + 1 }, 'signature-untrusted'],
      [{ nbf: seconds }, ACCEPTED],
      [{ exp: seconds }, 'signature-untrusted'],
      [{ exp: seconds + 1 }, ACCEPTED],
    ] as const) {
      const keys = [await keySet('alpha', { keys: [{ ...k1.publicJwk, ...dates }] })];
      assert.equal(words(await judge(card, { rule: RULE, keys })), verdict, JSON.stringify(dates));
    }
  },
  'JWS-KEY-8': async () => {
    const thumbprint = TRUSTED.keys[0]?.thumbprint ?? '';
    const keys = [await keySet('alpha', { keys: [{ ...k1.publicJwk, kid: 'k9' }] }, { revoked: [thumbprint] })];
    const card = { ...CARD, signatures: [await signature(CARD, k1, { header: { kid: 'k9' } })] };
    assert.equal(words(await judge(card, { rule: RULE, keys })), 'key-revoked');
  },
  'JWS-KEY-10': async () => assert.equal(await keysRead({ kty: 'oct', k: 'AAAA', kid: 'k1' }), 0),
  'JWS-KEY-12': async () => {
    const keys = [await keySet('beta', { keys: [k1.publicJwk] }), await keySet('alpha', { keys: [k2.publicJwk] })];
    assert.equal(words(await judge(await signed(CARD, k1), { rule: RULE, keys })), 'signature-untrusted');
  },
  'JWS-KEY-14': async () => {
    const x = String(jwkOf(k1)['x']);
    const zero = base64url.encode(Buffer.concat([Buffer.of(0), base64url.decode(x)]));
    for (const bent of [zero, `${x}=`, ` ${x}`, `${x}\n`]) assert.equal(await keysRead({ ...jwkOf(k1), x: bent }), 0);
    const n = String(jwkOf(rs256)['n']);
    const wide = base64url.encode(Buffer.concat([Buffer.of(0), base64url.decode(n)]));
    assert.equal(await keysRead({ ...jwkOf(rs256), n: wide }), 0);
  },
  'JWS-JWKS-1': async () => {
    const keys = Array.from({ length: 10_000 }, (_, index) => ({ kty: 'EC', kid: String(index) }));
    await assert.rejects(keySet('x', { keys }), /bytes|keys/);
    await assert.rejects(keySet('x', { keys: Array.from({ length: 101 }, () => ({})) }), /101 keys/);
    assert.equal((await keySet('x', { keys: Array.from({ length: 100 }, () => k1.publicJwk) })).keys.length, 100);
  },
  'JWS-JWKS-3': async () => {
    for (const keys of [{}, null, 'x', [null], [k1.publicJwk, null]]) await assert.rejects(keySet('x', { keys }));
    const set = await keySet('x', { keys: [{ kty: 'junk' }, 'junk', 7, k1.publicJwk] });
    assert.equal(set.keys.length, 1, 'junk is passed over');
  },
  'JWS-JWKS-7': async () => {
    const card = await signed(CARD, k1);
    assert.equal(words(await judge(card, given)), ACCEPTED);
    const keys = [await keySet('alpha', { keys: [k2.publicJwk] })];
    assert.equal(words(await judge(card, { rule: RULE, keys })), 'signature-untrusted', 'judged again, it is refused');
  },
  'JWS-JWKS-9': async () => {
    const card = await signed(CARD, k1);
    assert.equal(words(await judge(card, { rule: RULE, keys: [{ ...TRUSTED, usable: false }] })), 'keys-unavailable');
  },
  'JWS-JWKS-11': async () => {
    const keys = [await keySet('alpha', { keys: [] })];
    assert.equal(words(await judge(await signed(CARD, k1), { rule: RULE, keys })), 'signature-untrusted');
  },
  'JWS-JCS-1': async () => {
    const text = JSON.stringify({ signatures: [good], ...CARD }, null, 2)
      .replace('"Weather"', '"W\\u0065ather"')
      .replace('text/plain', 'text\\/plain');
    const outcome = await judge(text, given);
    assert.equal(words(outcome), ACCEPTED);
    assert.equal(outcome.ok ? new TextDecoder().decode(outcome.value.body) : '', text, 'the strict parse equals it');
  },
  'JWS-JCS-3': async () => assert.equal(await refusedText('{"name":"evil","n\\u0061me":"good"}'), 'card-not-json'),
  'JWS-JCS-5': async () => assert.equal(canonical('{"x":-0}'), '{"x":0}'),
  'JWS-JCS-7': async () => assert.equal(await refusedText('{"x":1e400}'), 'card-not-json'),
  'JWS-JCS-9': async () => {
    assert.equal(await refusedText('{"x":2e-324}'), 'card-not-json');
    assert.equal(canonical('{"x":5e-324}'), '{"x":5e-324}');
  },
  'JWS-JCS-11': async () => {
    assert.equal(canonical('{"x":[1e21,1E+21,999999999999999900000]}'), '{"x":[1e+21,1e+21,999999999999999900000]}');
  },
  'JWS-JCS-13': async () => {
    const card = card10({ name: 'Caf\u00e9' });
    assert.equal(words(await judge({ ...(await signed(card, k1)), name: 'Cafe\u0301' }, given)), 'signature-invalid');
  },
  'JWS-JCS-15': async () => assert.equal(await refusedText('{"__proto__":{"x":1},"name":"n"}'), 'card-not-json'),
  'JWS-JCS-19': async () => {
    assert.equal(await refusedText('{"name":"a\u0001"}'), 'card-not-json');
    assert.equal(canonical('{"x":"\\u007f\\u2028\\u0001"}'), '{"x":"\u007f\u2028\\u0001"}');
  },
  'JWS-JCS-21': async () => {
    const { admitCard } = await import('../../src/card/admit.ts');
    const { RULE: rule, NOW } = await import('./support.ts');
    const body = Buffer.concat([Buffer.from('{"name":"'), Buffer.of(0xff), Buffer.from('"}')]);
    const context = { url: urlId('https://a.example/'), contentType: 'application/json', rule, keys: [], now: NOW };
    assert.equal(words(await admitCard(body, context)), 'card-not-json');
  },
  'JWS-JCS-23': async () => {
    const card = await signed(card10({ description: '' }), k1);
    assert.equal(words(await judge({ ...card, description: undefined }, given)), 'signature-invalid');
  },
  'JWS-JCS-25': async () => {
    const outcome = await judge({ ...(await signed(CARD, k1)), 'x-added': 'evil' }, given);
    // A plain card is signed alike under a form without unknown members: the member is not served.
    assert.ok(outcome.ok);
    assert.deepEqual(outcome.value.verdict.dropped, ['/x-added']);
    assert.ok(!new TextDecoder().decode(outcome.value.body).includes('evil'));
    const refusing = { ...given, rule: { ...RULE, uncovered: 'refuse' } } as const;
    assert.equal(words(await judge({ ...(await signed(CARD, k1)), 'x-added': 'evil' }, refusing)), 'signature-invalid');
  },
  'JWS-JCS-27': async () => {
    const card = card10({
      capabilities: { extensions: [{ uri: 'https://e.example/x', params: { bytes: 'ab+/', kind: 1 } }] },
    });
    const one = await signed(card, k1);
    const spelled = {
      ...one,
      capabilities: { extensions: [{ uri: 'https://e.example/x', params: { bytes: 'ab-_', kind: 'ONE' } }] },
    };
    assert.equal(words(await judge(spelled, given)), 'signature-invalid');
  },
  'JWS-JCS-29': async () => {
    const payload = canonical(JSON.stringify({ name: CARD['name'], version: CARD['version'] }));
    assert.equal(words(await judge(await signed(CARD, k1, { payload }), given)), 'signature-invalid');
  },
  'JWS-BIND-1': async () => {
    const text = JSON.stringify(await signed(CARD, k1));
    const outcome = await judge(text, given);
    assert.equal(outcome.ok ? new TextDecoder().decode(outcome.value.body) : '', text);
    assert.equal(
      await refusedText(text.replace('"name"', '"name":"evil","name"')),
      'card-not-json',
      'first-wins and last-wins readers agree',
    );
  },
  'JWS-BIND-5': async () => {
    assert.equal(words(await judge(CARD, given)), 'signature-required');
    assert.equal(words(await judge({ ...CARD, signatures: null }, given)), 'signature-required');
  },
};

describe('attacks on signatures', () => {
  test('every case is a test, or has a reason', () => {
    const known = [...Object.keys(CASES), ...Object.keys(ELSEWHERE)].toSorted();
    assert.deepEqual(known, CORPUS.map(({ id }) => id).toSorted());
  });

  test('the signature that the cases bend holds', async () => {
    assert.equal(words(await withSignatures([good])), ACCEPTED);
  });

  for (const { id, title } of CORPUS) {
    const run = CASES[id];
    if (run === undefined) test(`${id} ${title}`, { skip: ELSEWHERE[id] ?? 'no reason' }, () => {});
    else test(`${id} ${title}`, run);
  }
});
