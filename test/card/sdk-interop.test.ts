import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, describe, test } from 'node:test';
import { AgentCard, generateAgentCardSignature, verifyAgentCardSignature } from '@a2a-js/sdk';
import { agentCardHandler } from '@a2a-js/sdk/server/express';
import express from 'express';
import { readSigningKey, signCard } from '../../src/card/sign.ts';
import { pair } from './signer.ts';
import { card10, judge, keySet, scannedObject, words } from './support.ts';

const by = await pair('sdk-key');
const keys = [await keySet('sdk', { keys: [by.publicJwk] })];
const given = { rule: { signature: 'require', keys: ['sdk'] }, keys } as const;

/** A card with all that signers treat differently: schemes, empty scopes, text beyond ASCII, numbers, extensions, empty members. */
const RICH = {
  ...card10(),
  name: 'Grüße 🤖 \u2028',
  documentationUrl: '',
  provider: { organization: 'Example', url: 'https://example.com' },
  capabilities: {
    streaming: false,
    extensions: [
      {
        uri: 'https://example.com/ext',
        params: { tenth: 0.1, big: 1e21, whole: 1, deep: { list: [1, 'zwei', true] } },
      },
    ],
  },
  securitySchemes: {
    key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } },
    oauth: {
      oauth2SecurityScheme: {
        flows: {
          authorizationCode: {
            authorizationUrl: 'https://a.example/auth',
            tokenUrl: 'https://a.example/token',
            scopes: { read: 'Read' },
            pkceRequired: true,
          },
        },
      },
    },
  },
  securityRequirements: [{ schemes: { key: { list: [] } } }, { schemes: { oauth: { list: ['read'] } } }],
};

const sign = generateAgentCardSignature(by.privateKey, { alg: 'ES256', kid: by.kid, typ: 'JOSE' });
const inner = (): AgentCard => AgentCard.fromJSON(RICH);
/** The wire form where the SDK's types want its inner one; the signer takes both, and the server writes what it is given. */
const wire = (card: unknown): AgentCard => JSON.parse(JSON.stringify(card));

const app = express();
app.use('/inner', agentCardHandler({ agentCardProvider: () => sign(inner()) }));
app.use(
  '/plain',
  agentCardHandler({ agentCardProvider: () => sign({ ...inner(), securitySchemes: {}, securityRequirements: [] }) }),
);
app.use('/wire', agentCardHandler({ agentCardProvider: () => sign(wire(RICH)) }));
app.use('/tool', agentCardHandler({ agentCardProvider: async () => AgentCard.fromJSON(await sign(wire(RICH))) }));
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');
after(() => server.close());
const address = server.address();
const port = typeof address === 'object' && address !== null ? address.port : 0;

const fetchCard = async (path: string): Promise<string> => (await fetch(`http://127.0.0.1:${port}/${path}`)).text();

describe('the JavaScript SDK', () => {
  for (const path of ['plain', 'wire', 'tool']) {
    test(`a card that it signs and serves verifies here, whole: ${path}`, async () => {
      const text = await fetchCard(path);
      assert.equal(text.includes('$case'), path === 'tool', 'the server writes its inner form of what was read');
      const outcome = await judge(text, given);
      assert.equal(words(outcome), 'accepted 1.0 verified');
      assert.ok(outcome.ok);
      assert.deepEqual([outcome.value.verdict.form, outcome.value.verdict.dropped], ['sdk-js', undefined]);
      assert.equal(new TextDecoder().decode(outcome.value.body), text);
    });
  }

  test('its server signs no security scheme of its inner form: the signature holds, and the schemes are not called verified', async () => {
    const text = await fetchCard('inner');
    assert.ok(text.includes('$case'));
    const lenient = await judge(text, { ...given, rule: { ...given.rule, signature: 'if-present' } });
    assert.equal(words(lenient), 'accepted 1.0 unverified uncovered');
    assert.equal(lenient.ok && lenient.value.verdict.form, 'sdk-js');
    assert.equal(lenient.ok && new TextDecoder().decode(lenient.value.body), text);
    const strict = await judge(text, given);
    assert.ok(!strict.ok && strict.refusal.detail.includes('/securitySchemes/key'), JSON.stringify(strict));
  });

  test('the same for what its JSON-RPC and REST replies carry', async () => {
    const reply = AgentCard.toJSON(await sign(inner()));
    const outcome = await judge(reply, { ...given, rule: { ...given.rule, signature: 'if-present' } });
    assert.equal(words(outcome), 'accepted 1.0 unverified uncovered');
  });

  test('it signs anew at every request, and the digest stays', async () => {
    const [one, other] = [await fetchCard('wire'), await fetchCard('wire')];
    assert.notEqual(one, other);
    const [a, b] = [await judge(one, given), await judge(other, given)];
    assert.ok(a.ok && b.ok);
    assert.equal(a.value.digest, b.value.digest);
  });

  test('a change to what it serves does not verify', async () => {
    const text = await fetchCard('wire');
    const changes = [
      ['Grüße', 'Grusse'],
      ['X-Key', 'X-Kex'],
      ['"whole":1', '"whole":2'],
      ['a2a/v1', 'a2a/v2'],
      ['"pkceRequired":true', '"pkceRequired":false'],
    ] as const;
    for (const [from, to] of changes) {
      assert.ok(text.includes(from), from);
      assert.equal(words(await judge(text.replace(from, to), given)), 'signature-invalid', from);
    }
  });

  test('a card signed here verifies there, where nothing of it is empty', async () => {
    const reading = await readSigningKey(scannedObject(by.privateJwk));
    assert.ok(reading.ok);
    const signed = await signCard(scannedObject(card10()), '1.0', [reading.key], 'https://example.com/jwks.json');
    const verify = verifyAgentCardSignature(async (kid) => {
      assert.equal(kid, by.kid);
      return by.publicJwk;
    });
    await verify(AgentCard.fromJSON(JSON.parse(JSON.stringify(signed))));
    await assert.rejects(verify(AgentCard.fromJSON({ ...JSON.parse(JSON.stringify(signed)), name: 'Evil' })));
  });

  test("a card with empty REQUIRED members, signed here, holds here in the specification's form", async () => {
    const reading = await readSigningKey(scannedObject(by.privateJwk));
    assert.ok(reading.ok);
    const signed = await signCard(scannedObject(card10({ description: '', skills: [] })), '1.0', [reading.key]);
    const outcome = await judge(JSON.stringify(signed), given);
    assert.ok(outcome.ok);
    assert.equal(outcome.value.verdict.form, 'a2a-1.0');
  });
});
