import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { type Mounts, layOut, makeMount, runInContainer, startContainer } from '../support/image.ts';
import { startOrigin } from '../support/origin-server.ts';
import { isThere } from '../support/programs.ts';
import { CARD, CARD_PATH, answers, ask } from '../support/world.ts';

const HOW = 'install bubblewrap, which runs a root file system without a container engine';

let folder: string;
let mounts: Mounts;
const canRun = isThere('bwrap', ['--version'], HOW);

before(() => {
  if (!canRun) return;
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cardea-image-'));
  fs.chmodSync(folder, 0o755);
  layOut(path.join(folder, 'root'));
  mounts = {
    root: path.join(folder, 'root'),
    config: makeMount(path.join(folder, 'config'), false),
    kill: makeMount(path.join(folder, 'kill'), false),
    state: makeMount(path.join(folder, 'state'), true),
  };
});
after(() => {
  if (canRun) fs.rmSync(folder, { recursive: true, force: true });
});

function configure(origin: string, more = ''): void {
  const local = 'unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32]';
  const text = `listen: { agents: "127.0.0.1:0", ops: "127.0.0.1:0" }
agents:
  weather: { origin: "${origin}", ${local} }
${more}`;
  fs.writeFileSync(path.join(mounts.config, 'cardea.yaml'), text);
}

describe('the image, as user 65532 on a read-only file system', () => {
  test('serves a card, keeps it for the next start, and drains', async (t) => {
    if (!canRun) return t.skip(HOW);
    const origin = await startOrigin(answers(CARD, { 'Cache-Control': 'max-age=3600' }));
    configure(origin.url);
    const first = await startContainer(mounts);
    assert.equal(first.started.pid, 1, 'the launcher has become the daemon');
    assert.equal((await ask(`http://${first.started.agents[0]}${CARD_PATH}`, {})).body, CARD);
    assert.equal(await first.end('SIGTERM'), 0, first.output());
    assert.doesNotMatch(first.output(), /"level":"error"|Warning/, 'nothing was refused to it');
    await origin.close();
    const second = await startContainer(mounts);
    const kept = await ask(`http://${second.started.agents[0]}${CARD_PATH}`, {});
    assert.deepEqual([kept.status, kept.body], [200, CARD]);
    assert.match(String(kept.headers['cache-status']), /^cardea; hit; ttl=\d+/);
    assert.equal(await second.end('SIGTERM'), 0);
  });

  test('answers probes and metrics, and a command beside it finds it', async (t) => {
    if (!canRun) return t.skip(HOW);
    configure('http://127.0.0.1:9');
    const container = await startContainer(mounts);
    const { body } = await ask(`http://${container.started.ops[0]}/metrics`, {});
    for (const metric of ['process_resident_memory_bytes', 'process_open_fds']) {
      assert.match(body, new RegExp(`^${metric} [1-9]`, 'm'), 'what the permission model lets it see of itself');
    }
    assert.deepEqual(runInContainer(mounts, ['health', 'live']), { code: 0, out: 'ok\n' });
    const status = runInContainer(mounts, ['status']);
    assert.equal(status.code, 0, status.out);
    assert.match(status.out, /^weather +missing /m, 'administration by the socket asks for no token');
    assert.equal(await container.end('SIGTERM'), 0);
    assert.equal(runInContainer(mounts, ['health', 'live']).code, 3);
  });

  test('adopts a changed configuration, and writes that down', async (t) => {
    if (!canRun) return t.skip(HOW);
    configure('http://127.0.0.1:9');
    const container = await startContainer(mounts);
    const agents = async (): Promise<string> => (await ask(`http://${container.started.agents[0]}/agents`, {})).body;
    assert.doesNotMatch(await agents(), /"planner"/);
    configure('http://127.0.0.1:9', '  planner: { origin: "https://planner.example.invalid" }\n');
    process.kill(container.pid, 'SIGHUP');
    while (!(await agents()).includes('"planner"')) await turn();
    assert.match(
      (await ask(`http://${container.started.ops[0]}/metrics`, {})).body,
      /^cardea_config_last_reload_successful 1$/m,
    );
    assert.equal(await container.end('SIGTERM'), 0);
  });

  test('is stopped by the key KILL of a mounted ConfigMap, and can write that down', async (t) => {
    if (!canRun) return t.skip(HOW);
    fs.writeFileSync(path.join(mounts.kill, 'KILL'), 'stop');
    const container = await startContainer(mounts);
    const { code } = await ask(`http://${container.started.agents[0]}${CARD_PATH}`, {});
    assert.equal(code, 'killed');
    assert.match((await ask(`http://${container.started.ops[0]}/metrics`, {})).body, /^cardea_kill_persisted 1$/m);
    fs.rmSync(path.join(mounts.kill, 'KILL'));
    assert.equal(await container.end('SIGTERM'), 0);
  });
});

describe("Node's permission model", () => {
  test('is on with exactly the grants of the running major', (t) => {
    if (!canRun) return t.skip(HOW);
    // What the launcher becomes is looked at, not read from its text.
    const probe = path.join(folder, 'probe');
    fs.mkdirSync(path.join(probe, 'dist'), { recursive: true });
    fs.copyFileSync(path.join(mounts.root, 'app/launch.mjs'), path.join(probe, 'launch.mjs'));
    fs.writeFileSync(path.join(probe, 'dist/main.js'), PROBE);
    const asked = JSON.parse(
      execFileSync(process.execPath, [path.join(probe, 'launch.mjs')], { encoding: 'utf8' }),
    ) as object;
    assert.deepEqual(asked, {
      read: { own: true, config: true, pins: true, secrets: true, state: true, passwd: false, home: false },
      write: { own: false, config: false, state: true, tmp: false },
      worker: true,
      child: false,
      listens: true,
    });
  });
});

/** Prints what it may do. */
const PROBE = `
const may = (scope, path) => process.permission.has(scope, path);
const net = await import('node:net');
const listens = await new Promise((resolve) => {
  const server = net.createServer().listen(0, '127.0.0.1', () => server.close(() => resolve(true)));
  server.on('error', () => resolve(false));
});
console.log(JSON.stringify({
  read: {
    own: may('fs.read', import.meta.filename),
    config: may('fs.read', '/etc/cardea/cardea.yaml'),
    pins: may('fs.read', '/etc/cardea-approved/approved.yaml'),
    secrets: may('fs.read', '/run/secrets/token'),
    state: may('fs.read', '/var/lib/cardea/state/kills.json'),
    passwd: may('fs.read', '/etc/passwd'),
    home: may('fs.read', '/root'),
  },
  write: {
    own: may('fs.write', import.meta.filename),
    config: may('fs.write', '/etc/cardea/cardea.yaml'),
    state: may('fs.write', '/var/lib/cardea/state/kills.json'),
    tmp: may('fs.write', '/tmp/x'),
  },
  worker: may('worker'),
  child: may('child'),
  listens,
}));
`;

describe('the bill of materials', () => {
  interface Bom {
    readonly bomFormat: string;
    readonly specVersion: string;
    readonly serialNumber: string;
    readonly components: readonly { readonly name: string; readonly version: string; readonly type: string }[];
    readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
  }

  test('names every package of the image and nothing else, and is the same each time', (t) => {
    if (!canRun) return t.skip(HOW);
    const app = path.join(mounts.root, 'app');
    const text = fs.readFileSync(path.join(app, 'sbom.cdx.json'), 'utf8');
    const bom = JSON.parse(text) as Bom;
    const installed = fs
      .globSync('node_modules/**/package.json', { cwd: app })
      .filter((file) => /node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(file))
      .map((file) => JSON.parse(fs.readFileSync(path.join(app, file), 'utf8')) as { name: string; version: string })
      .map(({ name, version }) => `${name} ${version}`);
    const libraries = bom.components.filter(({ type }) => type === 'library');
    assert.deepEqual(libraries.map(({ name, version }) => `${name} ${version}`).toSorted(), installed.toSorted());
    assert.ok(bom.components.some(({ type, version }) => type === 'platform' && version === process.versions.node));
    const again = spawnSync(process.execPath, ['scripts/sbom.mjs'], {
      encoding: 'utf8',
      cwd: path.resolve(import.meta.dirname, '../..'),
    });
    assert.equal(again.stdout, text);
  });

  test('is CycloneDX 1.6: every reference has its component', (t) => {
    if (!canRun) return t.skip(HOW);
    const bom = JSON.parse(fs.readFileSync(path.join(mounts.root, 'app/sbom.cdx.json'), 'utf8')) as Bom;
    assert.deepEqual([bom.bomFormat, bom.specVersion], ['CycloneDX', '1.6']);
    assert.match(bom.serialNumber, /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    const refs = new Set(bom.dependencies.map(({ ref }) => ref));
    for (const { ref, dependsOn } of bom.dependencies)
      for (const each of dependsOn) assert.ok(refs.has(each), `${ref} → ${each}`);
  });
});

test('nothing of the workshop is in the image', (t) => {
  if (!canRun) return t.skip(HOW);
  const app = path.join(mounts.root, 'app');
  assert.deepEqual(fs.readdirSync(app).toSorted(), [
    'LICENSE',
    'config.schema.json',
    'console',
    'deploy',
    'dist',
    'launch.mjs',
    'node_modules',
    'package.json',
    'sbom.cdx.json',
  ]);
  assert.deepEqual(fs.globSync('**/*.{ts,map}', { cwd: app }), []);
  const large = fs.globSync('**', { cwd: app, withFileTypes: true }).filter((entry) => entry.isFile());
  const bytes = large.reduce((sum, { parentPath, name }) => sum + fs.statSync(path.join(parentPath, name)).size, 0);
  assert.ok(bytes < 16_000_000, `${bytes} bytes`);
});
