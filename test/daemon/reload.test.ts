import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createReload, type ReloadParts } from '../../src/daemon/reload.ts';
import type { Event } from '../../src/kernel/event.ts';
import { loadText } from '../support/config.ts';
import { FakeClock } from '../support/fake-clock.ts';

const config = (redirects: number, token = ''): string =>
  `state: memory\nlimits: { redirects: ${redirects} }\n${token === '' ? '' : `admin: { token: "file:${token}" }\n`}`;

/** A reload over a daemon of a few lines: what it adopted is written down. */
async function rig(first: string) {
  const given = { text: first };
  const events: Event[] = [];
  const adopted: number[] = [];
  const watched: (readonly string[])[] = [];
  let loads = 0;
  let changed: () => void = () => undefined;
  let digest = '';
  const parts: ReloadParts = {
    clock: new FakeClock(),
    observer: { record: (event) => void events.push(event) },
    files: {
      watch(files, tell) {
        watched.push(files);
        changed = () => tell(files);
        return () => undefined;
      },
    },
    async load() {
      loads += 1;
      return loadText(given.text);
    },
    async adopt(next) {
      await turn();
      digest = next.rules.digest;
      adopted.push(next.settings.limits.redirects);
      return { atNextStart: [], moved: false };
    },
    mountedAlone: async (files) => files.filter((file) => file.endsWith('alone.yaml')),
    digest: () => digest,
  };
  const loaded = await loadText(first);
  assert.ok(loaded.ok);
  digest = loaded.rules.digest;
  const reload = createReload(parts);
  return { reload, given, events, adopted, watched, change: () => changed(), loads: () => loads };
}

describe('at start', () => {
  test('nothing is adopted where nothing has changed since the daemon read it', async () => {
    const { reload, adopted, loads } = await rig(config(1));
    reload.begin(['/etc/app/c.yaml']);
    await reload.stop();
    assert.deepEqual([adopted, loads()], [[], 1]);
  });

  test('what was written meanwhile is adopted', async () => {
    const { reload, given, adopted } = await rig(config(1));
    given.text = config(2);
    reload.begin(['/etc/app/c.yaml']);
    await reload.stop();
    assert.deepEqual(adopted, [2]);
  });

  test('files that are mounted one by one are warned of', async () => {
    const { reload, events } = await rig(config(1));
    reload.begin(['/etc/app/c.yaml', '/etc/app/alone.yaml']);
    await reload.stop();
    const warnings = events.flatMap((event) => (event.kind === 'notice' && event.level === 'warn' ? event.msg : []));
    assert.match(warnings.join(), /^\/etc\/app\/alone\.yaml is mounted by itself/);
  });
});

test('a change of any watched file is a reload, and a file that is new is watched before it counts as read', async () => {
  const { reload, given, adopted, watched, change, loads } = await rig(config(1));
  reload.begin(['/etc/app/c.yaml']);
  given.text = config(2, '/run/token');
  change();
  await reload.run('admin');
  assert.deepEqual(watched.at(-1), ['/etc/app/c.yaml', '/run/token']);
  assert.deepEqual([...new Set(adopted)], [2]);
  const before = loads();
  await reload.run('admin');
  assert.equal(loads(), before + 1);
  await reload.stop();
});

test('one at a time; whoever asks meanwhile gets what is written then', async () => {
  const { reload, given, adopted } = await rig(config(1));
  const outcomes = [reload.run('admin')];
  for (const redirects of [2, 3, 4]) {
    given.text = config(redirects);
    outcomes.push(reload.run('admin'), reload.run('SIGHUP'));
    await turn();
  }
  const digests = (await Promise.all(outcomes)).map((outcome) => outcome.ok && outcome.value.digest);
  assert.equal(adopted.at(-1), 4);
  assert.ok(adopted.length <= 4, `${adopted.length} reloads`);
  assert.notEqual(digests.at(-1), false);
  assert.deepEqual(reload.last().lastSuccessful, true);
  await reload.stop();
});

test('what cannot be adopted is told and remembered, and a drain ends it', async () => {
  const { reload, given, events, adopted } = await rig(config(1));
  given.text = 'limits: { redirects: 99 }\nstate: memory\n';
  const refused = await reload.run('SIGHUP');
  assert.match(refused.ok ? '' : refused.refusal.detail, /c\.yaml:1:\d+ limits\.redirects/);
  assert.equal(reload.last().lastSuccessful, false);
  assert.equal(events.length, 1);
  await reload.stop();
  const late = await reload.run('admin');
  assert.match(late.ok ? '' : late.refusal.detail, /draining/);
  assert.deepEqual([adopted, reload.last().lastSuccessful], [[], false]);
});

test('a file that is empty, as one is before it is written, takes nothing away; a comment alone does', async () => {
  const { reload, given, adopted } = await rig(config(1));
  for (const text of ['', ' \n\t\r\n']) {
    given.text = text;
    const refused = await reload.run('file');
    assert.match(refused.ok ? '' : refused.refusal.detail, /c\.yaml: is empty, .* a comment in it says so/);
  }
  assert.deepEqual([adopted, reload.last().lastSuccessful], [[], false]);
  given.text = '# nothing yet\n';
  assert.ok((await reload.run('file')).ok);
  assert.deepEqual([adopted.length, reload.last().lastSuccessful], [1, true]);
  await reload.stop();
});
