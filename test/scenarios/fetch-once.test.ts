import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, describe, test } from 'node:test';
import type { FetchedCard } from '../../src/cli/fetch.ts';
import { fetchOnce } from '../../src/fetch-once.ts';
import { makeAuthority } from '../support/certificates.ts';
import { validConfig } from '../support/config.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { startNameServer } from '../support/name-server.ts';
import { startOrigin } from '../support/origin-server.ts';
import { CARD } from '../support/world.ts';

/** `cardea fetch`: everything that was seen on the way, and the line that would allow what was refused. */

const WELL_KNOWN = '/.well-known/agent-card.json';

async function start(t: TestContext) {
  const authority = makeAuthority();
  const tls = authority.issue({ names: ['planner.example.test'] });
  const origin = await startOrigin(
    (_request, response) => void response.setHeader('Content-Type', 'application/json').end(CARD),
    { tls },
  );
  const dns = await startNameServer(() => [{ ttl: 60, a: '127.0.0.1' }]);
  const folder = mkdtempSync(path.join(tmpdir(), 'cardea-fetch-'));
  writeFileSync(path.join(folder, 'ca.pem'), authority.cert);
  t.after(async () => {
    await origin.close();
    dns.close();
    rmSync(folder, { recursive: true });
  });
  const base = `https://planner.example.test:${origin.port}`;
  const fetch = async (lines: string, target: string): Promise<FetchedCard> => {
    const ca = path.join(folder, 'ca.pem');
    const text = `${lines}\negress: { dns: ["${dns.server}"] }`.replaceAll('$BASE', base).replaceAll('$CA', ca);
    const config = await validConfig(text, { files: { [ca]: '' } });
    const fetched = await fetchOnce(config, target, { clock: new FakeClock(), log: { write: () => undefined } });
    assert.ok(fetched);
    return fetched;
  };
  return { base, dns, fetch, origin };
}

const OPEN = 'tls: { ca: $CA }, unsafeAddresses: [127.0.0.1/32], interfaces: any';
const detailOf = ({ report }: FetchedCard): string => String(report['detail']);

test('a first card that the daemon would hold is shown, and that is said', async (t) => {
  const { fetch } = await start(t);
  const fetched = await fetch(
    `agents: { planner: { origin: $BASE, review: { firstUse: pinned }, ${OPEN} } }`,
    'planner',
  );
  assert.ok(fetched.card !== null);
  assert.match(fetched.lines.join('\n'), /review: firstUse is pinned/);
});

describe('an agent, by name', () => {
  test('says rule, addresses with their classes, certificate and verdict', async (t) => {
    const { fetch, base } = await start(t);
    const fetched = await fetch(`agents: { planner: { origin: $BASE, ${OPEN} } }`, 'planner');
    assert.equal(new TextDecoder().decode(fetched.card ?? new Uint8Array()), CARD);
    const { target, rule, sights, ok } = fetched.report;
    assert.deepEqual([target, rule, ok], ['planner', 'agents.planner', true]);
    const [resolved, connected] = sights as readonly Record<string, unknown>[];
    assert.deepEqual(resolved, {
      kind: 'resolved',
      host: 'planner.example.test',
      addresses: [{ address: '127.0.0.1', class: '127.0.0.0/8 (Loopback, RFC 1122)', allowed: true }],
    });
    assert.deepEqual([connected?.['origin'], connected?.['address']], [base, '127.0.0.1']);
    const certificate = connected?.['certificate'] as Record<string, string>;
    assert.match(certificate['names'] ?? '', /DNS:planner\.example\.test/);
    assert.match(certificate['sha256'] ?? '', /^([0-9A-F]{2}:){31}[0-9A-F]{2}$/);
    assert.match(
      fetched.lines.join('\n'),
      /^rule: agents\.planner\nplanner\.example\.test: 127\.0\.0\.1, .*\nconnected: .*\ncertificate: .*\naccepted: Weather/,
    );
  });

  test('refused for its address names the very line, and with that line it is accepted', async (t) => {
    const { fetch, origin } = await start(t);
    const lines = (more: string): string =>
      `agents: { planner: { origin: $BASE, tls: { ca: $CA }, interfaces: any${more} } }`;
    const refused = await fetch(lines(''), 'planner');
    assert.equal(refused.report['code'], 'address-forbidden');
    assert.match(refused.lines.join('\n'), /127\.0\.0\.1, 127\.0\.0\.0\/8 \(Loopback, RFC 1122\), refused/);
    const [, entry] = /add (\S+) to agents\.planner\.unsafeAddresses\./.exec(detailOf(refused)) ?? [];
    assert.equal(origin.connections(), 0);
    assert.equal((await fetch(lines(`, unsafeAddresses: ["${entry}"]`), 'planner')).report['ok'], true);
  });
});

describe('a URL of no agent', () => {
  const AGENT = `agents: { planner: { origin: $BASE, ${OPEN} } }`;

  test("on an agent's origin goes by that agent's rules, the card's own included", async (t) => {
    const { fetch, base, origin } = await start(t);
    const fetched = await fetch(AGENT, `${base}/other/card.json`);
    assert.deepEqual([fetched.report['rule'], fetched.report['ok']], ['agents.planner', true], detailOf(fetched));
    assert.deepEqual(origin.asked, ['GET /other/card.json']);
  });

  test('that nothing covers is refused before anything is resolved, and the line that is named allows it', async (t) => {
    const { fetch, base, dns, origin } = await start(t);
    const refused = await fetch('agents: {}', `${base}${WELL_KNOWN}`);
    assert.equal(refused.report['code'], 'origin-not-allowed');
    assert.deepEqual([dns.asked, origin.connections()], [[], 0]);
    const [, line = ''] = /write (agents: \{.*\})\.$/.exec(detailOf(refused)) ?? [];
    const allowed = await fetch(line.replace('NAME', 'new').replace(' } }', `, ${OPEN} } }`), `${base}${WELL_KNOWN}`);
    assert.equal(allowed.report['ok'], true);
  });

  test('that looks like a configured one is called so', async (t) => {
    const { fetch } = await start(t);
    for (const url of [
      'https://p1anner.example.test/',
      'https://pl\u0430nner.example.test/',
      'https://planner.example.test.evil.test/',
    ]) {
      const refused = await fetch(AGENT, url);
      assert.equal(refused.report['code'], 'lookalike-origin', url);
      assert.match(detailOf(refused), /resembles planner\.example\.test/);
    }
  });

  test('that a rule with content: none covers is not for discovery', async (t) => {
    const { fetch, base, dns } = await start(t);
    const refused = await fetch('origins: [{ match: $BASE, content: none }]', `${base}/keys`);
    assert.equal(refused.report['code'], 'origin-not-allowed');
    assert.match(detailOf(refused), /^origins\[0\] is content: none/);
    assert.deepEqual(dns.asked, []);
  });

  test('that a rule with content: any covers is fetched without card rules', async (t) => {
    const { fetch, base } = await start(t);
    const rule = 'origins: [{ match: $BASE, content: any, tls: { ca: $CA }, unsafeAddresses: [127.0.0.1] }]';
    const fetched = await fetch(rule, `${base}/x`);
    assert.deepEqual([fetched.report['rule'], fetched.report['status']], ['origins[0]', 200]);
  });
});
