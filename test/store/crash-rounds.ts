import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { agentName } from '../../src/kernel/ids.ts';
import { openState } from './ledger-world.ts';
import { writeAndDie } from './write-and-die.ts';

const WRITER = fileURLToPath(new URL('crash-writer.ts', import.meta.url));

/** Kills a writing process after each of `rounds` and looks at what is left. Returns how many decisions were acknowledged. */
export async function crashRounds(folder: string, rounds: number): Promise<number> {
  const acknowledged = new Set<string>();
  for (let round = 0; round < rounds; round += 1) {
    for (const id of await writeAndDie(WRITER, folder, round)) acknowledged.add(id);
    await checkFolder(folder, acknowledged);
  }
  return acknowledged.size;
}

/** Nothing acknowledged is lost; nothing is half there. */
async function checkFolder(folder: string, acknowledged: ReadonlySet<string>): Promise<void> {
  const { state, said } = await openState(folder);
  try {
    assert.deepEqual(said(), []);
    const decisions = await state.ledger.decisions(agentName('weather'));
    const held = await state.ledger.held(null);
    const chain = await state.ledger.verify();
    assert.ok(decisions.ok && held.ok && chain.ok);
    assert.deepEqual(chain.value.breaks, []);
    const decided = new Set<string>(decisions.value.map(({ id }) => id));
    for (const id of acknowledged) assert.ok(decided.has(id), `${id} was acknowledged and is lost`);
    for (const card of held.value)
      assert.ok(!decided.has(card.variant), `the hold of ${card.variant} outlived its decision`);
    assert.equal(await reviews(state.ledger), decided.size, 'each decision has its receipt');
  } finally {
    await state.close();
  }
}

async function reviews(ledger: Awaited<ReturnType<typeof openState>>['state']['ledger']): Promise<number> {
  let found = 0;
  let before: number | null = Number.MAX_SAFE_INTEGER;
  while (before !== null) {
    const page = await ledger.query({ limit: 1_000, before });
    assert.ok(page.ok);
    found += page.value.receipts.filter(({ kind }) => kind === 'review').length;
    before = page.value.next;
  }
  return found;
}
