// `npm run screenshots`: the pictures of the console in docs/screenshots, of a real daemon with agents on loopback. Needs Chromium,
// as the tests in test/browser do. It prints how long the page was busy with five hundred agents, too.
import { mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { startChromium } from '../test/browser/chromium.ts';
import { type Scene, startScene } from './screenshots/scene.ts';
import { measureMany } from './screenshots/smoothness.ts';

const FOLDER = path.resolve(import.meta.dirname, '../docs/screenshots');
/** What a README should not make anybody wait for. */
const LARGEST = 150_000;

interface Shot {
  readonly name: string;
  readonly route: string;
  readonly scheme: 'light' | 'dark';
  readonly width: number;
  readonly height: number;
  /** Brings the page to what is to be seen. */
  readonly reach?: (page: Page) => Promise<unknown>;
}

const WIDE = { width: 1280, height: 720 } as const;
const NARROW = { width: 390, height: 780 } as const;
const STOP = '#/switch?scope=origin%3Ahotels.acme.example';

const toClasses = (page: Page): Promise<unknown> =>
  page.getByRole('region', { name: 'Changes of class skill-text' }).scrollIntoViewIfNeeded();

const SHOTS: readonly Shot[] = [
  { name: 'agents-light', route: '#/agents', scheme: 'light', ...WIDE },
  { name: 'agents-dark', route: '#/agents', scheme: 'dark', ...WIDE },
  { name: 'agents-narrow', route: '#/agents', scheme: 'light', ...NARROW },
  { name: 'agent-dark', route: '#/agents/planner', scheme: 'dark', ...WIDE },
  { name: 'change-light', route: '#/agents/weather/change', scheme: 'light', ...WIDE, reach: toClasses },
  { name: 'change-narrow', route: '#/agents/weather/change', scheme: 'dark', ...NARROW, reach: toClasses },
  {
    name: 'switch-dark',
    route: STOP,
    scheme: 'dark',
    ...WIDE,
    reach: (page) => page.getByText('This would stop').waitFor(),
  },
];

mkdirSync(FOLDER, { recursive: true });
const scene = await startScene();
const browser = await startChromium();
try {
  for (const shot of SHOTS) await take(browser, scene, shot);
  console.log(await measureMany(browser, scene));
} finally {
  await browser.close();
  await scene.stop();
}

async function take(
  from: Browser,
  { link, url }: Scene,
  { name, route, scheme, width, height, reach }: Shot,
): Promise<void> {
  const context = await from.newContext({ viewport: { width, height }, colorScheme: scheme, reducedMotion: 'reduce' });
  const page = await context.newPage();
  await page.goto(await link());
  await page.getByText('Live').waitFor();
  await page.goto(`${url}${route}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.getByText('Reading…').first().waitFor({ state: 'detached' });
  await reach?.(page);
  const file = path.join(FOLDER, `${name}.png`);
  await page.screenshot({ path: file, caret: 'hide' });
  await context.close();
  const { size } = statSync(file);
  console.log(`${file}: ${size} bytes`);
  if (size > LARGEST) throw new Error(`${file} is larger than ${LARGEST} bytes: show less in it`);
}
