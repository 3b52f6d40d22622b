import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { Kill } from '../../src/kernel/kill.ts';
import { BASE, SENDS } from '../scenarios/review-world.ts';
import { fails } from '../support/world.ts';
import { HAS_CHROMIUM, HOW, STRANGE_HOST, Tab, startChromium } from './chromium.ts';
import { ConsoleWorld, serves } from './console-world.ts';

/** A scheme beside the text: a change of security suspends calls too. */
const GUARDED = {
  ...SENDS,
  securitySchemes: { key: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
  securityRequirements: [{ schemes: { key: { list: [] } } }],
};

const row = (page: Page, agent: string) => page.getByRole('row', { name: agent });
const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name });

describe('the console', { skip: HAS_CHROMIUM ? false : HOW }, () => {
  let browser: Browser;
  let here: ConsoleWorld;
  let tab: Tab;
  before(async () => {
    here = await ConsoleWorld.start(BASE);
    browser = await startChromium();
    await here.world.card();
    tab = await Tab.open(browser);
  });
  after(async () => {
    await browser.close();
    await here.stop();
  });

  test('signs in by a link, once, and leaves no code and no token behind', async () => {
    const { page } = tab;
    const link = await here.link();
    await page.goto(link);
    await row(page, 'weather').waitFor();
    assert.equal(page.url(), here.url);
    const [cookie, ...more] = await tab.cookies;
    assert.deepEqual([cookie?.httpOnly, cookie?.sameSite, more.length], [true, 'Strict', 0]);
    assert.deepEqual(await page.evaluate('Object.keys(localStorage)'), ['cardea-console-key']);
    assert.equal(await page.evaluate('history.length'), 2, 'the empty page, and the console');
    tab.wentWrong();
    await tab.isAccessible();

    const other = await Tab.open(browser);
    await other.page.goto(link);
    await other.page.getByText('This link was used').waitFor();
    other.wentWrong(/401/);
    await other.isAccessible();
    await other.close();
  });

  test('shows a card turn stale and fresh again, as it happens', async () => {
    const { page } = tab;
    await row(page, 'weather').getByText('Fresh', { exact: true }).waitFor();
    here.world.says(fails(503));
    await here.later();
    await row(page, 'weather').getByText('Stale', { exact: true }).waitFor();
    await row(page, 'weather')
      .getByText(/stale for/)
      .waitFor();
    await row(page, 'weather').getByText('origin-status').waitFor();
    await tab.isAccessible();

    await page.getByRole('link', { name: 'weather' }).click();
    await heading(page, 'weather').waitFor();
    here.world.says(serves(BASE));
    await here.world.clock.advance(61_000);
    await page.getByRole('button', { name: 'Ask the origin now' }).click();
    await page.getByText('weather was asked anew.').first().waitFor();
    await page.getByText('Fresh', { exact: true }).waitFor();
    await tab.isAccessible();
    await page.goBack();
    await row(page, 'weather').getByText('Fresh', { exact: true }).waitFor();
    tab.wentWrong();
  });

  test('shows a held change word by word, and approves it', async () => {
    const { page } = tab;
    here.world.says(serves(GUARDED));
    const held = await here.later();
    assert.match(String(held.headers['card-status']), /review=held/);
    await row(page, 'weather').getByText('Held', { exact: true }).waitFor();
    await row(page, 'weather')
      .getByRole('link', { name: /changes/ })
      .click();
    await heading(page, 'Change of weather').waitFor();
    const text = page.getByRole('region', { name: 'Changes of class skill-text' });
    assert.deepEqual(await text.locator('ins').allTextContents(), ['place and sends it by mail.']);
    assert.deepEqual(await text.locator('del').allTextContents(), ['place.']);
    await text.getByText('sends: something leaves').waitFor();
    await page.getByText(/Every caller of weather gets this card from now on/).waitFor();
    await page.getByText(/^weather: \["sha256:[0-9a-f]{64}"\]$/).waitFor();
    await tab.isAccessible();

    await page.getByRole('button', { name: 'Approve this card' }).click();
    await page.getByText('Write why').waitFor();
    assert.match(await page.evaluate('document.activeElement.id'), /^reason-any-sha256:/);
    await page.getByLabel('Reason').fill('read the new wording');
    await page.getByRole('button', { name: 'Approve this card' }).click();
    await page.getByText('Approved: weather serves this card now.').first().waitFor();
    await page.getByText('Nothing waits for you here.').waitFor();
    const served = await here.world.card();
    assert.match(served.body, /sends it by mail/);
    assert.match(String(served.headers['card-status']), /review=approved/);

    await page.getByRole('link', { name: 'See the card that is in force' }).click();
    await page.getByText('“read the new wording”').first().waitFor();
    tab.wentWrong();
  });

  test('pulls the switch after the scope was typed, says so on every view, and lifts it', async () => {
    const { page } = tab;
    await page.getByRole('link', { name: 'Stop it…' }).click();
    await heading(page, 'The switch').waitFor();
    await page.getByText(/This would stop/).waitFor();
    await tab.isAccessible();
    await page.getByLabel('Reason').fill('names a host that is not theirs');
    await page.getByLabel(/^Type/).fill('agent:weathe');
    await page.keyboard.press('Enter');
    await page.getByText('this says something else').waitFor();
    assert.equal((await here.world.card()).status, 200);
    await page.getByLabel(/^Type/).fill('agent:weather');
    await page.keyboard.press('Enter');
    const banner = page.getByRole('complementary', { name: 'Stops in force' });
    await banner.getByText('agent:weather').waitFor();
    assert.equal((await here.world.card()).code, 'killed');
    await tab.isAccessible();

    for (const route of ['#/agents', '#/agents/weather', '#/agents/weather/change']) {
      await page.goto(`${here.url}${route}`);
      await banner.getByText('names a host that is not theirs').waitFor();
    }
    await banner.getByRole('link').click();
    await page.getByRole('button', { name: 'Lift…' }).click();
    await page.getByLabel('Reason').first().fill('its owner has mended it');
    await page.getByRole('button', { name: 'Lift it' }).click();
    await page.getByText('Lifted: agent:weather').first().waitFor();
    await banner.waitFor({ state: 'detached' });
    assert.equal((await here.world.card()).status, 200);
    tab.wentWrong();
  });

  test('a wrong token opens nothing, and a session that ends keeps the place', async () => {
    const other = await Tab.open(browser);
    const { page } = other;
    await page.goto(`${here.url}#/agents/weather`);
    await page.getByLabel('Admin token').fill('not-the-token');
    await page.keyboard.press('Enter');
    await page.getByText('This is not the admin token.').waitFor();
    other.wentWrong(/401/);
    await page.getByLabel('Admin token').fill(here.token);
    await page.keyboard.press('Enter');
    await heading(page, 'weather').waitFor();
    assert.equal(page.url(), `${here.url}#/agents/weather`);

    // Another window of this browser signs out.
    await page.evaluate(`fetch('/console/session', { method: 'DELETE', body: '{}', headers: {
      'Content-Type': 'application/json', 'Cardea-Console-Key': localStorage.getItem('cardea-console-key') } })`);
    await page.getByText('The session has ended.').waitFor();
    assert.equal(await page.evaluate('localStorage.length'), 0);
    other.wentWrong(/401/);
    await page.goto(await here.link());
    await page.goto(`${here.url}#/agents/weather`);
    await heading(page, 'weather').waitFor();
    const ended = page.waitForResponse((response) => response.request().method() === 'DELETE');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await heading(page, 'Sign in to Cardea').waitFor();
    assert.equal((await ended).ok(), true);
    assert.deepEqual(await other.cookies, []);
    other.wentWrong();
    await other.close();
  });

  test('a page of another port, which gets the cookie, can neither read nor change anything', async () => {
    const { page } = tab;
    here.world.says((_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>hello'));
    await page.goto(here.world.origin.url);
    const admin = new URL(here.url).origin;
    const tries = await page.evaluate(
      `(async () => {
        const order = JSON.stringify({ scope: 'all', reason: 'not by you' });
        const tried = [];
        for (const [path, init] of [
          ['/agents', { credentials: 'include' }],
          ['/kill', { credentials: 'include', method: 'POST', body: order, headers: { 'content-type': 'application/json' } }],
          ['/kill', { credentials: 'include', method: 'POST', body: order, mode: 'no-cors' }],
          ['/console/session', { credentials: 'include', method: 'DELETE' }],
          ['/console/', { credentials: 'include' }],
        ]) tried.push(await fetch('${admin}' + path, init).then((response) => response.type, () => 'refused'));
        return tried;
      })()`,
    );
    assert.deepEqual(tries, ['refused', 'refused', 'opaque', 'refused', 'refused']);
    const { kills } = JSON.parse((await here.admin('GET /kill')).body) as { readonly kills: readonly Kill[] };
    assert.deepEqual(kills, []);
    await page.evaluate(
      `document.body.append(Object.assign(document.createElement('iframe'), { src: '${admin}/console/' }))`,
    );
    while (!(await page.evaluate(`document.querySelector('iframe').contentDocument === null`)));
    here.world.says(serves(GUARDED));
    await page.goto(here.url);
    await row(page, 'weather').waitFor();
    tab.wentWrong(/CORS policy/, /Failed to load resource/, /frame-ancestors|Refused to (frame|display)/);
  });

  test('a host that is none of ours gets no page', async () => {
    const other = await Tab.open(browser);
    const { port } = new URL(here.url);
    const response = await other.page.goto(`http://${STRANGE_HOST}:${port}/console/`);
    assert.equal(response?.status(), 421);
    assert.doesNotMatch((await response?.text()) ?? '', /script/);
    await other.close();
  });

  test('is used without a mouse', async () => {
    const { page } = tab;
    await page.goto(`${here.url}#/agents`);
    await page.reload();
    await row(page, 'weather').waitFor();
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Skip to the content');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Agents');
    const stops: string[] = [];
    while (stops.at(-1) !== 'weather' && stops.length < 30) {
      await page.keyboard.press('Tab');
      stops.push(await page.evaluate<string>('document.activeElement.textContent'));
    }
    assert.ok(stops.includes('weather') && stops.includes('State'), stops.join(', '));
    await page.keyboard.press('Enter');
    await heading(page, 'weather').waitFor();
    assert.equal(await page.evaluate('document.activeElement.tagName'), 'H1');
    assert.equal(await page.title(), 'weather · Cardea');
    tab.wentWrong();
  });
});
