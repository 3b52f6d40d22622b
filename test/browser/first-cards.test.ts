import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { PAY, PAY_PATH, catalog, entry, json } from '../scenarios/registry-world.ts';
import { BASE } from '../scenarios/review-world.ts';
import type { Got } from '../support/world.ts';
import type { Behave } from '../support/origin-server.ts';
import { HAS_CHROMIUM, HOW, Tab, startChromium } from './chromium.ts';
import { ConsoleWorld, serves } from './console-world.ts';

const CONFIG = `cache: { prefetch: false, staleWhileRevalidate: 0s }
registries: [{ name: catalog, kind: ai-catalog, url: $ORIGIN/catalog.json }]
origins:
  - { match: "$ORIGIN", content: card, review: { firstUse: hold }, unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32] }`;

/** One server is the origin and the registry. */
const origin: Behave = (request, response) => {
  const listed = catalog(entry(`http://${request.headers.host}/pay.json`, 'quarantined'));
  return (request.url === '/catalog.json' ? json(listed) : serves(BASE))(request, response);
};

describe('first cards that wait', { skip: HAS_CHROMIUM ? false : HOW }, () => {
  let browser: Browser;
  let here: ConsoleWorld;
  before(async () => {
    const agents = [`pay: { registry: catalog, id: "${PAY}" }`];
    here = await ConsoleWorld.start(BASE, { review: '{ firstUse: hold }', config: CONFIG, agents, origin });
    await here.admin('POST /registries/catalog/refresh', { reason: 'it is new' });
    browser = await startChromium();
  });
  after(async () => {
    await browser.close();
    await here.stop();
  });

  test('are found, of agents and of a card without a name, and approved', async () => {
    const { host } = new URL(here.world.origin.url);
    const all = (): Promise<readonly Got[]> =>
      Promise.all([here.world.card(), here.world.get(`/origins/http/${host}/other.json`), here.world.get(PAY_PATH)]);
    const held = 'first-use-held';
    assert.deepEqual(
      (await all()).map(({ code }) => code),
      [held, held, held],
    );
    const tab = await Tab.open(browser);
    const { page } = tab;
    await here.signIn(tab);
    await page.getByText('3 cards wait for you:').waitFor();
    await tab.isAccessible();
    for (const agent of ['weather', `http://${host}/other.json`, 'pay']) {
      await page.goto(`${here.url}#/agents`);
      await page.getByRole('listitem').getByRole('link', { name: agent }).click();
      await page.getByLabel('Reason').fill('read it');
      await page.getByRole('button', { name: 'Approve this card' }).click();
      await page.getByText(`Approved: ${agent} serves this card now.`).first().waitFor();
    }
    assert.deepEqual(
      (await all()).map(({ status }) => status),
      [200, 200, 200],
    );
    await page.goto(`${here.url}#/agents/pay`);
    await page.getByText('quarantined by catalog: hold').waitFor();
    await tab.isAccessible();
    tab.wentWrong();
  });
});
