import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Simulator } from '../helpers/simulator.ts';
import { choosePartner, press, rowOf, save } from './page-actions.ts';
import { openShop, type SampleData } from './sample-data.ts';
import { moveTo, untilLoaded, type World } from './world.ts';

/** A viewer finds payments among many. Which ones a filter finds is tested at its route. */
export function testPaymentList(world: World, bank: Simulator, { shop }: SampleData) {
  const rows = (page: Page) => page.getByRole('table', { name: 'Payments' }).locator('tbody tr');
  const first = (page: Page, id: string) => rows(page).first().locator(`code[title="${id}"]`).waitFor();

  test('a payment is found by words, filters and time; the URL keeps the search', async () => {
    const page = await world.as('viewer');
    await page.goto('/console/payments');
    await rows(page).nth(49).waitFor();
    // A new payment appears by itself.
    const { id } = await shop.pay(bank, { external_id: 'order 17/4' });
    await first(page, id);
    const search = page.getByRole('searchbox', { name: 'Search' });
    await search.fill('order 17/4');
    await search.press('Enter');
    await rows(page).nth(1).waitFor({ state: 'detached' });
    await first(page, id);
    await press(page, 'Clear');
    await rows(page).nth(49).waitFor();
    await page.getByLabel('Amount, ₽').fill('150');
    await page.getByLabel('Mode').selectOption('Live');
    await page.getByLabel('Status').selectOption('Succeeded');
    await page.waitForURL('**/*state=succeeded*');
    await rows(page).nth(49).waitFor({ state: 'detached' });
    const filters = { amount_rub: '150', mode: 'live', state: 'succeeded' };
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual(filters);
    await page.reload();
    await first(page, id);
    expect(await page.getByLabel('Amount, ₽').inputValue()).toBe('150');
    await page.getByLabel('Status').selectOption('Manual review');
    await page.getByText('No payments found').waitFor();
    await page.goBack();
    await first(page, id);
    await press(page, 'Clear');

    const fill = async (label: string, inMinutes: number) => {
      const minute = new Date(Date.now() + inMinutes * 60_000).toISOString().slice(0, 16);
      await page.getByLabel(label).fill(minute);
      await press(page, 'Search');
    };
    await page.getByLabel('Period').selectOption('Custom');
    await fill('Created from, UTC', -2_000);
    await fill('Created until, UTC', -1_000);
    await page.getByText('No payments found').waitFor();
    await page.reload();
    await page.getByText('No payments found').waitFor();
    await fill('Created until, UTC', 60);
    await rows(page).nth(49).waitFor();
    // Shown in the same way in every browser, whatever its language.
    const from = page.getByLabel('Created from, UTC');
    expect(await from.inputValue()).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d$/);
    for (const wrong of ['11/15/2026, 10:00', '2026-02-30 10:00', '2026-11-15 10']) {
      await from.fill(wrong);
      await from.blur();
      await page.getByText('Format: 2026-11-15 22:00').waitFor();
    }

    await page.goto('/console/payments?amount_rub=99');
    await rows(page).nth(49).waitFor();
    await press(page, 'Show more');
    await page.getByRole('button', { name: 'Show more' }).waitFor({ state: 'hidden' });
    expect(await rows(page).count()).toBe(76);
  });

  test('a partner is chosen by its name; the totals and the file have what is shown', async () => {
    const name = 'A shop with a name that is far too long for one line of the table, number 1';
    const other = await openShop(world, name);
    await other.inReview(100_000n);
    await other.inReview(250_050n);
    const page = await world.as('viewer');
    await page.goto('/console/payments');
    const totals = page.getByRole('region', { name: 'Totals' });
    await totals.getByText('Debited:').first().waitFor();
    await totals.getByText('Returned:').first().waitFor();
    await choosePartner(page, 'far too long');
    await page.waitForURL(`**/*partner_id=${other.partnerId}*`);
    const line = totals.getByRole('listitem');
    await line.getByText('22.000000 USDT').waitFor();
    expect(await line.locator('.number').allTextContents()).toEqual([
      '2 payments,',
      '3,500.50 ₽',
      '22.000000 USDT',
    ]);
    await line.getByText('Manual review').waitFor();
    await line.getByText('Held:').waitFor();
    const { name: file, text } = await save(page, page, 'Download CSV');
    expect(file).toBe('payments.csv');
    expect(text.trimEnd().split('\n')).toHaveLength(3);

    // Long names are not cut, and a payment in review has one colour on all pages.
    const long = page.getByText(name).first();
    expect(await long.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    const colours = new Set<string>();
    const add = async (where: string) => {
      const badge = page.locator(`${where} .badge`, { hasText: 'Manual review' }).first();
      await badge.waitFor();
      colours.add(await badge.evaluate('node => getComputedStyle(node).backgroundColor'));
    };
    await add('table');
    // For the page they are three days old, so that a midnight during the test changes nothing.
    await page.clock.setFixedTime(Date.now() + 3 * 86_400_000);
    await page.getByLabel('Period').selectOption('Yesterday');
    await page.getByText('No payments found').waitFor();
    await page.getByLabel('Period').selectOption('Last 7 days');
    await rowOf(page.getByRole('table', { name: 'Payments' }), '2,500.50').waitFor();

    // Next to each other, the count and the sum would read as one number.
    await press(page, 'RU: Русский');
    await page
      .getByRole('region', { name: 'Итоги' })
      .getByText(/^\d+ (платёж|платежа|платежей),$/)
      .first()
      .waitFor();
    expect(await page.title()).toBe('Платежи · Kopeck');
    await press(page, 'EN: English');
    await untilLoaded(page);
    await moveTo(page, '/console/review');
    await add('table');
    await page.locator('table a[data-row]').first().click();
    await add('.page-title');
    expect(colours.size).toBe(1);
    await page.getByText('Held', { exact: true }).first().waitFor();
    expect(await page.getByText('Debited', { exact: true }).count()).toBe(0);
  });
}
