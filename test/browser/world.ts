import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterEach, expect, onTestFinished, TestRunner } from 'vitest';
import type { OperatorRole } from '../../src/operators/index.ts';
import { type ConsoleOptions, startConsole } from '../helpers/console.ts';
import { rowsOf } from '../helpers/database.ts';

export interface Looks {
  language?: 'en' | 'ru';
  scheme?: 'light' | 'dark';
  width?: number;
}

/** Screenshots of the pages. */
const pictures = join(import.meta.dirname, '..', '..', 'test-results', 'pages');
/** Pictures take time, so they are taken only on request. Those in README are written then too. */
export const arePicturesWanted = process.env.KOPECK_PICTURES === '1';

export type Windows = ReturnType<typeof openWindows>;

/**
 * Windows of a browser. An error in the browser's console or a request to another host fails the test, unless the test has
 * announced it.
 */
export function openWindows(browser: Browser) {
  const complaints: string[] = [];
  const announced: RegExp[] = [];
  afterEach(() => {
    const seen = complaints.splice(0);
    const awaited = announced.splice(0);
    expect(seen.filter(one => !awaited.some(pattern => pattern.test(one)))).toEqual([]);
    expect(awaited.filter(pattern => !seen.some(one => pattern.test(one)))).toEqual([]);
  });

  return {
    /** The browser logs refused requests; this test expects these statuses. */
    announceRefusals: (...statuses: number[]) =>
      announced.push(...statuses.map(status => new RegExp(`responded with a status of ${status}`))),
    /** This test expects such errors in the browser's console. */
    announce: (...words: RegExp[]) => announced.push(...words),
    /** A window with a new browser profile. */
    async visitAt(address: string, looks: Looks & { javaScriptEnabled?: boolean } = {}): Promise<Page> {
      const { language = 'en', scheme = 'light', width = 1280, javaScriptEnabled = true } = looks;
      const context = await browser.newContext({
        baseURL: address,
        locale: language === 'en' ? 'en-GB' : 'ru-RU',
        colorScheme: scheme,
        viewport: { width, height: 800 },
        timezoneId: 'UTC',
        acceptDownloads: true,
        javaScriptEnabled,
      });
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
      page.on('pageerror', error => complaints.push(`page: ${error.message}`));
      page.on('console', message => {
        const { url } = message.location();
        if (message.type() === 'error')
          complaints.push(`console: ${message.text()} ${new URL(url, address).pathname}`);
      });
      page.on('request', request => {
        const url = new URL(request.url());
        if (url.origin !== address && !['data:', 'blob:'].includes(url.protocol))
          complaints.push(`request to ${url.href}`);
      });
      // Closed with the test, so that its pages do not poll during the next one.
      if (TestRunner.getCurrentTest()) onTestFinished(() => context.close());
      return page;
    },
  };
}

export type World = Awaited<ReturnType<typeof openWorld>>;

/** A console, and windows in which it is open. */
export async function openWorld(options: ConsoleOptions, windows: Windows) {
  const console = await startConsole(options);
  const visit = (looks?: Looks) => windows.visitAt(console.address, looks);
  return {
    ...console,
    ...windows,
    pool: options.pool,
    sql: rowsOf(options.pool),
    visit,
    /** Calls the API without a page. */
    callApi: console.visit,
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

interface Sought {
  rules?: 'all' | 'colours';
  impacts?: 'all' | 'serious';
}

/** Findings of axe, one line each: of all rules or of those about colours, the serious and critical ones or all. */
export async function findBarriers(
  page: Page,
  { rules = 'all', impacts = 'serious' }: Sought = {},
): Promise<string[]> {
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
    .filter(({ impact }) => impacts === 'all' || impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`);
}

/** How many pixels the content is wider than the window. Charts follow its width a moment later, so that is waited for. */
export async function excessWidth(page: Page): Promise<number> {
  const excess = 'Math.max(0, document.documentElement.scrollWidth - innerWidth)';
  // Not with waitForFunction: what it evaluates later, the page's policy refuses.
  await expect
    .poll(() => page.evaluate(excess))
    .toBe(0)
    .catch(() => {});
  return page.evaluate<number>(excess);
}

/** What is wider than the card, the cell or whatever else it is in. A table must not scroll, and a button not cut its text; code and charts may. */
const tooWide = `Array.from(document.querySelectorAll('main *, [role=dialog], [role=dialog] *'))
  .filter(one => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 1)
  .filter(one => {
    const { display, overflowX } = getComputedStyle(one);
    return display !== 'inline' && (overflowX === 'visible' || one.matches('.table-frame, .mantine-Button-label'));
  })
  // On a phone the head of a table is for screen readers only.
  .filter(one => !one.closest('thead') || getComputedStyle(one.closest('thead')).position !== 'absolute')
  .map(one => [one.tagName, one.className, one.scrollWidth - one.clientWidth, one.textContent.slice(0, 60)].join(' '))`;

/** Charts follow the window a moment later, so that is waited for. */
export async function expectToFit(page: Page, where: object): Promise<void> {
  await expect
    .poll(() => page.evaluate(tooWide))
    .toEqual([])
    .catch(() => {});
  expect({ ...where, tooWide: await page.evaluate(tooWide) }).toEqual({ ...where, tooWide: [] });
}

/** In every width and both themes. */
async function expectToFitEverywhere(page: Page, name: string, phoneWidth = 390): Promise<void> {
  const size = page.viewportSize()!;
  try {
    for (const width of [1280, 768, phoneWidth]) {
      await page.setViewportSize({ ...size, width });
      expect({ name, width, excess: await excessWidth(page) }).toEqual({ name, width, excess: 0 });
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.emulateMedia({ colorScheme });
        await expectToFit(page, { name, width, colorScheme });
      }
    }
    await takePicture(page, `${name}-narrow`);
  } finally {
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize(size);
  }
}

/** The visit to a page that is loaded: axe in light colours, the contrast in dark ones, and the layout in every width. */
export async function sweepPage(page: Page, name: string, sought: Sought = {}, phoneWidth?: number) {
  expect({ name, light: await findBarriers(page, sought) }).toEqual({ name, light: [] });
  await takePicture(page, `${name}-light`);
  await page.emulateMedia({ colorScheme: 'dark' });
  expect({ name, dark: await findBarriers(page, { rules: 'colours' }) }).toEqual({ name, dark: [] });
  await takePicture(page, `${name}-dark`);
  await page.emulateMedia({ colorScheme: 'light' });
  await expectToFitEverywhere(page, name, phoneWidth);
}

/** The same, and the layout in Russian, of a page that changes its language without being loaded again. */
export async function sweepInBoth(page: Page, name: string): Promise<void> {
  await sweepPage(page, name);
  await page.getByRole('button', { name: 'RU: Русский' }).click();
  await page.locator('html[lang=ru]').waitFor();
  try {
    await untilLoaded(page);
    await expectToFitEverywhere(page, `${name}-ru`);
  } finally {
    // For the pages that follow.
    await page.getByRole('button', { name: 'EN: English' }).click();
  }
}

/** Waits until everything is loaded and rendered. */
export async function untilLoaded(page: Page): Promise<void> {
  await page.evaluate('new Promise(then => requestAnimationFrame(() => requestAnimationFrame(then)))');
  await page.locator('main h1').waitFor();
  await expect.poll(() => page.locator('.waiting, [aria-busy=true]').count()).toBe(0);
}

/** Opens another page of the open console without loading it again. */
export async function moveTo(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState(null, '', '${path}')`);
  await untilLoaded(page);
}

export async function takePicture(page: Page, name: string): Promise<void> {
  if (!arePicturesWanted) return;
  mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `${name}.png`), animations: 'disabled' });
}
