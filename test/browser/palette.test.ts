import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { createDatabase } from '../helpers/database.ts';
import { openShop } from './shop.ts';
import { describeInBrowser, findBarriers, openWorld, untilLoaded } from './world.ts';

describeInBrowser('the command palette', async browser => {
  const { pool } = await createDatabase();
  const world = await openWorld({ pool }, browser);
  const shop = await openShop(world);
  const paymentId = await shop.inReview();

  const box = (page: Page) => page.getByRole('dialog').getByRole('combobox');
  const options = (page: Page) => page.getByRole('dialog').getByRole('option');

  test('opens pages, partners and payments by the keyboard alone', async () => {
    const page = await world.as('viewer');
    await page.goto('/console/');
    await untilLoaded(page);
    await page.keyboard.press('Control+k');
    await box(page).waitFor();
    expect(await page.evaluate('document.activeElement.role')).toBe('combobox');
    await expect.poll(() => options(page).count()).toBeGreaterThan(10);
    expect(await findBarriers(page)).toEqual([]);

    await box(page).fill('audit');
    await expect.poll(() => options(page).first().textContent()).toBe('Audit log');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Audit log' }).waitFor();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });

    await page.keyboard.press('Control+k');
    await box(page).fill('test sh');
    const partner = options(page).filter({ hasText: 'Test shop' });
    await partner.waitFor();
    // Its place in the list is reached with the arrows, and announced by the combobox.
    for (let nth = 0; (await partner.getAttribute('aria-selected')) !== 'true' && nth < 5; nth++)
      await page.keyboard.press('ArrowDown');
    expect(await box(page).getAttribute('aria-activedescendant')).toBe(await partner.getAttribute('id'));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Test shop' }).waitFor();

    for (const text of [paymentId, `order of ${paymentId}`]) {
      await page.keyboard.press('Control+k');
      await box(page).fill(text);
      // While nothing is found yet, the only option is to search payments for this text.
      await expect.poll(async () => (await options(page).first().textContent())!.startsWith(text)).toBe(true);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Payment', exact: true }).waitFor();
      expect(page.url()).toContain(paymentId);
      await page.goto('/console/partners');
      await untilLoaded(page);
    }

    await page.keyboard.press('Control+k');
    await box(page).fill('req_01kaaaaaaaaaaaaaaaaaaaaaaa');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'API requests' }).waitFor();
    expect(new URL(page.url()).searchParams.get('request_id')).toBe('req_01kaaaaaaaaaaaaaaaaaaaaaaa');

    await page.keyboard.press('Control+k');
    await box(page).fill('nothing like it');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.getByText('No payments found').waitFor();
  });

  test('closes with Escape, and the focus returns', async () => {
    const page = await world.as('viewer');
    await page.goto('/console/');
    await untilLoaded(page);
    const search = page.getByLabel('Search payments');
    await search.focus();
    await page.keyboard.press('Control+k');
    await box(page).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await expect.poll(() => page.evaluate('document.activeElement.ariaLabel')).toBe('Search payments');
  });

  test('in Russian', async () => {
    const page = await world.as('viewer', { language: 'ru' });
    await page.goto('/console/');
    await untilLoaded(page);
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Перейти к странице, партнёру, платежу или запросу' }).waitFor();
    await box(page).fill('свер');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Сверка' }).waitFor();
  });
});

describeInBrowser('before the first answer', async browser => {
  const { pool } = await createDatabase();
  const world = await openWorld({ pool }, browser);

  test('there is a skeleton that says it is busy, and stands still where that is wished', async () => {
    const page = await world.as('viewer');
    await page.emulateMedia({ reducedMotion: 'reduce' });
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route('**/console/api/session/current', async route => {
      await released;
      await route.continue();
    });
    await page.goto('/console/');
    const skeleton = page.getByRole('status', { name: 'Loading' });
    await skeleton.waitFor();
    expect(await skeleton.getAttribute('aria-busy')).toBe('true');
    const animation = `getComputedStyle(document.querySelector('.first-load-lines')).animationName`;
    expect(await page.evaluate(animation)).toBe('none');
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    expect(await page.evaluate(animation)).not.toBe('none');
    release();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    // The page itself may still be loading.
    expect(await page.locator('.first-load').count()).toBe(0);
  });
});
