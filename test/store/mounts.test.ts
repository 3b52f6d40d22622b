import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { mountedAlone } from '../../src/store/mounts.ts';

const home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'cardea-mounts-')));
after(() => fs.rmSync(home, { recursive: true }));

test('a file that is a mount point by itself is found, by its own name and through a link', async () => {
  const at = (name: string): string => path.join(home, name);
  for (const name of ['alone.yaml', 'with space.yaml', 'free.yaml']) fs.writeFileSync(at(name), '');
  fs.symlinkSync('alone.yaml', at('link.yaml'));
  const line = (point: string): string => `36 35 98:0 /mnt1 ${point} rw,noatime master:1 - ext3 /dev/root rw\n`;
  fs.writeFileSync(at('mountinfo'), [home, at('alone.yaml'), at('with\\040space.yaml')].map(line).join(''));
  const files = ['alone.yaml', 'with space.yaml', 'free.yaml', 'link.yaml', 'missing.yaml'].map(at);
  assert.deepEqual(await mountedAlone(files, at('mountinfo')), [files[0], files[1], files[3]]);
});

test('where the system does not tell, nothing is said', async () => {
  assert.deepEqual(await mountedAlone(['/etc/cardea/cardea.yaml'], path.join(home, 'no-such-list')), []);
});
