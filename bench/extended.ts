/**
 * `npm run bench:extended`: extended cards of 1,000 principals at 100 agents each, the cards of one agent equal. The heap that one entry takes beside
 * its bytes, after a collection, and how long the purge of one principal's 100 entries takes among 10,000 entries and among 100,000.
 */
import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { partitionKey } from '../src/discovery/partition.ts';
import { strongEtag } from '../src/http/answer.ts';
import type { ExtendedEntry } from '../src/kernel/extended-entry.ts';
import { agentName, cardDigest, policyDigest, receiptId, tag, urlId } from '../src/kernel/ids.ts';
import { type Principal, plainPrincipal, principalTags } from '../src/kernel/principal.ts';
import { bytes, epochMs, ms } from '../src/kernel/units.ts';
import { createSystemClock } from '../src/observe/system-clock.ts';
import type { ExtendedStore } from '../src/ports/callers.ts';
import { createExtendedStore } from '../src/store/extended.ts';
import { createKeyedHash } from '../src/store/keyed-hash.ts';
import { answer } from './support/results.ts';

const AGENTS = 100;
const PURGES = 50;
const hash = createKeyedHash(new Uint8Array(32));
setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');

const before = heap();
const large = filled(1_000);
const perEntry = Math.round((heap() - before) / large.held().entries);
assert.deepEqual([large.held().entries, large.held().principals], [100_000, 1_000]);
const [among10k, among100k] = [purgeTime(filled(100)), purgeTime(large)];
const figures = {
  '100,000 entries of 3 KB': {
    heapBytesPerEntry: perEntry,
    purgeOf100Among10kUs: among10k,
    purgeOf100Among100kUs: among100k,
  },
};
answer('extended', { figures, versions: { Node: process.version } }, { record: process.argv.includes('--record') });

function heap(): number {
  if (typeof collect === 'function') collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function filled(principals: number): ExtendedStore {
  const observer = { record: () => undefined };
  const store = createExtendedStore({ clock: createSystemClock(), observer, maxBytes: bytes(4 * 1024 ** 3) });
  for (let who = 0; who < principals; who += 1)
    for (let agent = 0; agent < AGENTS; agent += 1) store.put(entryOf(store, principalOf(who), `agent-${agent}`));
  return store;
}

function principalOf(who: number): Principal {
  const id = `https://idp.example.com#user-${who}`;
  return { ...plainPrincipal('opaque', id), kind: 'verified', tenant: 'acme', scopes: ['cards:read'] };
}

/** The median over principals, each with 100 entries. */
function purgeTime(store: ExtendedStore): number {
  const times = Array.from({ length: PURGES }, (_, who) => {
    const name = tag(`principal:${hash('principal', principalOf(who).id)}`);
    const began = performance.now();
    assert.equal(store.purge([name], false), AGENTS);
    return (performance.now() - began) * 1_000;
  });
  return Math.round(times.toSorted((a, b) => a - b)[Math.floor(PURGES / 2)] ?? 0);
}

function entryOf(store: ExtendedStore, principal: Principal, agent: string): ExtendedEntry {
  const body = new TextEncoder().encode(JSON.stringify({ name: agent, description: 'x'.repeat(3_000) }));
  const card = urlId(`https://${agent}.example.com/.well-known/agent-card.json`);
  const shown = { by: 'caller', scheme: 'bearer', hash: '', verified: true } as const;
  const parts = { agent: agentName(agent), card, interfaceTenant: '', principal, shown, version: '1.0' } as const;
  return {
    partition: partitionKey({ ...parts, extensions: '' }, hash),
    agent: agentName(agent),
    body,
    etag: strongEtag(body),
    fields: ['date', 'Mon, 30 Nov 2026 10:00:00 GMT', 'content-type', 'application/json'],
    receivedAt: epochMs(Date.now()),
    initialAge: ms(0),
    lifetime: {
      fresh: ms(300_000),
      staleWhileRevalidate: ms(0),
      staleIfError: ms(0),
      validateAlways: false,
      mustRevalidate: false,
      immutable: false,
    },
    admission: {
      digest: cardDigest('0'.repeat(64)),
      verdict: { signature: 'unsigned' },
      review: 'allowed',
      facts: { name: agent, version: '1.0.0', protocolVersion: '1.0', extended: true },
      policy: policyDigest('p'),
      receipt: receiptId('r'),
      at: epochMs(Date.now()),
      warnings: [],
    },
    until: epochMs(Number.POSITIVE_INFINITY),
    publicDigest: cardDigest('1'.repeat(64)),
    generation: store.generation(),
    tags: [tag(`agent:${agent}`), tag(`origin:${agent}.example.com`), tag('all'), ...principalTags(principal, hash)],
  };
}
