import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContext, type Page, chromium } from 'playwright-core';
import { isThere } from '../support/programs.ts';

/** Where Debian puts it; another one is named by CHROMIUM. */
const PROGRAM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
export const HOW = 'install Debian’s chromium, or name one in CHROMIUM';
/** False where there is none; in CI there must be one. */
export const HAS_CHROMIUM = isThere(PROGRAM, ['--version'], HOW);

/** A host that is none of the daemon's, and yet leads to it: what DNS rebinding does. */
export const STRANGE_HOST = 'rebound.example';

/** Starts Chromium without a window. Its own sandbox needs a user that is not root, which CI has not; only our own pages are opened. */
export const startChromium = (): Promise<Browser> =>
  chromium.launch({ executablePath: PROGRAM, args: [`--host-resolver-rules=MAP ${STRANGE_HOST} 127.0.0.1`] });

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** One tab in a profile of its own, and everything that went wrong in it. */
export class Tab {
  readonly page: Page;
  readonly #faults: string[] = [];
  readonly #context: BrowserContext;

  private constructor(context: BrowserContext, page: Page) {
    this.#context = context;
    this.page = page;
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') this.#faults.push(message.text());
    });
    page.on('pageerror', (error) => this.#faults.push(String(error)));
  }

  static async open(browser: Browser, options: Parameters<Browser['newContext']>[0] = {}): Promise<Tab> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    context.setDefaultTimeout(30_000);
    return new Tab(context, await context.newPage());
  }

  get cookies(): ReturnType<BrowserContext['cookies']> {
    return this.#context.cookies();
  }

  /** Asserts that only this went wrong since the last look: errors of scripts, refusals by the page's policy, failed loads. */
  wentWrong(...expected: readonly RegExp[]): void {
    const faults = this.#faults.splice(0);
    const others = faults.filter((fault) => !expected.some((pattern) => pattern.test(fault)));
    assert.deepEqual(others, []);
    for (const pattern of expected)
      assert.ok(
        faults.some((fault) => pattern.test(fault)),
        `${pattern}`,
      );
  }

  /** Asserts that axe finds nothing serious in the view as it stands; in the dark only colours can differ. */
  async isAccessible(): Promise<void> {
    // By the debugger: the page's own policy lets no script in that is not ours.
    await this.page.evaluate(AXE);
    for (const [colorScheme, rules] of [
      ['light', '{}'],
      ['dark', "{ runOnly: ['color-contrast'] }"],
    ] as const) {
      await this.page.emulateMedia({ colorScheme });
      const found = await this.page.evaluate<readonly AxeViolation[]>(
        `axe.run(document, ${rules}).then(({ violations }) => violations)`,
      );
      const grave = found.filter(({ impact }) => impact === 'serious' || impact === 'critical');
      const told = grave.map(({ id, nodes }) => `${colorScheme} ${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
      assert.deepEqual(told, []);
    }
  }

  close(): Promise<void> {
    return this.#context.close();
  }
}

interface AxeViolation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string }[];
}
