import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { tag } from '../../src/kernel/ids.ts';
import { ExtendedWorld, isHit, secretOf, statusOf } from '../support/extended-world.ts';
import type { Got } from '../support/world.ts';

/** `replacePublic: true`: at the well-known path each caller gets the card that is held for it, and everybody else the public one. */

describe('at the well-known path', () => {
  let agent: ExtendedWorld;
  let publicTag: string;
  before(async () => {
    agent = await ExtendedWorld.start({
      agent: 'extended: { replacePublic: true, session: 10m }',
      config: 'cache: { prefetch: false, negativeTtl: 1s }',
    });
    publicTag = String((await card(null)).headers.etag);
    await agent.ask({ token: 'alice' });
  });
  after(() => agent.stop());

  const card = (token: string | null, more: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Got> => {
    const credential: Readonly<Record<string, string>> = token === null ? {} : { Authorization: `Bearer ${token}` };
    return agent.world.card({ 'A2A-Version': '1.0', ...credential, ...more }, method);
  };
  const varies = ({ headers }: Got): boolean => /(?:^|, )Authorization(?:,|$)/.test(String(headers.vary));

  test('a caller whose session holds one gets it, from the cache, for itself alone', async () => {
    const got = await card('alice');
    assert.deepEqual([got.status, secretOf(got), isHit(got), varies(got)], [200, 'alice', true, true]);
    assert.match(String(got.headers['cache-control']), /^private/);
    assert.equal(agent.asked.length, 1);
  });
  test('everybody else gets the public one, and the agent is not asked for more', async () => {
    for (const token of [null, 'ben']) {
      const got = await card(token);
      assert.deepEqual([got.status, secretOf(got), got.headers.etag, varies(got)], [200, undefined, publicTag, true]);
      assert.doesNotMatch(String(got.headers['cache-control']), /private/);
    }
    assert.equal(agent.asked.length, 1);
  });
  test('tags are not mixed up: each confirms its own card, whoever has seen it elsewhere', async () => {
    const own = String((await card('alice')).headers.etag);
    assert.notEqual(own, publicTag);
    const cases: readonly (readonly [
      token: string | null,
      known: string,
      status: number,
      secret: string | undefined,
    ])[] = [
      ['alice', own, 304, undefined],
      ['alice', publicTag, 200, 'alice'],
      ['ben', own, 200, undefined],
      ['ben', publicTag, 304, undefined],
      [null, own, 200, undefined],
      [null, publicTag, 304, undefined],
      ['alice', `${publicTag}, ${own}`, 304, undefined],
    ];
    for (const [token, known, status, secret] of cases) {
      const got = await card(token, { 'If-None-Match': known });
      assert.deepEqual([got.status, secretOf(got), varies(got)], [status, secret, true], `${token} ${known}`);
      if (status === 304) assert.equal(got.headers.etag, token === 'alice' ? own : publicTag);
    }
  });
  test('HEAD tells of the same card', async () => {
    const [head, got] = [await card('alice', {}, 'HEAD'), await card('alice')];
    assert.deepEqual([head.status, head.headers.etag, head.body], [200, got.headers.etag, '']);
  });
  test('another version, or other extensions, is another question', async () => {
    assert.equal(secretOf(await card('alice', { 'A2A-Extensions': 'https://ext.test/a' })), undefined);
    assert.equal(secretOf(await card('alice', { 'A2A-Version': '0.3' })), undefined);
  });
  test('refusals depend on the caller too, and say so', async () => {
    for (const got of [
      await card('alice', { 'A2A-Version': '9.9' }),
      await card('alice', {}, 'DELETE'),
      await card(null, { Via: '1.1 cardea' }),
    ]) {
      assert.ok(got.status >= 400);
      assert.ok(varies(got), got.body);
    }
    const killed = await agent.world.daemon.killSwitch.engage({
      scope: tag('agent:weather'),
      reason: 'a test',
      by: 'admin',
    });
    assert.ok(killed.ok);
    const got = await card('alice');
    assert.deepEqual([got.code, varies(got)], ['killed', true]);
    await agent.world.daemon.killSwitch.lift({ id: killed.value.kill.id, reason: 'over', by: 'admin' });
  });
  test('when the session has ended the public card is the answer, until there is another one', async () => {
    await agent.ask({ token: 'carol' });
    assert.equal(secretOf(await card('carol')), 'carol');
    assert.equal((await agent.world.post('/logout', '', { Authorization: 'Bearer carol' })).status, 204);
    assert.deepEqual([secretOf(await card('carol')), (await card('carol')).headers.etag], [undefined, publicTag]);
    agent.replies = statusOf(401, { 'WWW-Authenticate': 'Bearer' });
    assert.equal((await agent.ask({ token: 'carol' })).code, 'extended-refused');
    assert.equal((await card('carol')).status, 200);
  });
});

test('it is off where it is not written: the well-known path is public, and does not depend on the caller', async (t) => {
  const agent = await ExtendedWorld.start();
  t.after(() => agent.stop());
  await agent.ask();
  const got = await agent.world.card({ 'A2A-Version': '1.0', Authorization: 'Bearer alice' });
  assert.equal(secretOf(got), undefined);
  assert.doesNotMatch(String(got.headers.vary), /Authorization/);
});

test('an agent that is hidden is told of by nothing there', async (t) => {
  const agent = await ExtendedWorld.start({
    agent: 'visibleTo: [{ tenant: acme }], extended: { replacePublic: true }',
  });
  t.after(() => agent.stop());
  const hidden = await agent.world.get('/agents/weather/.well-known/agent-card.json');
  const nobody = await agent.world.get('/agents/nobody/.well-known/agent-card.json');
  assert.deepEqual([hidden.status, hidden.headers.vary, hidden.body], [404, nobody.headers.vary, nobody.body]);
});
