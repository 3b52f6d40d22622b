import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { pair, type Pair, signature } from '../card/signer.ts';
import { card10 } from '../card/support.ts';
import { makeAuthority } from '../support/certificates.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { startOrigin } from '../support/origin-server.ts';
import { answers, ask, CARD, World, type WorldOptions } from '../support/world.ts';

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'cardea-reload-'));
after(() => fs.rmSync(home, { recursive: true }));
const folder = (): string => fs.mkdtempSync(path.join(home, 'etc-'));
const put = (file: string, text: string): string => (fs.writeFileSync(file, text), file);

const MINUTE = { origin: answers(CARD, { 'Cache-Control': 'max-age=60' }) };

async function inWorld(options: WorldOptions, run: (world: World) => Promise<void>): Promise<void> {
  const world = await World.start(options);
  try {
    await run(world);
  } finally {
    await world.stop();
  }
}

/** Lets time pass in steps of a look at the files until something is so. */
async function until(world: World, isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) {
    await world.clock.advance(200);
    await turn();
  }
}

const NOT_ADOPTED = 'the configuration was not adopted: the old one stays in force';
const adopted = (world: World): number => world.logged('configuration adopted').length;

describe('the configuration file', () => {
  test('that is edited is adopted, one that is broken is refused, and nobody has to ask', async () => {
    await inWorld({ ...MINUTE, file: path.join(folder(), 'cardea.yaml') }, async (world) => {
      assert.equal((await world.card()).status, 200);
      const good = world.written;
      world.writes(`${good}  nonsense\n`);
      await until(world, () => world.logged(NOT_ADOPTED).length === 1);
      assert.match(JSON.stringify(world.logged(NOT_ADOPTED)), /cardea\.yaml:\d+:\d+/);
      assert.equal((await world.card()).status, 200);
      world.writes(good.replace(/^ {2}weather:/m, '  forecast:'));
      await until(world, () => adopted(world) === 1);
      assert.equal((await world.card()).code, 'unknown-agent');
    });
  });

  test('that is taken away changes nothing, and counts again when it is back', async () => {
    const file = path.join(folder(), 'cardea.yaml');
    await inWorld({ ...MINUTE, file }, async (world) => {
      fs.rmSync(file);
      await until(world, () => world.logged(NOT_ADOPTED).length === 1);
      assert.match(JSON.stringify(world.logged(NOT_ADOPTED)), /cannot be read: it is not there/);
      assert.equal((await world.card()).status, 200);
      world.writes(world.written.replace(/^ {2}weather:/m, '  forecast:'));
      await until(world, () => adopted(world) === 1);
    });
  });

  test('that comes by the swap of a ConfigMap is adopted', async () => {
    const etc = folder();
    const swap = (version: string, text: string): void => {
      fs.mkdirSync(path.join(etc, version));
      fs.writeFileSync(path.join(etc, version, 'cardea.yaml'), text);
      // As the kubelet does it: a new link, renamed over the old one.
      fs.symlinkSync(version, path.join(etc, '..data_tmp'));
      fs.renameSync(path.join(etc, '..data_tmp'), path.join(etc, '..data'));
    };
    swap('..2026_11_30_08_00', '');
    fs.symlinkSync('..data/cardea.yaml', path.join(etc, 'cardea.yaml'));
    await inWorld({ ...MINUTE, file: path.join(etc, 'cardea.yaml') }, async (world) => {
      assert.equal((await world.card()).status, 200);
      swap('..2026_11_30_09_00', world.written.replace(/^ {2}weather:/m, '  forecast:'));
      fs.rmSync(path.join(etc, '..2026_11_30_08_00'), { recursive: true });
      await until(world, () => adopted(world) === 1);
      assert.equal((await world.card()).code, 'unknown-agent');
      assert.match((await world.metric(/^cardea_config_last_reload_successful/)) ?? '', / 1$/);
    });
  });
});

describe('a file that a setting names is read again when it changes', () => {
  const card = card10({
    supportedInterfaces: [{ url: 'http://127.0.0.1/rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  });
  const keysOf = (...keys: readonly Pair[]): string => JSON.stringify({ keys: keys.map((key) => key.publicJwk) });

  test('keys: a card of the new key is served, one of a key that is gone is not', async () => {
    const [one, two] = [await pair('one'), await pair('two')];
    const file = put(path.join(folder(), 'keys.json'), keysOf(one));
    const by = async (key: Pair): Promise<string> =>
      JSON.stringify({ ...card, signatures: [await signature(card, key)] });
    const [first, second] = [await by(one), await by(two)];
    const options = {
      file: path.join(folder(), 'cardea.yaml'),
      origin: answers(first, { 'Cache-Control': 'max-age=60' }),
      agent: 'signature: require, keys: [local]',
      config: `keys: { local: { file: ${file} } }`,
    };
    await inWorld(options, async (world) => {
      assert.match(String((await world.card()).headers['card-status']), /verified; kid="one"/);
      put(file, keysOf(two));
      await until(world, () => adopted(world) === 1);
      assert.equal((await world.card()).code, 'signature-untrusted');
      world.says(answers(second));
      await world.clock.advance(10_000);
      assert.match(String((await world.card()).headers['card-status']), /verified; kid="two"/);
      put(file, '{"keys":[]');
      await until(world, () => world.logged(NOT_ADOPTED).length === 1);
      assert.match(JSON.stringify(world.logged(NOT_ADOPTED)), /keys\.local\.file: holds no keys/);
      assert.equal((await world.card()).status, 200);
    });
  });

  test('the certificate authority of an origin', async () => {
    const [before, today] = [makeAuthority('Before'), makeAuthority('Today')];
    const ca = put(path.join(folder(), 'ca.pem'), before.cert);
    const at = new Date(new FakeClock().now()).toUTCString();
    const behave = answers(CARD, { 'Cache-Control': 'no-cache, must-revalidate', Date: at });
    const first = await startOrigin(behave, { tls: before.issue({ names: ['127.0.0.1'] }) });
    const { port } = first;
    const secure = `secure: { origin: "https://127.0.0.1:${port}", unsafeAddresses: [127.0.0.1/32], tls: { ca: ${ca} } }`;
    const url = '/agents/secure/.well-known/agent-card.json';
    await inWorld({ ...MINUTE, file: path.join(folder(), 'cardea.yaml') }, async (world) => {
      world.writes(world.written.replace(/^agents:/m, `agents:\n  ${secure}`));
      assert.ok((await world.daemon.reload('SIGHUP')).ok);
      assert.equal((await world.get(url)).status, 200);
      await first.close();
      const second = await startOrigin(behave, { port, tls: today.issue({ names: ['127.0.0.1'] }) });
      try {
        assert.equal((await world.get(url)).code, 'tls-failed');
        put(ca, today.cert);
        await until(world, async () => (await world.get(url)).status === 200);
      } finally {
        await second.close();
      }
    });
  });

  test('the admin token: the old one is worthless', async () => {
    const [old, fresh] = ['d41d8cd98f00b204e9800998ecf8427e-old', 'd41d8cd98f00b204e9800998ecf8427e-new'];
    const file = put(path.join(folder(), 'admin-token'), old);
    const options = { ...MINUTE, file: path.join(folder(), 'cardea.yaml'), config: `admin: { token: "file:${file}" }` };
    await inWorld(options, async (world) => {
      const asking = async (token: string): Promise<number> => {
        const headers = { Authorization: `Bearer ${token}` };
        return (await ask(`http://${world.daemon.started.admin[0]}/config`, { headers })).status;
      };
      assert.deepEqual([await asking(old), await asking(fresh)], [200, 401]);
      put(file, fresh);
      await until(world, async () => (await asking(fresh)) === 200);
      assert.equal(await asking(old), 401);
      put(file, 'short');
      await until(world, () => world.logged(NOT_ADOPTED).length === 1);
      assert.equal(await asking(fresh), 200);
      assert.ok(!world.log.some((line) => line.includes(fresh) || line.includes(old)));
    });
  });
});
