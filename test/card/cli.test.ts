import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Command } from '../../src/cli/command.ts';
import { lintCommand, type PublishedCard } from '../../src/cli/lint.ts';
import { signCommand } from '../../src/cli/sign.ts';
import { verifyCommand } from '../../src/cli/verify.ts';
import { pair, signed } from './signer.ts';
import { card10, utf8 } from './support.ts';

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command over files that exist only here. */
async function run(
  command: Command,
  argv: readonly string[],
  files: Readonly<Record<string, unknown>> = {},
): Promise<Ran> {
  let [out, err] = ['', ''];
  const code = await command.run({
    argv,
    env: {},
    cwd: '/srv',
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
    readFile: async (path) => {
      const content = files[path.replace('/srv/', '')];
      if (content === undefined) throw new Error('no such file');
      return utf8(typeof content === 'string' ? content : JSON.stringify(content));
    },
  });
  return { code, out, err };
}

const by = await pair('key-1');
const keys = { keys: [by.publicJwk] };
const verify = (card: unknown) =>
  run(verifyCommand, ['card.json', '--keys', 'jwks.json'], { 'card.json': card, 'jwks.json': keys });

describe('cardea verify', () => {
  test('prints the form that holds, and 0', async () => {
    const { code, out } = await verify(await signed(card10(), by));
    assert.equal(code, 0);
    assert.match(out, /signature 0: verified; kid "key-1", ES256, form a2a-1\.0/);
    assert.match(out, /the signature covers all/);
  });
  test('says at which byte another form differs', async () => {
    const { code, out } = await verify(await signed(card10({ description: '' }), by, { form: 'sdk-js' }));
    assert.equal(code, 0);
    assert.match(out, /form sdk-js/);
    assert.match(out, /a2a-1\.0 +differs at byte \d+: ".*description.*"; signed is ".*"/);
  });
  test('lists what is not covered, and is 0 also where serving says uncovered', async () => {
    const partial = await verify({ ...(await signed(card10(), by)), 'x-evil': 1 });
    assert.equal(partial.code, 0);
    assert.match(partial.out, /not served as verified: \/x-evil/);
    const card = card10({
      securitySchemes: { m: { mtlsSecurityScheme: {} } },
      securityRequirements: [{ schemes: { m: { list: [] } } }],
    });
    const lacking = await verify(await signed(card, by, { form: 'sdk-js' }));
    assert.equal(lacking.code, 0);
    assert.match(lacking.out, /why=uncovered.*\/securitySchemes\/m/);
  });
  test('is 1 where nothing holds, and says why', async () => {
    const changed = await verify({ ...(await signed(card10(), by)), name: 'Evil' });
    assert.equal(changed.code, 1);
    assert.match(changed.out, /signature 0: invalid; it does not hold/);
    const unsigned = await verify(card10());
    assert.equal(unsigned.code, 1);
    assert.match(unsigned.out, /no signatures/);
    assert.equal((await verify('<html>')).code, 1);
  });
  test('is 2 when called wrongly', async () => {
    assert.equal((await run(verifyCommand, ['card.json'], { 'card.json': {} })).code, 2);
    assert.equal((await run(verifyCommand, [])).code, 2);
    assert.equal((await run(verifyCommand, ['none.json', '--keys', 'jwks.json'])).code, 2);
    const noSet = await run(verifyCommand, ['card.json', '--keys', 'jwks.json'], {
      'card.json': card10(),
      'jwks.json': '[]',
    });
    assert.equal(noSet.code, 2);
    assert.match(noSet.err, /not a JWK Set/);
  });
  test('--json is one document', async () => {
    const files = { 'card.json': await signed(card10(), by), 'jwks.json': keys };
    const { out } = await run(verifyCommand, ['--json', '--keys=jwks.json', 'card.json'], files);
    const report = JSON.parse(out);
    assert.equal(report.verified, true);
    assert.deepEqual(report.signatures, [{ index: 0, holds: true, kid: 'key-1', alg: 'ES256', form: 'a2a-1.0' }]);
    assert.equal(report.coverage, 'whole');
  });
});

describe('cardea sign', () => {
  for (const alg of ['ES256', 'EdDSA', 'RS256', 'PS512']) {
    test(`${alg}: what it prints verifies`, async () => {
      const key = await pair('k', alg);
      const one = await run(signCommand, ['card.json', '--key', 'key.jwk', '--jku', 'https://example.com/jwks.json'], {
        'card.json': card10(),
        'key.jwk': key.privateJwk,
      });
      assert.equal(one.code, 0, one.err);
      const files = { 'card.json': one.out, 'jwks.json': { keys: [key.publicJwk] } };
      assert.equal((await run(verifyCommand, ['card.json', '--keys', 'jwks.json'], files)).code, 0);
      const header = JSON.parse(Buffer.from(JSON.parse(one.out).signatures[0].protected, 'base64url').toString());
      assert.deepEqual(header, { alg, kid: 'k', typ: 'JOSE', jku: 'https://example.com/jwks.json' });
    });
  }
  test('a set signs once per key, and earlier signatures stay', async () => {
    const other = await pair('key-2', 'EdDSA');
    const files = { 'card.json': await signed(card10(), by), 'keys.json': { keys: [by.privateJwk, other.privateJwk] } };
    const { out } = await run(signCommand, ['card.json', '--key', 'keys.json', '--json'], files);
    assert.equal(JSON.parse(out).signatures.length, 3);
    assert.equal(out.trim().split('\n').length, 1);
  });
  test('never prints the key', async () => {
    const { out, err } = await run(signCommand, ['card.json', '--key', 'key.jwk'], {
      'card.json': card10(),
      'key.jwk': by.privateJwk,
    });
    assert.ok(!`${out}${err}`.includes(String(by.privateJwk.d)));
  });
  const wrong: readonly (readonly [string, unknown, unknown, number])[] = [
    ['a public key', card10(), by.publicJwk, 2],
    ['no key', card10(), 'x', 2],
    ['no card', '[]', by.privateJwk, 1],
    ['a weak key', card10(), { kty: 'RSA', n: 'AQAB', e: 'AQAB', d: 'AQAB' }, 2],
  ];
  for (const [name, card, key, code] of wrong) {
    test(`${name}: ${code}`, async () => {
      const ran = await run(signCommand, ['card.json', '--key', 'key.jwk'], { 'card.json': card, 'key.jwk': key });
      assert.equal(ran.code, code);
      assert.equal(ran.out, '');
    });
  }
});

describe('cardea lint', () => {
  const never = lintCommand(async (): Promise<PublishedCard> => assert.fail('a file needs no network'));
  test('a file, with findings: 1', async () => {
    const { code, out } = await run(never, ['card.json'], { 'card.json': card10({ skills: [] }) });
    assert.equal(code, 1);
    assert.match(out, /^warning \/skills .*\[skills\]$/m);
  });
  test('--json and --previous', async () => {
    const files = { 'card.json': card10(), 'old.json': card10({ description: 'Before' }) };
    const { out } = await run(never, ['card.json', '--previous', 'old.json', '--json'], files);
    assert.ok(JSON.parse(out).findings.some((finding: { rule: string }) => finding.rule === 'version'));
  });
  test('a URL is fetched, and its fields are looked at', async () => {
    const command = lintCommand(async (url) => ({
      ok: true,
      body: utf8(JSON.stringify(card10())),
      publication: { url, contentType: 'text/plain', cacheControl: undefined, etag: undefined },
    }));
    const { code, out } = await run(command, ['http://agent.example.com/card']);
    assert.equal(code, 1);
    assert.match(out, /\[content-type\][\s\S]*\[https\][\s\S]*\[cache\]/);
  });
  test('a URL that cannot be had: 1; a file that is missing: 2', async () => {
    const command = lintCommand(async () => ({ ok: false, problem: 'refused' }));
    assert.equal((await run(command, ['https://agent.example.com/card'])).code, 1);
    assert.equal((await run(never, ['card.json'])).code, 2);
  });
});
