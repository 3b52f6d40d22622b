import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { consoleNotice, startLine } from '../../src/daemon/places.ts';
import { listenerName } from '../../src/kernel/ids.ts';
import type { ListenAddress } from '../../src/kernel/listen-address.ts';
import { loadText } from '../support/config.ts';

const { ok, ...loaded } = await loadText('state: memory\n');
assert.ok(ok && 'settings' in loaded);
const { settings } = loaded;
const TLS = { cert: '/c.pem', key: '/k.pem', clientCa: null, crl: null };

const tcp = (host: string): ListenAddress => ({ kind: 'tcp', host, port: 8643 });

describe('where the console is', () => {
  const cases: readonly (readonly [at: ListenAddress, isSecure: boolean, url: string | null])[] = [
    [tcp('127.0.0.1'), false, 'http://127.0.0.1:8643/console/'],
    [tcp('127.0.0.1'), true, 'https://127.0.0.1:8643/console/'],
    [tcp('0.0.0.0'), false, 'http://localhost:8643/console/'],
    [tcp('::'), false, 'http://localhost:8643/console/'],
    [tcp('::1'), false, 'http://[::1]:8643/console/'],
    [{ kind: 'unix', path: '/run/admin.sock' }, false, null],
  ];
  for (const [at, isSecure, url] of cases) {
    test(`of ${JSON.stringify(at)}${isSecure ? ' with TLS' : ''}`, () => {
      const started = startLine([{ name: listenerName('admin'), at }]);
      const admin = { ...settings.listen.admin, tls: isSecure ? TLS : null };
      const told = consoleNotice(started, { listen: { ...settings.listen, admin } });
      const msg = `the console is at ${url}: cardea console prints a link that signs in`;
      assert.deepEqual(told, url === null ? [] : [{ kind: 'notice', level: 'info', msg }]);
    });
  }
});
