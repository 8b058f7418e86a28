import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterEach, describe, expect, onTestFinished, TestRunner, test } from 'vitest';
import type { OperatorRole } from '../../src/operators/index.ts';
import { type ConsoleOptions, startConsole } from '../helpers/console.ts';
import { openBrowser } from './chromium.ts';

export interface Looks {
  language?: 'en' | 'ru';
  scheme?: 'light' | 'dark';
  width?: number;
}

/** Screenshots of the pages. */
const pictures = join(import.meta.dirname, '..', '..', 'test-results', 'console');

/**
 * A console and a browser. An error in the browser's console or a request to another host fails the test, unless the
 * test has announced it.
 */
export async function openWorld(options: ConsoleOptions, browser: Browser) {
  const console = await startConsole(options);
  const complaints: string[] = [];
  const announced: RegExp[] = [];
  afterEach(() => {
    const seen = complaints.splice(0);
    const awaited = announced.splice(0);
    expect(seen.filter(one => !awaited.some(pattern => pattern.test(one)))).toEqual([]);
    expect(awaited.filter(pattern => !seen.some(one => pattern.test(one)))).toEqual([]);
  });

  /** A window with a new browser profile. */
  async function visit(looks: Looks = {}): Promise<Page> {
    const { language = 'en', scheme = 'light', width = 1280 } = looks;
    const context = await browser.newContext({
      baseURL: console.address,
      locale: language === 'en' ? 'en-GB' : 'ru-RU',
      colorScheme: scheme,
      viewport: { width, height: 800 },
      timezoneId: 'UTC',
      acceptDownloads: true,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(15_000);
    page.on('pageerror', error => complaints.push(`page: ${error.message}`));
    page.on('console', message => {
      const { url } = message.location();
      if (message.type() === 'error')
        complaints.push(`console: ${message.text()} ${new URL(url, console.address).pathname}`);
    });
    page.on('request', request => {
      const url = new URL(request.url());
      if (url.origin !== console.address && !['data:', 'blob:'].includes(url.protocol))
        complaints.push(`request to ${url.href}`);
    });
    // Closed with the test, so that its pages do not poll during the next one.
    if (TestRunner.getCurrentTest()) onTestFinished(() => context.close());
    return page;
  }

  return {
    ...console,
    visit,
    /** Calls the API without a page. */
    browser: console.visit,
    /** The browser logs refused requests; this test expects these statuses. */
    announceRefusals: (...statuses: number[]) =>
      announced.push(...statuses.map(status => new RegExp(`responded with a status of ${status}`))),
    /** This test expects such errors in the browser's console. */
    announce: (...words: RegExp[]) => announced.push(...words),
    /** A window of a new operator with this role, signed in. */
    async as(role: OperatorRole, looks: Looks & { name?: string } = {}) {
      const operator = await console.signIn(role, looks.name);
      const page = await visit(looks);
      await page.context().addCookies([
        {
          name: '__Host-kopeck',
          value: operator.token,
          url: console.address.replace('http:', 'https:'),
          secure: true,
          httpOnly: true,
          sameSite: 'Strict',
        },
      ]);
      return Object.assign(page, { operator });
    },
  };
}

/** Serious and critical findings of axe, one line each; of all rules, or of those about colours. */
export async function findBarriers(page: Page, rules: 'all' | 'colours' = 'all'): Promise<string[]> {
  // Not by a script element: the content security policy would refuse it. Once per window, since it is large.
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axe.source);
  // A message that is fading in has less contrast for a moment.
  await page.evaluate(
    'Promise.all(document.getAnimations().filter(one => one.effect.getComputedTiming().endTime < 5_000).map(one => one.finished.catch(() => {})))',
  );
  const options: axe.RunOptions = {
    resultTypes: ['violations'],
    ...(rules === 'colours' ? { runOnly: ['color-contrast', 'link-in-text-block'] } : {}),
  };
  const { violations } = await page.evaluate(
    given => (globalThis as unknown as { axe: typeof axe }).axe.run(given),
    options,
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`);
}

/** Waits until everything is loaded and rendered. */
export async function untilLoaded(page: Page): Promise<void> {
  await page.evaluate('new Promise(then => requestAnimationFrame(() => requestAnimationFrame(then)))');
  await page.locator('main h1').waitFor();
  await expect.poll(() => page.locator('.waiting, [aria-busy=true]').count()).toBe(0);
}

export async function takePicture(page: Page, name: string): Promise<void> {
  mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `${name}.png`), animations: 'disabled' });
}

export { openBrowser };

/** Tests that share one browser; skipped where there is none. */
export const describeInBrowser = (name: string, tests: (browser: Browser) => Promise<void>) =>
  describe(name, async () => {
    const browser = await openBrowser();
    if (browser) await tests(browser);
    else test.skip('needs Chromium');
  });
