import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspectKeys } from '../../src/cli/inspect-keys.ts';
import { type LoadedConfig, loadConfig } from '../../src/config/load.ts';
import { formatProblem } from '../../src/config/place.ts';
import { problemsOf, readFrom, validConfig } from '../support/config.ts';

describe('flags, environment and file', () => {
  const text = 'cache: { maxStale: 1h, maxTtl: 2h }\nlog: { hits: true }';
  const maxStale = async (
    flags: readonly string[],
    env: Record<string, string>,
  ): Promise<readonly [unknown, unknown]> => {
    const { settings, sources } = await validConfig(text, { flags, env });
    return [settings.cache.maxStale, sources.get('cache.maxStale')];
  };
  test('a flag goes before the environment', async () => {
    const [value, source] = await maxStale(['--cache-max-stale=3h'], { CARDEA_CACHE_MAX_STALE: '2h' });
    assert.deepEqual([value, source], [10_800_000, { from: 'flag', name: '--cache-max-stale' }]);
  });
  test('the environment goes before the file', async () => {
    const [value, source] = await maxStale([], { CARDEA_CACHE_MAX_STALE: '2h' });
    assert.deepEqual([value, source], [7_200_000, { from: 'environment', name: 'CARDEA_CACHE_MAX_STALE' }]);
  });
  test('the file goes before the default', async () => {
    const [value, source] = await maxStale([], {});
    assert.deepEqual([value, source], [3_600_000, { from: 'file', file: '/etc/app/c.yaml', line: 1, column: 20 }]);
  });
  test('an empty variable is none', async () => {
    const [value] = await maxStale([], { CARDEA_CACHE_MAX_STALE: '' });
    assert.equal(value, 3_600_000);
  });
  test('the last of several flags goes', async () => {
    const [value] = await maxStale(['--cache-max-stale=3h', '--cache-max-stale=4h'], {});
    assert.equal(value, 14_400_000);
  });
  test('a boolean may be taken back', async () => {
    const { settings } = await validConfig(text, { flags: ['--log-hits=false'] });
    assert.equal(settings.log.hits, false);
  });
  test('a bad value in the file is a problem although a flag goes before it', async () => {
    const problems = await problemsOf('cache: { maxStale: never }', { flags: ['--cache-max-stale=3h'] });
    assert.deepEqual(problems, [
      'c.yaml:1:20 cache.maxStale: "never" is no duration; write one like 30s, 5m, 1h or 7d',
    ]);
  });
  test('a variable that names no setting is a warning', async () => {
    const { warnings } = await validConfig('', {
      env: {
        CARDEA_CACHE_MAXSTALE: '1h',
        CARDEA_X: '',
        CARDEA_PORT: 'a',
        CARDEA_PORT_80_TCP: 'b',
        CARDEA_SERVICE_HOST: 'c',
        CARDEALOG: 'd',
      },
    });
    assert.deepEqual(warnings.map(formatProblem), [
      'CARDEA_CACHE_MAXSTALE: no setting has this name; did you mean CARDEA_CACHE_MAX_STALE?',
      'CARDEA_X: no setting has this name; it does nothing',
    ]);
  });
  test('a setting of an agent has no flag', async () => {
    assert.deepEqual(await problemsOf('', { flags: ['--agents-a-origin=x'] }), ['--agents-a-origin: no such setting']);
  });
  test('problems together stand where the value came from', async () => {
    const problems = await problemsOf('', { env: { CARDEA_LISTEN_ADMIN: '127.0.0.1:8642' } });
    assert.deepEqual(problems, [
      'CARDEA_LISTEN_ADMIN: 127.0.0.1:8642 is taken by listen.agents; write another port, or 0 for a free one',
    ]);
  });
});

describe('relative paths', () => {
  const pathOf = async (text: string, flags: readonly string[], env: Record<string, string>): Promise<unknown> =>
    (await validConfig(text, { flags, env })).settings.state;
  test('of the file are relative to its folder', async () => {
    assert.deepEqual(await pathOf('state: s', [], {}), { kept: 'folder', path: '/etc/app/s' });
  });
  test('of the defaults too', async () => {
    assert.deepEqual(await pathOf('', [], {}), { kept: 'folder', path: '/etc/app/state' });
  });
  test('of flags and variables are relative to the working directory', async () => {
    assert.deepEqual(await pathOf('state: s', ['--state=t'], {}), { kept: 'folder', path: '/srv/t' });
    assert.deepEqual(await pathOf('state: s', [], { CARDEA_STATE: 'u' }), { kept: 'folder', path: '/srv/u' });
  });
});

describe('the file', () => {
  const load = (file: string | null, files: Record<string, string>): Promise<LoadedConfig> => {
    const content = new Map(Object.entries(files).map(([path, text]) => [path, new TextEncoder().encode(text)]));
    return loadConfig({ file, flags: [], env: {}, cwd: '/srv', readFile: readFrom(content), inspectKeys });
  };
  const fileOf = (config: LoadedConfig): unknown => (config.ok ? config.file : config.problems.map(formatProblem));
  const both = { '/srv/cardea.yaml': '', '/etc/cardea/cardea.yaml': '' };
  test('is cardea.yaml here', async () => assert.equal(fileOf(await load(null, both)), '/srv/cardea.yaml'));
  test('else the one in /etc', async () => {
    assert.equal(fileOf(await load(null, { '/etc/cardea/cardea.yaml': '' })), '/etc/cardea/cardea.yaml');
  });
  test('else nothing starts', async () => {
    assert.deepEqual(fileOf(await load(null, {})), [
      'cardea.yaml: no configuration; neither cardea.yaml nor /etc/cardea/cardea.yaml is there. Name one: --config FILE',
    ]);
  });
  test('is the one that was named, or nothing', async () => {
    assert.equal(fileOf(await load('x.yaml', { ...both, '/srv/x.yaml': '' })), '/srv/x.yaml');
    assert.deepEqual(fileOf(await load('x.yaml', both)), ['x.yaml: cannot be read: it is not there']);
  });
  test('that may not be read is not passed over', async () => {
    const readFile = (path: string): Promise<Uint8Array> =>
      Promise.reject(Object.assign(new Error(path), { code: 'EACCES' }));
    const config = await loadConfig({ file: null, flags: [], env: {}, cwd: '/srv', readFile, inspectKeys });
    assert.deepEqual(fileOf(config), ['cardea.yaml: cannot be read: this user may not read it']);
  });
});

describe('in Kubernetes', () => {
  test('the ops listener is open to the Pod', async () => {
    const { settings } = await validConfig('', { env: { KUBERNETES_SERVICE_HOST: '10.0.0.1' } });
    assert.deepEqual(settings.listen.ops.address, { kind: 'tcp', host: '0.0.0.0', port: 9464 });
  });
  test('and nowhere else', async () => {
    const { settings } = await validConfig('', { env: { KUBERNETES_SERVICE_HOST: '' } });
    assert.deepEqual(settings.listen.ops.address, { kind: 'tcp', host: '127.0.0.1', port: 9464 });
  });
});
