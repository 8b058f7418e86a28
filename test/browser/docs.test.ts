import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { createDatabase } from '../helpers/database.ts';
import { describeInBrowser, openWorld, takePicture } from './world.ts';

/** All findings of axe, however small. */
async function findingsIn(page: Page): Promise<string[]> {
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axe.source);
  const { violations } = await page.evaluate<axe.AxeResults>('axe.run()');
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}

const isNarrowerThanWindow = (page: Page) =>
  page.evaluate('document.documentElement.scrollWidth <= innerWidth');
const groundOf = (page: Page) => page.evaluate('getComputedStyle(document.body).backgroundColor');
const [white, black] = ['rgb(255, 255, 255)', 'rgb(20, 23, 27)'];

// A violation of the policy is an error in the browser's console, and fails the test.
describeInBrowser('the documentation', async browser => {
  const { pool } = await createDatabase();
  const { visit, announce, address } = await openWorld({ pool }, browser);

  test('leads from the landing page through the guides to the reference', async () => {
    const page = await visit();
    await page.goto('/');
    await page.getByRole('link', { name: 'First payment' }).click();
    await page.getByRole('heading', { level: 1, name: 'First payment' }).waitFor();
    await page
      .getByRole('navigation', { name: 'Previous and next page' })
      .getByRole('link', { name: 'Handling processing' })
      .click();
    await page.getByRole('heading', { level: 1, name: 'Handling processing' }).waitFor();
    const sideBar = page.getByRole('navigation', { name: 'Documentation' });
    await sideBar.getByRole('link', { name: 'POST /v1/payments' }).click();
    await page.getByRole('heading', { level: 1, name: 'Pay an SBP QR code' }).waitFor();
    expect(await page.title()).toBe('Pay an SBP QR code · Kopeck');
    await page
      .getByRole('navigation', { name: 'On this page' })
      .getByRole('link', { name: 'Errors' })
      .click();
    expect(new URL(page.url()).hash).toBe('#errors');
  });

  test('is searched with the keyboard alone', async () => {
    const page = await visit();
    await page.goto('/docs/');
    const field = page.getByRole('searchbox', { name: 'Search the documentation' });
    await field.waitFor();
    await page.keyboard.press('/');
    expect(await field.evaluate('document.activeElement.id')).toBe('search');
    await page.keyboard.type('amount_mismatch');
    const results = page.getByRole('search').getByRole('link');
    await expect.poll(() => page.getByRole('status').textContent()).toMatch(/results$/);
    expect(await results.first().textContent()).toContain('amount_mismatch');
    await page.keyboard.press('ArrowDown');
    expect(await page.locator(':focus').textContent()).toBe(await results.first().textContent());
    await page.keyboard.press('Escape');
    expect(await results.count()).toBe(0);
    await page.keyboard.press('End');
    await page.keyboard.type(' nothing-such');
    await expect.poll(() => page.getByRole('status').textContent()).toBe('No results');
    await field.fill('/v1/test/clock');
    await expect.poll(() => results.count()).toBeGreaterThan(0);
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/docs\/reference\/.*clock/);
  });

  test('shows code in the language that was chosen, by mouse or keyboard, on every page', async () => {
    const page = await visit();
    await page.goto('/docs/reference/create-payment');
    const tab = (name: string) => page.getByRole('tablist', { name: 'Language' }).getByRole('tab', { name });
    await page.getByRole('tabpanel', { name: 'curl' }).waitFor();
    await tab('Python').click();
    await page.getByRole('tabpanel', { name: 'Python' }).getByText('urllib.request.Request').waitFor();
    expect(await page.getByRole('tabpanel').count()).toBe(1);
    await page.keyboard.press('ArrowRight');
    await page.getByRole('tabpanel', { name: 'PHP' }).waitFor();
    await page.keyboard.press('End');
    expect(await tab('Go').getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('ArrowRight');
    await page.getByRole('tabpanel', { name: 'curl' }).waitFor();
    await page.keyboard.press('ArrowLeft');
    await page.goto('/docs/reference/get-rate');
    await page.getByRole('tabpanel', { name: 'Go' }).getByText('http.NewRequest').waitFor();
    await page.goto('/docs/guides/first-payment');
    await page.getByRole('tabpanel', { name: 'Go' }).first().waitFor();
    const others = await page.getByRole('tabpanel', { name: /^(?!Go$)/ }).count();
    expect(others).toBe(0);
  });

  test('copies code', async () => {
    const page = await visit();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto('/docs/reference/ping');
    const panel = page.getByRole('tabpanel', { name: 'curl' });
    await panel.getByRole('button', { name: 'Copy' }).click();
    await panel.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      await panel.getByRole('group', { name: 'curl' }).textContent(),
    );
  });

  test('without scripts every language stands under its heading', async () => {
    const context = await browser.newContext({
      javaScriptEnabled: false,
      viewport: { width: 360, height: 700 },
    });
    const page = await context.newPage();
    await page.goto(`${address}/docs/reference/ping`);
    for (const name of ['curl', 'TypeScript', 'Python', 'PHP', 'Go']) {
      expect(await page.getByRole('heading', { level: 3, name, exact: true }).isVisible()).toBe(true);
      expect(await page.getByRole('group', { name, exact: true }).isVisible()).toBe(true);
    }
    expect(await page.getByRole('searchbox').count()).toBe(0);
    expect(await page.getByRole('navigation', { name: 'Documentation' }).isVisible()).toBe(true);
    await context.close();
  });

  test('has a menu on a phone', async () => {
    const page = await visit({ width: 360 });
    await page.goto('/docs/guides/first-payment');
    const menu = page.getByRole('navigation', { name: 'Documentation' });
    const button = page.getByRole('button', { name: 'Menu', expanded: false });
    await button.click();
    await menu.getByRole('link', { name: 'Webhooks', exact: true }).waitFor();
    await menu.getByRole('link', { name: 'Webhooks', exact: true }).focus();
    await page.keyboard.press('Escape');
    expect(await menu.count()).toBe(0);
    await button.click();
    await takePicture(page, 'docs-menu-narrow');
    await menu.getByRole('link', { name: 'Webhooks', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
  });

  test('is dark when the system is, unless the reader chooses', async () => {
    const page = await visit({ scheme: 'dark' });
    await page.goto('/docs/');
    expect(await groundOf(page)).toBe(black);
    await page.getByRole('combobox', { name: 'Theme' }).selectOption('Light');
    expect(await groundOf(page)).toBe(white);
    await page.goto('/docs/changelog');
    expect(await groundOf(page)).toBe(white);
    await page.getByRole('combobox', { name: 'Theme' }).selectOption('System');
    expect(await groundOf(page)).toBe(black);
  });

  test('addresses of the former reference lead to the operation', async () => {
    const page = await visit();
    await page.goto('/docs/#tag/payments/GET/v1/payments/{payment_id}');
    await page.waitForURL('**/docs/reference/get-payment');
  });

  test('runs no inline script', async () => {
    const page = await visit();
    await page.goto('/docs/');
    announce(/Content Security Policy/);
    await page.evaluate(`{
      const script = document.createElement('script');
      script.textContent = 'globalThis.hasRun = true';
      document.body.append(script);
    }`);
    expect(await page.evaluate('globalThis.hasRun')).toBeUndefined();
  });

  const pages = [
    '/',
    '/docs/',
    '/docs/guides/',
    '/docs/guides/first-payment',
    '/docs/guides/errors',
    '/docs/library',
    '/docs/reference/',
    '/docs/reference/create-payment',
    '/docs/reference/get-statement',
    '/docs/reference/errors',
    '/docs/events/payment-succeeded',
    '/docs/changelog',
  ];

  describe.each(['light', 'dark'] as const)('has no finding of axe and fits a phone, %s', scheme => {
    // What the colours change is the same on all of them.
    test.each(scheme === 'light' ? pages : pages.slice(0, 8))('%s', async path => {
      const page = await visit({ scheme });
      await page.goto(path);
      expect(await findingsIn(page)).toEqual([]);
      const name = path.replaceAll('/', '-').replace(/-$/, '');
      await takePicture(page, `docs${name}-${scheme}`);
      await page.setViewportSize({ width: 360, height: 700 });
      expect(await isNarrowerThanWindow(page)).toBe(true);
      await takePicture(page, `docs${name}-narrow-${scheme}`);
    });
  });

  test('the open search and menu have no finding of axe either', async () => {
    const page = await visit({ width: 360 });
    await page.goto('/docs/');
    await page.getByRole('searchbox').fill('payment');
    await page.getByRole('search').getByRole('link').first().waitFor();
    expect(await findingsIn(page)).toEqual([]);
    expect(await isNarrowerThanWindow(page)).toBe(true);
    await page.getByRole('button', { name: 'Menu' }).click();
    expect(await findingsIn(page)).toEqual([]);
  });
});
