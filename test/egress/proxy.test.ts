import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, describe, test } from 'node:test';
import { urlId } from '../../src/kernel/ids.ts';
import { makeAuthority } from '../support/certificates.ts';
import { startOrigin } from '../support/origin-server.ts';
import { startProxy } from '../support/proxy-server.ts';
import { orderFor, rig, ruleFor, scripted } from './harness.ts';

async function start(t: TestContext, answer?: string) {
  const authority = makeAuthority();
  const origin = await startOrigin((_request, response) => void response.end('{}'), {
    tls: authority.issue({ names: ['agents.example.test'] }),
  });
  t.after(() => origin.close());
  const folder = mkdtempSync(join(tmpdir(), 'cardea-proxy-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'ca.pem'), authority.cert);
  const proxy = await startProxy(origin.port, answer);
  t.after(() => proxy.close());
  const resolver = scripted({});
  const { fetcher } = rig({ resolver });
  t.after(() => fetcher.close());
  const rule = ruleFor(['https://agents.example.test'], {
    proxy: urlId(proxy.url),
    unsafeAddresses: [],
    tls: { ca: join(folder, 'ca.pem') },
  });
  return { origin, proxy, resolver, fetcher, rule };
}

describe('an explicit egress proxy', () => {
  test('gets the name, unresolved; TLS is with the origin', async (t) => {
    const { fetcher, rule, proxy, resolver, origin } = await start(t);
    const result = await fetcher.fetch(orderFor('https://agents.example.test/card', { rule }));
    assert.ok(result.ok, JSON.stringify(result));
    assert.deepEqual(proxy.asked, ['agents.example.test:443']);
    assert.deepEqual(origin.asked, ['GET /card']);
    assert.deepEqual(resolver.asked, []);
    assert.deepEqual(result.trail.addresses, ['127.0.0.1']);
    const again = await fetcher.fetch(orderFor('https://agents.example.test/card', { rule }));
    assert.ok(again.ok && again.trail.reused);
  });
  test('sees nothing of an origin that is not on the allowlist, nor of a forbidden address', async (t) => {
    const { fetcher, rule, proxy } = await start(t);
    const refusals = [];
    for (const url of ['https://evil.test/', 'https://10.0.0.5/']) {
      const result = await fetcher.fetch(
        orderFor(url, { rule: { ...rule, allowed: [...rule.allowed, ...ruleFor(['https://10.0.0.5']).allowed] } }),
      );
      refusals.push(result.ok ? 'ok' : result.refusal.code);
    }
    assert.deepEqual(refusals, ['origin-not-allowed', 'address-forbidden']);
    assert.deepEqual(proxy.asked, []);
  });
  test('that says no is named as the reason', async (t) => {
    const { fetcher, rule } = await start(t, 'HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n');
    const result = await fetcher.fetch(orderFor('https://agents.example.test/', { rule }));
    assert.ok(!result.ok);
    assert.equal(result.refusal.code, 'origin-unreachable');
    assert.match(result.refusal.detail, /proxy answered CONNECT with 403/);
  });
});
