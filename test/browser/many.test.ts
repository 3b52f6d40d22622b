import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { BASE } from '../scenarios/review-world.ts';
import { HAS_CHROMIUM, HOW, Tab, startChromium } from './chromium.ts';
import { ConsoleWorld } from './console-world.ts';
import { manyAgents } from './many-agents.ts';

const MANY = 500;

/** Counts, from now on, the changes of the document by what was changed. */
const COUNT = `
  window.changed = { elements: 0, rows: new Set() };
  new MutationObserver((records) => {
    for (const { target, addedNodes, removedNodes } of records) {
      window.changed.elements += addedNodes.length + removedNodes.length;
      const row = target.closest?.('tbody tr');
      if (row) window.changed.rows.add(row);
    }
  }).observe(document.querySelector('#console'), { subtree: true, childList: true, attributes: true });`;
const read = (page: Page): Promise<{ readonly elements: number; readonly rows: number }> =>
  page.evaluate(`({ elements: window.changed.elements, rows: window.changed.rows.size })`);

describe('five hundred agents', { skip: HAS_CHROMIUM ? false : HOW }, () => {
  let browser: Browser;
  let here: ConsoleWorld;
  let tab: Tab;
  let agents: readonly object[];
  before(async () => {
    here = await ConsoleWorld.start(BASE);
    browser = await startChromium();
    tab = await Tab.open(browser);
    const now = here.world.clock.now();
    agents = manyAgents(MANY, now);
    await tab.page.route('**/agents', (route) => route.fulfill({ json: { agents, now } }));
    await here.signIn(tab);
    await tab.page.getByRole('rowheader', { name: `agent-${MANY - 1}`, exact: true }).waitFor();
  });
  after(async () => {
    await browser.close();
    await here.stop();
  });

  test('are all there', async () => {
    assert.equal(await tab.page.locator('tbody tr').count(), MANY);
    await tab.page.getByText(`${MANY} agents`).waitFor();
  });

  test('a second that passes touches what is in sight, and draws no row', async () => {
    const { page } = tab;
    const inSight = await page.evaluate<number>(
      `[...document.querySelectorAll('tbody tr')].filter((row) => row.getBoundingClientRect().top < innerHeight).length`,
    );
    assert.ok(inSight > 5 && inSight < 60, `${inSight} rows are in sight`);
    await page.evaluate(COUNT);
    const words = await page.locator('tbody .left').first().textContent();
    while ((await page.locator('tbody .left').first().textContent()) === words);
    const { rows } = await read(page);
    assert.ok(rows <= inSight + 2, `${rows} rows were touched, and ${inSight} are in sight`);
  });

  test('what happens to one agent draws the row of that agent', async () => {
    const { page } = tab;
    agents = agents.map((each, at) =>
      at === 400 ? { ...each, verdict: { signature: 'verified', kid: 'key-2026' } } : each,
    );
    await page.evaluate(COUNT);
    await here.later();
    await page.locator('tbody tr').nth(400).getByText('verified').waitFor();
    const kept = await page.evaluate<number>(`window.changed.elements`);
    // Words of the bars that are in sight are written meanwhile: two nodes each, a second.
    assert.ok(kept < 600, `${kept} nodes came or went`);
  });

  test('a filter leaves what it lets through, and the rest comes back in parts', async () => {
    const { page } = tab;
    const first = await page.locator('tbody tr').nth(42).elementHandle();
    await page.getByRole('searchbox').fill('agent-42');
    await page.getByText('11 of 500 agents').waitFor();
    assert.equal(await page.locator('tbody tr').count(), 11);
    // The rows that stay are the same ones: nothing was drawn anew.
    assert.equal(await first?.evaluate((element) => element.isConnected), true);
    assert.equal(await page.evaluate('location.hash'), '#/agents?q=agent-42');
    await page.getByRole('searchbox').fill('nothing of this kind');
    await page.getByRole('button', { name: 'Show all 500' }).click();
    await page.getByText('500 agents').waitFor();
    await page
      .locator('tbody tr')
      .nth(MANY - 1)
      .waitFor();
    await page.getByRole('button', { name: 'Agent', exact: true }).click();
    await page.getByRole('button', { name: 'Agent', exact: true }).click();
    assert.equal(await page.locator('tbody th').first().textContent(), `agent-${MANY - 1}`);
    assert.equal(await page.locator('th[aria-sort="descending"]').textContent(), 'Agent');
    tab.wentWrong();
  });
});
