import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { createPartnerWithKeys, setRate } from '../helpers/api.ts';
import { excessWidth, findBarriers, sweepPage, type World } from './world.ts';

const groundOf = (page: Page) => page.evaluate('getComputedStyle(document.body).backgroundColor');
const [white, black] = ['rgb(255, 255, 255)', 'rgb(20, 23, 27)'];

/** One page of each kind, and others of the same kinds with wide tables or code. */
const kinds = [
  '/',
  '/docs/',
  '/docs/guides/first-payment',
  '/docs/reference/create-payment',
  '/docs/changelog',
  '/ru/',
  '/docs/ru/guides/first-payment',
  '/docs/ru/reference/create-payment',
];
const others = [
  '/docs/guides/errors',
  '/docs/library',
  '/docs/reference/',
  '/docs/reference/get-statement',
  '/docs/reference/errors',
  '/docs/events/payment-succeeded',
];

/** A developer reads the documentation. A violation of the content security policy is an error in the browser's console. */
export function testDocs({ pool, visit, visitAt, announce, announceRefusals, address }: World) {
  test('leads from the landing page through the guides to the reference, by links and by the search', async () => {
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
    const contents = page.getByRole('navigation', { name: 'On this page' });
    await contents.getByRole('link', { name: 'Errors' }).click();
    expect(new URL(page.url()).hash).toBe('#errors');

    // With the keyboard alone.
    const field = page.getByRole('searchbox', { name: 'Search the documentation' });
    await field.waitFor();
    await page.keyboard.press('/');
    expect(await page.evaluate('document.activeElement.id')).toBe('search');
    await page.keyboard.type('amount_mismatch');
    const results = page.getByRole('search').getByRole('link');
    await page
      .getByRole('status')
      .getByText(/^Results/)
      .waitFor();
    expect(await results.first().textContent()).toContain('amount_mismatch');
    await page.keyboard.press('ArrowDown');
    expect(await page.locator(':focus').textContent()).toBe(await results.first().textContent());
    await page.keyboard.press('Escape');
    expect(await results.count()).toBe(0);
    await page.keyboard.press('End');
    await page.keyboard.type(' nothing-such');
    await page.getByRole('status').getByText('No results').waitFor();
    await field.fill('/v1/test/clock');
    await results.first().waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/docs\/reference\/.*clock/);

    await page.goto('/docs/#tag/payments/GET/v1/payments/{payment_id}');
    // An address of the former reference.
    await page.waitForURL('**/docs/reference/get-payment');
  });

  test('changes the language on the same section, and remembers it on the first pages', async () => {
    const page = await visit();
    await page.goto('/docs/guides/webhooks#verify-the-signature');
    // Not `click`, which would first scroll to the sticky header, and leave the section.
    await page.getByRole('link', { name: 'Русский' }).dispatchEvent('click');
    await page.waitForURL('**/docs/ru/guides/webhooks#verify-the-signature');
    await page.getByRole('heading', { level: 1, name: 'Вебхуки' }).waitFor();
    await page.getByRole('searchbox', { name: 'Поиск по документации' }).fill('вебхук');
    await page
      .getByRole('status')
      .getByText(/^Найдено/)
      .waitFor();
    await page.goto('/docs/');
    await page.waitForURL('**/docs/ru/');
    // A link to any other page is followed as it is.
    await page.goto('/docs/guides/errors');
    await page.getByRole('heading', { level: 1, name: 'Error codes' }).waitFor();
    await page.getByRole('link', { name: 'Русский' }).click();
    await page.waitForURL('**/docs/ru/guides/errors');
    await page.getByRole('link', { name: 'English' }).click();
    await page.waitForURL('**/docs/guides/errors');
    await page.goto('/ru/');
    await page.waitForURL(({ pathname }) => pathname === '/');
    await page.getByRole('heading', { level: 1, name: /^Pay Russian QR codes/ }).waitFor();
  });

  test('shows code in the language that was chosen, by mouse or keyboard, on every page, and copies it', async () => {
    const page = await visit();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto('/docs/reference/create-payment');
    const tab = (name: string) => page.getByRole('tablist', { name: 'Language' }).getByRole('tab', { name });
    const panel = (name: string) => page.getByRole('tabpanel', { name });
    await panel('curl').getByRole('button', { name: 'Copy' }).click();
    await panel('curl').getByRole('button', { name: 'Copied' }).waitFor();
    const shown = await panel('curl').getByRole('group', { name: 'curl' }).textContent();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(shown);
    await tab('Python').click();
    await panel('Python').getByText('urllib.request.Request').waitFor();
    expect(await page.getByRole('tabpanel').count()).toBe(1);
    await page.keyboard.press('ArrowRight');
    await panel('PHP').waitFor();
    await page.keyboard.press('End');
    expect(await tab('Go').getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('ArrowRight');
    await panel('curl').waitFor();
    await page.keyboard.press('ArrowLeft');
    await page.goto('/docs/guides/first-payment');
    await panel('Go').first().waitFor();
    expect(await page.getByRole('tabpanel', { name: /^(?!Go$)/ }).count()).toBe(0);
  });

  test('sends a request with a test key, which it keeps in memory only, and none with a live key', async () => {
    const { testKey, liveKey } = await createPartnerWithKeys(pool);
    await setRate(pool);
    const page = await visit();
    const sent: string[] = [];
    page.on('request', request => {
      if (new URL(request.url()).pathname.startsWith('/v1/')) sent.push(request.method());
    });
    await page.goto('/docs/reference/create-payment');
    const key = page.getByLabel('Test key');
    const status = page.locator('.try').getByRole('status');
    const send = page.getByRole('button', { name: 'Send request' });
    await send.click();
    await status.getByText('Enter a test key. It starts with svc_test_.').waitFor();
    await key.fill(liveKey);
    await send.click();
    await status.getByText(/^This is a live key: nothing was sent/).waitFor();
    expect(await key.inputValue()).toBe('');
    expect(sent).toEqual([]);

    await key.fill(testKey);
    await send.click();
    await status.getByText(/^Response: 200 · req_/).waitFor();
    await page
      .getByRole('group', { name: 'Response', exact: true })
      .getByText('"status": "succeeded"')
      .waitFor();
    expect(sent).toEqual(['POST']);
    expect(await findBarriers(page, { impacts: 'all' })).toEqual([]);
    const stored =
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])';
    expect(await page.evaluate(stored)).not.toContain('svc_test_');
    await page.reload();
    expect(await key.inputValue()).toBe('');

    await page.goto('/docs/ru/reference/get-payment');
    await page.getByLabel('Тестовый ключ').fill(testKey);
    await page.getByRole('button', { name: 'Отправить запрос' }).click();
    await page.getByText('Заполните: payment_id').waitFor();
    await page.getByLabel('payment_id').fill('pay_none/../../ping');
    announceRefusals(404);
    await page.getByRole('button', { name: 'Отправить запрос' }).click();
    await page.getByText(/^Ответ: 404/).waitFor();
    await page.getByText('"code": "not_found"').waitFor();
  });

  test('without scripts every language stands under its heading', async () => {
    const page = await visitAt(address, { javaScriptEnabled: false, width: 360 });
    await page.goto('/docs/reference/ping');
    for (const name of ['curl', 'TypeScript', 'Python', 'PHP', 'Go']) {
      expect(await page.getByRole('heading', { level: 3, name, exact: true }).isVisible()).toBe(true);
      expect(await page.getByRole('group', { name, exact: true }).isVisible()).toBe(true);
    }
    expect(await page.getByLabel('Test key').isVisible()).toBe(false);
    expect(await page.getByRole('searchbox').count()).toBe(0);
    expect(await page.getByRole('navigation', { name: 'Documentation' }).isVisible()).toBe(true);
  });

  test('has a menu and a search on a phone, without a finding of axe', async () => {
    const page = await visit({ width: 360 });
    await page.goto('/docs/guides/first-payment');
    await page.getByRole('searchbox').fill('payment');
    await page.getByRole('search').getByRole('link').first().waitFor();
    expect(await findBarriers(page, { impacts: 'all' })).toEqual([]);
    const menu = page.getByRole('navigation', { name: 'Documentation' });
    const button = page.getByRole('button', { name: 'Menu', expanded: false });
    const link = menu.getByRole('link', { name: 'Webhooks', exact: true });
    await button.click();
    await link.focus();
    expect(await findBarriers(page, { impacts: 'all' })).toEqual([]);
    await page.keyboard.press('Escape');
    expect(await menu.count()).toBe(0);
    await button.click();
    await link.click();
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
  });

  test('is dark when the system is, unless the reader chooses, and runs no inline script', async () => {
    const page = await visit({ scheme: 'dark' });
    await page.goto('/docs/');
    expect(await groundOf(page)).toBe(black);
    await page.getByRole('combobox', { name: 'Theme' }).selectOption('Light');
    expect(await groundOf(page)).toBe(white);
    await page.goto('/docs/changelog');
    expect(await groundOf(page)).toBe(white);
    await page.getByRole('combobox', { name: 'Theme' }).selectOption('System');
    expect(await groundOf(page)).toBe(black);

    announce(/Content Security Policy/);
    await page.evaluate(`{
      const script = document.createElement('script');
      script.textContent = 'globalThis.hasRun = true';
      document.body.append(script);
    }`);
    expect(await page.evaluate('globalThis.hasRun')).toBeUndefined();
  });

  test('every kind of page has no finding of axe, is readable in the dark, and fits a phone', async () => {
    const page = await visit();
    for (const path of kinds) {
      await page.goto(path);
      await sweepPage(page, `docs${path.replaceAll('/', '-').replace(/-$/, '')}`, { impacts: 'all' }, 360);
    }
    await page.setViewportSize({ width: 360, height: 800 });
    for (const path of others) {
      await page.goto(path);
      expect({ path, excess: await excessWidth(page) }).toEqual({ path, excess: 0 });
    }
  });
}
