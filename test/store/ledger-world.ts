import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import type { Event } from '../../src/kernel/event.ts';
import { agentName, cardDigest, policyDigest, receiptId, urlId, variantKey } from '../../src/kernel/ids.ts';
import type { ExchangeReceipt } from '../../src/kernel/receipt.ts';
import { epochMs, ms } from '../../src/kernel/units.ts';
import { type State, openStateFolder } from '../../src/store/open-state.ts';
import type { KeepReceipts } from '../../src/store/ledger-file.ts';
import { lockStateFolder } from '../../src/store/state-folder.ts';
import { FakeClock } from '../support/fake-clock.ts';

/** A folder of its own for one test. */
export async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'cardea-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export interface OpenedState {
  readonly state: State;
  readonly clock: FakeClock;
  readonly events: readonly Event[];
  /** The notices' messages. */
  said(): readonly string[];
}

/** Opens the state of a folder as the daemon does; the test closes it. */
export async function openState(
  folder: string,
  bounds: KeepReceipts = KEEP,
  clock = new FakeClock(),
): Promise<OpenedState> {
  const events: Event[] = [];
  const observer = { record: (event: Event) => void events.push(event) };
  const lock = lockStateFolder(folder);
  const state = await openStateFolder(folder, lock, { clock, observer, bounds: () => bounds });
  const said = () => events.flatMap((event) => (event.kind === 'notice' ? [event.msg] : []));
  return { state, clock, events, said };
}

export const KEEP: KeepReceipts = { keep: 30 * 86_400_000, max: 100_000 };

/** A receipt of an exchange for the agent `weather`. */
export function exchange(id: string, over: Partial<ExchangeReceipt> = {}): ExchangeReceipt {
  const url = urlId('https://weather.example.com/.well-known/agent-card.json');
  return {
    kind: 'exchange',
    id: receiptId(id),
    at: epochMs(1_800_000_000_000),
    purpose: 'card',
    agent: agentName('weather'),
    variant: variantKey(''),
    trail: { requestedUrl: url, finalUrl: url, redirects: [], addresses: ['192.0.2.1'], reused: false },
    conditional: false,
    status: 200,
    caching: { 'cache-control': 'max-age=60' },
    digest: cardDigest('ab'.repeat(32)),
    version: '1.0.0',
    protocolVersion: '1.0',
    interfaceUrl: null,
    verdict: { signature: 'unsigned' },
    review: 'allowed',
    changes: [],
    warnings: [],
    outcome: 'stored',
    code: null,
    why: null,
    policy: policyDigest('p'),
    took: ms(12),
    ...over,
  };
}
