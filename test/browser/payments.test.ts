import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { createDatabase } from '../helpers/database.ts';
import { storeManyPayments } from '../helpers/many-payments.ts';
import { startSimulator } from '../helpers/simulator.ts';
import { openShop } from './shop.ts';
import { describeInBrowser, findBarriers, openWorld } from './world.ts';

describeInBrowser('the list of payments', async browser => {
  const { pool } = await createDatabase();
  const bank = await startSimulator();
  const world = await openWorld({ pool, gatewayUrl: bank.address }, browser);
  await storeManyPayments(pool, 120, 2);
  const shop = await openShop(world);

  const rows = (page: Page) => page.getByRole('table', { name: 'Payments' }).getByRole('row');
  /** Of the rows below the header. */
  const ids = (page: Page) =>
    page
      .getByRole('table', { name: 'Payments' })
      .locator('tbody code')
      .evaluateAll(cells => cells.map(cell => cell.getAttribute('title')));

  test('finds a payment by each of its fields, and the URL keeps the search', async () => {
    const paid = await shop.pay(bank, { external_id: 'order 17/4' });
    const page = await world.as('viewer');
    await page.goto('/console/payments');
    await rows(page).nth(50).waitFor();
    const search = page.getByRole('searchbox', { name: 'Search' });
    for (const words of [
      paid.id,
      'order 17/4',
      paid.qrUrl,
      `${paid.recipient} succeeded 150.00`,
      '150,00 live',
      shop.partnerId,
    ]) {
      await search.fill(words);
      await search.press('Enter');
      await expect.poll(() => ids(page), { message: words }).toEqual([paid.id]);
      await page.getByRole('button', { name: 'Clear' }).click();
      await rows(page).nth(50).waitFor();
    }

    // Test payments of other partners match these words too.
    await search.fill('Test shop');
    await search.press('Enter');
    await expect.poll(async () => (await ids(page)).length).toBeLessThan(10);
    expect(await ids(page)).toContain(paid.id);
    await page.getByRole('button', { name: 'Clear' }).click();

    await page.getByLabel('Amount, ₽').fill('150');
    await page.getByLabel('Mode').selectOption('Live');
    await page.getByLabel('Status').selectOption('Succeeded');
    await expect.poll(() => ids(page)).toEqual([paid.id]);
    const { searchParams } = new URL(page.url());
    expect(Object.fromEntries(searchParams)).toEqual({ amount_rub: '150', mode: 'live', state: 'succeeded' });
    await page.reload();
    await expect.poll(() => ids(page)).toEqual([paid.id]);
    expect(await page.getByLabel('Amount, ₽').inputValue()).toBe('150');

    await page.getByLabel('Status').selectOption('Manual review');
    await page.getByText('No payments found').waitFor();
    await page.goBack();
    await expect.poll(() => ids(page)).toEqual([paid.id]);
    await page.getByRole('link', { name: paid.id.slice(-8) }).click();
    await page.getByText('order 17/4').first().waitFor();
  });

  test('finds payments by the time of creation', async () => {
    const page = await world.as('viewer');
    const fill = async (label: string, inMinutes: number) => {
      const minute = new Date(Date.now() + inMinutes * 60_000).toISOString().slice(0, 16);
      await page.getByLabel(label).fill(minute);
      await page.getByRole('button', { name: 'Search' }).click();
    };
    await page.goto('/console/payments');
    await page.getByLabel('Period').selectOption('Custom');
    await fill('Created from, UTC', -60);
    await rows(page).nth(50).waitFor();
    await fill('Created until, UTC', -30);
    await page.getByText('No payments found').waitFor();
    await page.reload();
    await page.getByText('No payments found').waitFor();
    await fill('Created until, UTC', 60);
    await rows(page).nth(50).waitFor();
    // Shown in the same way in every browser, whatever its language.
    const from = page.getByLabel('Created from, UTC');
    expect(await from.inputValue()).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d$/);
    for (const wrong of ['11/15/2026, 10:00', '2026-02-30 10:00', '2026-11-15 10']) {
      await from.fill(wrong);
      await from.blur();
      await page.getByText('Format: 2026-11-15 22:00').waitFor();
    }
  });

  test('loads more, page by page, each payment once', async () => {
    const page = await world.as('viewer');
    await page.goto('/console/payments?mode=live');
    await rows(page).nth(50).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole('button', { name: 'Show more' }).click();
    await rows(page).nth(100).waitFor();
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByRole('button', { name: 'Show more' }).waitFor({ state: 'hidden' });
    const shown = await ids(page);
    const { rows: stored } = await pool.query(
      `SELECT count(*)::int AS count FROM payments WHERE mode = 'live' AND NOT rejected`,
    );
    expect(shown).toHaveLength(stored[0].count);
    expect(new Set(shown).size).toBe(shown.length);
    expect(shown).toEqual(shown.toSorted().toReversed());
  });

  test('a new payment appears by itself', async () => {
    const page = await world.as('viewer');
    await page.goto('/console/payments');
    await rows(page).nth(50).waitFor();
    const paid = await shop.pay(bank);
    await expect.poll(async () => (await ids(page))[0]).toBe(paid.id);
  });
});
