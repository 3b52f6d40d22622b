import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type AgentCard, verifyAgentCardSignature } from '@a2a-js/sdk';
import { type JWK, importJWK } from 'jose';
import { pair, signature } from '../card/signer.ts';
import { ExtendedWorld, REST, RPC, isHit, legacyCard, modernCard, reply, secretOf } from '../support/extended-world.ts';
import { type Got, ask } from '../support/world.ts';

/** The interfaces that a served card names, and whether it is signed. */
function told({ body }: Got): { readonly interfaces: readonly unknown[]; readonly signed: boolean } {
  const { supportedInterfaces = [], signatures } = JSON.parse(body) as {
    supportedInterfaces?: readonly Readonly<Record<string, string | undefined>>[];
    signatures?: readonly unknown[];
  };
  const interfaces = supportedInterfaces.map(({ url, protocolBinding, tenant }) =>
    [url, protocolBinding, tenant].filter((each) => each !== undefined).join(' '),
  );
  return { interfaces, signed: signatures !== undefined };
}

describe('an extended card whose calls pass through', () => {
  const GRPC = { ...RPC, protocolBinding: 'GRPC' };
  const ACME = { ...RPC, tenant: 'acme' };
  let agent: ExtendedWorld;
  before(async () => {
    agent = await ExtendedWorld.start({
      card: modernCard([REST, RPC]),
      agent: 'route: through, hosts: [weather.test]',
    });
  });
  after(() => agent.stop());
  const shows = (supportedInterfaces: readonly object[], more: object = {}): void => {
    agent.replies = (asked, response) =>
      agent.gives(agent.ownOf(asked, { supportedInterfaces, ...more }), { 'Cache-Control': 'max-age=600' })(
        asked,
        response,
      );
  };

  test("names Cardea's interfaces, like the public one, and nothing else of it is another's", async () => {
    shows([RPC, REST, GRPC]);
    const got = await agent.ask({ token: 'ann' });
    const base = `${agent.world.base}/agents/weather`;
    assert.deepEqual(told(got), { interfaces: [`${base} JSONRPC`, `${base} HTTP+JSON`], signed: false });
    assert.equal(secretOf(got), 'ann');
    assert.doesNotMatch(got.body, new RegExp(agent.world.origin.url));
    const again = await agent.ask({ token: 'ann' });
    assert.deepEqual([isHit(again), again.body, again.headers.etag], [true, got.body, got.headers.etag]);
    const { headers } = await agent.ask({ token: 'ann', headers: { 'If-None-Match': String(got.headers.etag) } });
    assert.equal(headers['content-length'], undefined);
  });
  test('over JSON-RPC it is the same card', async () => {
    shows([RPC]);
    const rest = await agent.ask({ token: 'ben' });
    const { result } = JSON.parse((await agent.ask({ token: 'ben', over: 'rpc' })).body) as { result: unknown };
    assert.deepEqual(result, JSON.parse(rest.body));
  });
  test('each caller is told the address that it came by', async () => {
    shows([RPC]);
    await agent.ask({ token: 'cem' });
    const headers = { 'A2A-Version': '1.0', Authorization: 'Bearer cem', Host: 'weather.test' };
    const got = await ask(`${agent.world.base}/extendedAgentCard`, { headers });
    assert.ok(isHit(got));
    assert.deepEqual(told(got).interfaces, ['http://weather.test JSONRPC']);
  });
  test('what only the extended card names is left out: calls go by the public one', async () => {
    shows([ACME, RPC]);
    const got = await agent.ask({ token: 'dee' });
    assert.deepEqual(told(got).interfaces, [`${agent.world.base}/agents/weather JSONRPC`]);
  });
  test('one that names none of the public interfaces is refused, and the public card stays as it was', async () => {
    shows([ACME]);
    const got = await agent.ask({ token: 'eve' });
    assert.deepEqual([got.status, got.code], [502, 'interface-not-allowed']);
    assert.match(got.body, /names no interface of a binding, version and tenant that the public card has/);
    assert.equal((await agent.world.card()).status, 200);
  });
});

test("a card that its agent signed is signed by Cardea's own key after it was rewritten, and another is not", async (t) => {
  const agentKey = await pair('agent-key');
  const agent = await ExtendedWorld.start({
    agent: 'route: through, keys: [agent]',
    config: `keys: { agent: { inline: '${JSON.stringify({ keys: [agentKey.publicJwk] })}' } }`,
  });
  t.after(() => agent.stop());
  agent.replies = (asked, response) => {
    const card = JSON.parse(JSON.stringify(agent.ownOf(asked)).replaceAll('$ORIGIN', agent.world.origin.url)) as object;
    void signature(card, agentKey).then((one) => agent.gives({ ...card, signatures: [one] })(asked, response));
  };
  const got = await agent.ask();
  assert.match(String(got.headers['card-status']), /^verified; kid="agent-key"/);
  const asked: string[] = [];
  await verifyAgentCardSignature(async (kid, jku) => {
    assert.equal(jku, `${agent.world.base}/.well-known/jwks.json`);
    asked.push(kid);
    const { keys } = JSON.parse((await ask(jku, {})).body) as { keys: JWK[] };
    const key = await importJWK(keys.find((each) => each.kid === kid) ?? {});
    assert.ok(!(key instanceof Uint8Array));
    return key;
    // As it is on the wire: of a card that it has read, the SDK's own form has lost the schemes.
  })(JSON.parse(got.body) as AgentCard);
  assert.ok(asked.length > 0 && !asked.includes('agent-key'));
  assert.ok((await agent.ask()).headers.etag === got.headers.etag, 'signed once');
  agent.replies = (request, response) => agent.gives(agent.ownOf(request))(request, response);
  const unsigned = await agent.ask({ token: 'ben' });
  assert.match(String(unsigned.headers['card-status']), /^unsigned/);
  assert.equal(told(unsigned).signed, false);
});

test('a 0.3 card is rewritten in its own words', async (t) => {
  const agent = await ExtendedWorld.start({ card: legacyCard('JSONRPC'), agent: 'route: through' });
  t.after(() => agent.stop());
  const got = await agent.ask({ version: '0.3' });
  assert.equal((JSON.parse(got.body) as { url: string }).url, `${agent.world.base}/agents/weather`);
});

test('a call by the extended card goes through Cardea', async (t) => {
  const agent = await ExtendedWorld.start({ agent: 'route: through' });
  t.after(() => agent.stop());
  const got = await agent.ask();
  const [{ url }] = (JSON.parse(got.body) as { supportedInterfaces: [{ url: string }] }).supportedInterfaces;
  agent.replies = (_asked, response) => reply(response, 200, {}, '{"jsonrpc":"2.0","id":1,"result":{}}');
  const headers = { 'A2A-Version': '1.0', Authorization: 'Bearer alice', 'Content-Type': 'application/json' };
  const call = await ask(url, { method: 'POST', headers }, '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{}}');
  assert.deepEqual([call.status, call.headers['cardea-interface']], [200, `${agent.world.origin.url}/rpc`]);
});
