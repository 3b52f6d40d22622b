import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { ExtendedWorld, REST, RPC, isHit, modernCard, secretOf, statusOf } from '../support/extended-world.ts';
import { type OriginServer, startOrigin } from '../support/origin-server.ts';

/** Interfaces that fail before they answer, one after the other. */

describe('the next interface', () => {
  let agent: ExtendedWorld;
  /** Breaks every connection off, or never answers. */
  let bad: OriginServer;
  let hangs = false;
  let hears = (): void => undefined;
  before(async () => {
    bad = await startOrigin((request) => {
      hears();
      if (!hangs) request.socket.destroy();
    });
    agent = await ExtendedWorld.start({
      agent: 'interfaces: any',
      config: `origins: [{ match: "${bad.url}", content: any, unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32] }]
cache: { prefetch: false, negativeTtl: 1s }
limits: { response: 5s }`,
    });
  });
  beforeEach(() => {
    hangs = false;
    agent.asked.length = 0;
  });
  after(async () => {
    await bad.close();
    await agent.stop();
  });
  const elsewhere = (one: object): object => ({ ...one, url: `${bad.url}/rpc` });
  const publish = async (interfaces: readonly object[]): Promise<void> => {
    agent.card = modernCard(interfaces);
    await agent.world.clock.advance(3_700_000);
    assert.equal((await agent.world.card({ 'A2A-Version': '1.0' })).status, 200);
    await agent.world.quiet();
  };
  const receipts = () => agent.world.logged('exchange').filter(({ url }) => !/well-known/.test(String(url)));

  test('is asked where one breaks before an answer; the receipts say which was used', async () => {
    await publish([elsewhere(RPC), REST]);
    const earlier = receipts().length;
    const got = await agent.ask({ token: 'ann' });
    assert.deepEqual([got.status, secretOf(got)], [200, 'ann']);
    const told = receipts().slice(earlier);
    assert.deepEqual(
      told.map((line) => [line['interface'], line['outcome']]),
      [
        [`${bad.url}/rpc`, 'failed'],
        [`${agent.world.origin.url}/rest`, 'stored'],
      ],
    );
    assert.ok(isHit(await agent.ask({ token: 'ann' })));
  });
  test('is asked where the first may not be dialled', async () => {
    await publish([{ ...RPC, url: 'https://nobody-wrote-this.test/rpc' }, REST]);
    const got = await agent.ask({ token: 'ben' });
    assert.equal(got.status, 200, got.body);
  });
  test('is not asked after an answer, whatever it says', async () => {
    await publish([RPC, REST]);
    agent.replies = statusOf(503);
    assert.equal((await agent.ask({ token: 'cem' })).code, 'origin-status');
    assert.equal(agent.asked.length, 1);
  });
  test('does not bring another deadline', async () => {
    await publish([elsewhere(RPC), REST]);
    hangs = true;
    const arrived = new Promise<void>((resolve) => void (hears = resolve));
    const asking = agent.ask({ token: 'dee' });
    await arrived;
    await agent.world.clock.advance(5_100);
    const got = await asking;
    assert.deepEqual([got.status, got.code], [504, 'origin-timeout']);
    assert.deepEqual(agent.asked, []);
  });
  test('where all fail, the last failure is told, and remembered for that caller alone', async () => {
    await publish([elsewhere(RPC), elsewhere({ ...RPC, protocolVersion: '0.3' })]);
    assert.equal((await agent.ask({ token: 'eve' })).code, 'origin-unreachable');
    const asked = bad.asked.length;
    assert.equal((await agent.ask({ token: 'eve' })).code, 'origin-unreachable');
    assert.equal(bad.asked.length, asked);
    await agent.ask({ token: 'fay' });
    assert.ok(bad.asked.length > asked);
  });
});
