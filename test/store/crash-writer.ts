import { writeSync } from 'node:fs';
import { agentName, cardDigest, policyDigest, receiptId, urlId } from '../../src/kernel/ids.ts';
import type { CardVariant } from '../../src/kernel/review.ts';
import { epochMs } from '../../src/kernel/units.ts';
import { createSystemClock } from '../../src/observe/system-clock.ts';
import { openStateFolder } from '../../src/store/open-state.ts';
import { lockStateFolder } from '../../src/store/state-folder.ts';
import { KEEP, exchange } from './ledger-world.ts';

/*
 * A process that decides and decides until it is killed, and says of each decision that it was acknowledged. Each decision ends a hold
 * and has a receipt; receipts of exchanges are written in between.
 */

const [, , folder = '', round = ''] = process.argv;
const observer = { record: () => undefined };
const parts = { clock: createSystemClock(), observer, bounds: () => KEEP };
const { ledger } = await openStateFolder(folder, lockStateFolder(folder), parts);
writeSync(1, 'ready\n');
for (let n = 0; ; n += 1) {
  const id = `${round}-${n}`;
  const digest = cardDigest(id);
  const agent = agentName('weather');
  ledger.record(exchange(`x-${id}`));
  const held = await ledger.hold({
    agent,
    // As many as there are decisions.
    variant: id as CardVariant,
    digest,
    url: urlId('https://weather.example.com/card'),
    body: new Uint8Array(500),
    at: epochMs(n),
    policy: policyDigest('p'),
    contentType: 'application/json',
    since: epochMs(n),
    servable: true,
    changes: [],
  });
  const decision = {
    id: receiptId(id),
    at: epochMs(n),
    agent,
    digest,
    action: 'approve',
    reason: 'x',
    by: 'admin',
  } as const;
  const decided = await ledger.decide(decision, []);
  if (!held.ok || !decided.ok) process.exit(3);
  // Straight to the descriptor: what a stream holds back was never said.
  writeSync(1, `${id}\n`);
}
