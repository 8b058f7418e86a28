import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { openByMenu, press } from './page-actions.ts';
import { openShop } from './sample-data.ts';
import { findBarriers, moveTo, untilLoaded, type World } from './world.ts';

const mostBytes = 300_000;
const lost = 'Connection lost. Reconnecting…';

/** What surrounds the pages: the first load, keyboard, language, colours, a lost connection, an update. */
export async function testShell(world: World) {
  const shop = await openShop(world, 'Corner shop');
  const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true }).waitFor();

  test('the first load is small, in either compression, and shows a skeleton that stands still where that is wished', async () => {
    const [visitor, operator] = [await world.visit(), await world.as('viewer')];
    const addresses = new Set<string>();
    for (const page of [visitor, operator])
      page.on('requestfinished', request => {
        if (!request.url().includes('/console/api/')) addresses.add(request.url());
      });
    await visitor.goto('/console/', { waitUntil: 'networkidle' });
    await visitor.getByRole('button', { name: 'Sign in' }).waitFor();
    await operator.emulateMedia({ reducedMotion: 'reduce' });
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await operator.route('**/console/api/session/current', async route => {
      await released;
      await route.continue();
    });
    await operator.goto('/console/');
    const skeleton = operator.getByRole('status', { name: 'Loading' });
    await skeleton.waitFor();
    expect(await skeleton.getAttribute('aria-busy')).toBe('true');
    const animation = `getComputedStyle(document.querySelector('.first-load-lines')).animationName`;
    expect(await operator.evaluate(animation)).toBe('none');
    await operator.emulateMedia({ reducedMotion: 'no-preference' });
    expect(await operator.evaluate(animation)).not.toBe('none');
    release();
    await heading(operator, 'Overview');
    // The page itself may still be loading.
    expect(await operator.locator('.first-load').count()).toBe(0);
    await operator.waitForLoadState('networkidle');
    expect(addresses.size).toBeGreaterThan(4);
    for (const encoding of ['br', 'gzip'] as const) {
      const sizes = await Promise.all([...addresses].map(address => sizeOf(address, encoding)));
      const bytes = sizes.reduce((all, one) => all + one, 0);
      expect(bytes).toBeLessThan(mostBytes);
    }
  });

  test('everything is reached without a mouse', async () => {
    const [older, newer] = [await shop.inReview(), await shop.inReview()];
    const page = await world.as('support', { name: 'katya' });
    const type = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await page.goto('/console/');
    await heading(page, 'Overview');
    const order: string[] = [];
    for (let nth = 0; nth < 7; nth++) {
      await type('Tab');
      // As a screen reader names it.
      const named = 'document.activeElement.ariaLabel || document.activeElement.textContent';
      order.push(await page.evaluate<string>(named));
    }
    expect(order).toEqual([
      'Skip to content',
      'Kopeck',
      'Search payments',
      'RU: Русский',
      'Theme: Dark',
      'katya · Support',
      'Overview',
    ]);
    await page.getByRole('link', { name: 'Skip to content' }).focus();
    await type('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('content');
    await type('?');
    const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await keys.getByText('Go to: Payments').waitFor();
    await type('Escape');
    await keys.waitFor({ state: 'hidden' });

    await type('g', 'p');
    await heading(page, 'Payments');
    await page.getByRole('row').nth(2).waitFor();
    await type('j', 'j', 'k', 'j', 'Enter');
    await heading(page, 'Payment');
    expect(page.url()).toContain(older);
    // In a field a shortcut letter is only a letter.
    await type('/', 'g', 'p');
    const search = page.getByRole('searchbox', { name: 'Search payments' });
    expect(await search.inputValue()).toBe('gp');
    await search.fill(newer);
    await type('Enter');
    await heading(page, 'Payments');
    await page.waitForURL(`**/*${newer}*`);
  });

  test('the command palette opens pages, partners, payments and requests, and gives the focus back', async () => {
    const paymentId = await shop.inReview();
    const page = await world.as('viewer');
    const box = page.getByRole('dialog').getByRole('combobox');
    const options = page.getByRole('dialog').getByRole('option');
    const seek = async (text: string) => {
      await page.keyboard.press('Control+k');
      await box.fill(text);
    };
    await page.goto('/console/');
    await untilLoaded(page);
    await page.getByLabel('Search payments').focus();
    await page.keyboard.press('Control+k');
    await box.waitFor();
    await options.nth(10).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.locator(':focus[aria-label="Search payments"]').waitFor();

    await seek('audit');
    await options.first().filter({ hasText: 'Audit log' }).waitFor();
    await page.keyboard.press('Enter');
    await heading(page, 'Audit log');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });

    await seek('corner sh');
    const partner = options.filter({ hasText: 'Corner shop' });
    await partner.waitFor();
    // Its place in the list is reached with the arrows, and announced by the combobox.
    for (let nth = 0; (await partner.getAttribute('aria-selected')) !== 'true' && nth < 5; nth++)
      await page.keyboard.press('ArrowDown');
    expect(await box.getAttribute('aria-activedescendant')).toBe(await partner.getAttribute('id'));
    await page.keyboard.press('Enter');
    await heading(page, 'Corner shop');

    for (const text of [paymentId, `order of ${paymentId}`]) {
      await seek(text);
      // While nothing is found yet, the only option is to search payments for this text.
      await options
        .first()
        .filter({ hasText: new RegExp(`^${text}`) })
        .waitFor();
      await page.keyboard.press('Enter');
      await heading(page, 'Payment');
      expect(page.url()).toContain(paymentId);
      await moveTo(page, '/console/partners');
    }
    await seek('req_01kaaaaaaaaaaaaaaaaaaaaaaa');
    await page.keyboard.press('Enter');
    await heading(page, 'API requests');
    expect(new URL(page.url()).searchParams.get('request_id')).toBe('req_01kaaaaaaaaaaaaaaaaaaaaaaa');
    await seek('nothing like it');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.getByText('No payments found').waitFor();
  });

  test('language and colours are those of the browser until chosen, and the choice is stored', async () => {
    const isDark = () =>
      page.evaluate<boolean>('Number(/\\d+/.exec(getComputedStyle(document.body).backgroundColor)[0]) < 128');
    const page = await world.as('viewer', { language: 'ru', scheme: 'dark' });
    await page.goto('/console/');
    await heading(page, 'Обзор');
    expect(await isDark()).toBe(true);
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Перейти к странице, партнёру, платежу или запросу' }).waitFor();
    await page.getByRole('dialog').getByRole('combobox').fill('свер');
    await page.keyboard.press('Enter');
    await heading(page, 'Сверка');
    await press(page, 'EN: English');
    await heading(page, 'Reconciliation');
    await press(page, 'Theme: Light');
    await page.getByRole('button', { name: 'Theme: Dark' }).waitFor();
    expect(await isDark()).toBe(false);
    await page.reload();
    await heading(page, 'Reconciliation');
    expect(await isDark()).toBe(false);
    expect(await page.locator('html').getAttribute('lang')).toBe('en');
    await page.context().clearCookies();
    await page.goto('/console/payments');
    await heading(page, 'Sign in');
    expect(await isDark()).toBe(false);
  });

  test('a lost connection is shown until it is back', async () => {
    const page = await world.as('viewer');
    await page.goto('/console/review');
    await heading(page, 'Manual review');
    world.announce(/net::ERR/);
    const api = '**/console/api/**';
    await page.route(api, route => route.abort('connectionrefused'));
    await page.getByText(lost).waitFor();
    const paymentId = await shop.inReview();
    await page.unroute(api);
    await page.getByText(lost).waitFor({ state: 'hidden' });
    await page.getByRole('link', { name: paymentId.slice(-8) }).waitFor();
  });

  /** A console that was opened before an update asks for files of the version before it. */
  test('after an update the console reloads itself once when a page is opened whose file is gone, never without a connection', async () => {
    const broke = 'This page could not be displayed';
    const page = await world.as('admin');
    let [loads, isGone, isBack] = [0, true, false];
    await page.route('**/assets/recipients-*.js', route =>
      isGone ? route.fulfill({ status: 404, body: '' }) : route.continue(),
    );
    world.announceRefusals(404);
    const lastPreload = page.waitForResponse(response => response.url().includes('/assets/settings-'));
    await page.goto('/console/');
    await heading(page, 'Overview');
    // The preload of the page has failed, and nothing was reloaded.
    await lastPreload;
    page.on('request', request => {
      if (!request.isNavigationRequest()) return;
      loads += 1;
      if (isBack) isGone = false;
    });
    world.announce(/net::ERR/, /dynamically imported module/);
    await page.route('**/*', route => route.abort('connectionrefused'));
    await openByMenu(page, 'Recipients');
    await page.getByText(broke).waitFor();
    expect(loads).toBe(0);
    await page.unroute('**/*');

    // A reload that does not help is not repeated.
    await page.goto('/console/');
    await heading(page, 'Overview');
    loads = 0;
    await openByMenu(page, 'Recipients');
    await page.getByText(broke).waitFor();
    expect(loads).toBe(1);

    await page.evaluate('sessionStorage.clear()');
    await page.goto('/console/');
    await heading(page, 'Overview');
    [loads, isBack] = [0, true];
    await openByMenu(page, 'Recipients');
    await heading(page, 'Recipients');
    expect(new URL(page.url()).pathname).toBe('/console/recipients');
    expect(loads).toBe(1);
  });
}

/** The size on the wire; an uncompressed answer counts as it is. */
async function sizeOf(address: string, encoding: 'br' | 'gzip'): Promise<number> {
  const response = await fetch(address, { headers: { 'accept-encoding': encoding } });
  const body = Buffer.from(await response.arrayBuffer());
  if (response.headers.get('content-encoding') !== encoding) return body.length;
  // `fetch` has decompressed it; the header has the size, unless it was chunked.
  const compress = encoding === 'br' ? brotliCompressSync : gzipSync;
  return Number(response.headers.get('content-length') ?? compress(body).length);
}
