import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { fails } from '../support/world.ts';
import { HAS_CHROMIUM, HOW, Tab, startChromium } from './chromium.ts';
import { ConsoleWorld, serves } from './console-world.ts';
import { HOSTILE, HOSTILE_AGAIN } from './hostile.ts';

/** Elements that no text of a card may become, and what would show that one of its scripts ran. */
const FOREIGN = `[typeof window.ran, document.querySelectorAll('#console script, #console svg, #console b:not(.chips b), #console img:not(.mark img), #console iframe').length]`;
/** Characters that turn or hide text, anywhere on the page. */
const UNSEEN = String.raw`/[\u202a-\u202e\u2066-\u2069\u200b\u2028\u0000\u{e0041}]/u.test(document.querySelector('#console').textContent)`;
const links = `[...document.querySelectorAll('#console a')].map((a) => a.getAttribute('href')).filter((href) => !href.startsWith('#'))`;

async function isHarmless(page: Page): Promise<void> {
  assert.deepEqual(await page.evaluate(FOREIGN), ['undefined', 0]);
  assert.equal(await page.evaluate(UNSEEN), false, 'a character that nobody sees stands in the page');
  assert.deepEqual(await page.evaluate(links), []);
  // What is drawn is bounded, whatever the card has.
  const drawn = await page.evaluate<number>(`document.querySelector('#console').textContent.length`);
  assert.ok(drawn < 40_000, `${drawn} characters are drawn`);
  const nodes = await page.evaluate<number>(`document.querySelectorAll('#console *').length`);
  assert.ok(nodes < 3_000, `${nodes} elements are drawn`);
}

describe('what an agent writes to whoever reads it', { skip: HAS_CHROMIUM ? false : HOW }, () => {
  let browser: Browser;
  let here: ConsoleWorld;
  let tab: Tab;
  before(async () => {
    const agent = 'schema: off';
    const config = 'cache: { prefetch: false, staleWhileRevalidate: 0s }\nlimits: { cardBytes: 4MiB }';
    here = await ConsoleWorld.start(HOSTILE, { agent, config });
    browser = await startChromium();
    await here.world.card();
    tab = await Tab.open(browser);
    await here.signIn(tab);
  });
  after(async () => {
    await browser.close();
    await here.stop();
  });

  test('a card is text, to read and as JSON, and its hidden characters are named', async () => {
    const { page } = tab;
    await page.goto(`${here.url}#/agents/weather`);
    await page.getByText('<img src=x onerror').first().waitFor();
    await page.getByText('⟨U+202E⟩').first().waitFor();
    await isHarmless(page);
    await page
      .getByRole('button', { name: /^Show more/ })
      .first()
      .click();
    await isHarmless(page);
    await page.getByRole('button', { name: 'As JSON' }).click();
    await page.getByText('"supportedInterfaces"').waitFor();
    await isHarmless(page);
    tab.wentWrong();
  });

  test('a change of everything at once is compared, cut and harmless', async () => {
    const { page } = tab;
    here.world.says(serves(HOSTILE_AGAIN));
    await here.later();
    await page.goto(`${here.url}#/agents/weather/change`);
    await page.getByText('Approving means').waitFor();
    await page.locator('ins').first().waitFor();
    await isHarmless(page);
    tab.wentWrong();
  });

  test('reasons, addresses and errors are text too', async () => {
    const { page } = tab;
    const reason = '<img src=x onerror="window.ran = true"> mended';
    await here.admin('POST /kill', { scope: 'kid:<img src=x onerror=window.ran=1>\u202e', reason });
    here.world.says(fails(401, { 'WWW-Authenticate': 'Bearer realm="<img src=x onerror=window.ran=1>"' }));
    await here.later();
    await page.goto(`${here.url}#/agents/weather`);
    await page.getByText(reason).first().waitFor();
    await page.getByText('origin-status').first().waitFor();
    await isHarmless(page);
    const wild = encodeURIComponent('<img src=x onerror=window.ran=1>\u202e');
    await page.goto(`${here.url}#/agents/${wild}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.getByText('unknown-agent').or(page.getByText('not-found')).first().waitFor();
    await isHarmless(page);
    await page.goto(`${here.url}#/switch?scope=${encodeURIComponent('origin:<b>\u202e')}`);
    await page.getByLabel(/^Type/).waitFor();
    await isHarmless(page);
    tab.wentWrong(/40[04]/);
  });
});
