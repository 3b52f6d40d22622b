import type { Browser, CDPSession } from 'playwright-core';
import { manyAgents } from '../../test/browser/many-agents.ts';
import type { Scene } from './scene.ts';

const MANY = 500;
const TYPED = 'agent-42';
/** One agent of them has another state, so often. */
const UPDATES = 10;

/**
 * Measures how long the page's main thread is busy with five hundred agents, in ms of CPU: to draw them first, for one letter of a
 * filter, and for one agent that changes.
 */
export async function measureMany(browser: Browser, { link }: Scene): Promise<string> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 } });
  const page = await context.newPage();
  const busy = await createMeter(await context.newCDPSession(page));
  const now = Date.now();
  let agents = manyAgents(MANY, now);
  await page.route('**/agents', (route) => route.fulfill({ json: { agents, now } }));
  await page.goto(await link());
  await page.getByRole('rowheader', { name: `agent-${MANY - 1}`, exact: true }).waitFor();
  const drawn = await busy();
  await page.getByRole('searchbox').pressSequentially(TYPED);
  await page.getByText(`11 of ${MANY} agents`).waitFor();
  const typed = (await busy()) / TYPED.length;
  await page.getByRole('searchbox').fill('');
  await page
    .locator('tbody tr')
    .nth(MANY - 1)
    .waitFor();
  await busy();
  for (let update = 0; update < UPDATES; update += 1) {
    agents = agents.map((each, at) => (at === update ? { ...each, state: 'stale' } : each));
    await page.evaluate(`location.hash = '#/agents?down=${update}'`);
    await page.locator('tbody .state[data-state="stale"]').nth(update).waitFor();
  }
  const updated = (await busy()) / UPDATES;
  await context.close();
  const [first, letter, change] = [drawn, typed, updated].map(Math.round);
  return `${MANY} agents, CPU of the page: ${first} ms to draw them first, ${letter} ms for a letter of a filter, ${change} ms for one that changes`;
}

/** Tells the CPU time of the main thread since it was asked last: on a busy machine, time by the clock tells of the machine. */
async function createMeter(session: CDPSession): Promise<() => Promise<number>> {
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  let before = 0;
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    const seconds = metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0;
    const passed = seconds - before;
    before = seconds;
    return passed * 1_000;
  };
}
