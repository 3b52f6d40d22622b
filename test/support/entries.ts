import type { Admission, Entry } from '../../src/kernel/entry.ts';
import {
  type EntryKey,
  agentName,
  cardDigest,
  generation,
  policyDigest,
  receiptId,
  tag,
  urlId,
  variantKey,
} from '../../src/kernel/ids.ts';
import { epochMs, ms } from '../../src/kernel/units.ts';

/** Where test clocks start. */
const START = epochMs(1_800_000_000_000);

export const entryKey = (name: string): EntryKey => `any\0test\0https://${name}.example.com/` as EntryKey;

export const ADMISSION: Admission = {
  digest: cardDigest('0'.repeat(64)),
  verdict: { signature: 'unsigned' },
  review: 'allowed',
  facts: { name: 'Weather', version: '1.0.0', protocolVersion: '1.0', extended: false },
  policy: policyDigest('policy'),
  receipt: receiptId('receipt'),
  at: START,
  warnings: [],
};

/** A stored response of an origin, fresh for five minutes from the test clock's start. */
export const entryOf = (name: string, more: Partial<Entry> = {}): Entry => ({
  key: entryKey(name),
  variant: variantKey(''),
  vary: [],
  agent: null,
  url: urlId(`https://${name}.example.com/`),
  status: 200,
  fields: ['Content-Type', 'text/plain'],
  body: new Uint8Array(100),
  etag: null,
  requestedAt: START,
  receivedAt: START,
  initialAge: ms(0),
  lifetime: {
    fresh: ms(300_000),
    staleWhileRevalidate: ms(30_000),
    staleIfError: ms(3_600_000),
    validateAlways: false,
    mustRevalidate: false,
    immutable: false,
  },
  admission: null,
  generation: generation(0),
  tags: [tag('all'), tag(`origin:${name}.example.com`)],
  ...more,
});

/** The stored card of a named agent. */
export const cardOf = (agent: string, more: Partial<Entry> = {}): Entry =>
  entryOf(agent, {
    agent: agentName(agent),
    admission: ADMISSION,
    tags: [tag('all'), tag(`agent:${agent}`), tag(`origin:${agent}.example.com`)],
    ...more,
  });
