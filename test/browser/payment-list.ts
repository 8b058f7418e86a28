import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { idFromUuid, uuidFromId } from '../../src/base/ids.ts';
import type { Simulator } from '../helpers/simulator.ts';
import { press, rowOf, save } from './page-actions.ts';
import type { SampleData } from './sample-data.ts';
import { openShop } from './shop.ts';
import { moveTo, untilLoaded, type World } from './world.ts';

/** Support finds payments among many. */
export function testPaymentList(world: World, bank: Simulator, { shop, paymentId }: SampleData) {
  const rows = (page: Page) => page.getByRole('table', { name: 'Payments' }).getByRole('row');
  /** Of the rows below the header. */
  const ids = (page: Page) =>
    page
      .getByRole('table', { name: 'Payments' })
      .locator('tbody code')
      .evaluateAll(cells => cells.map(cell => cell.getAttribute('title')));

  test('a payment is found by words, filters and time; the URL keeps the search', async () => {
    const page = await world.as('viewer');
    await page.goto('/console/payments');
    await rows(page).nth(50).waitFor();
    // A new payment appears by itself.
    const paid = await shop.pay(bank, { external_id: 'order 17/4' });
    await expect.poll(async () => (await ids(page))[0]).toBe(paid.id);
    const search = page.getByRole('searchbox', { name: 'Search' });
    const found = [paid.id, paymentId];
    const { rows: ofRecipient } = await world.pool.query<{ id: string }>(
      'SELECT id FROM payments WHERE id = ANY ($1) AND recipient = $2 ORDER BY id DESC',
      [found.map(uuidFromId), paid.recipient],
    );
    for (const [words, expected] of [
      ['order 17/4', [paid.id]],
      [`${paid.recipient} succeeded 150.00`, ofRecipient.map(({ id }) => idFromUuid('pay', id))],
    ] as const) {
      await search.fill(words);
      await search.press('Enter');
      await expect.poll(() => ids(page), { message: words }).toEqual(expected);
      await press(page, 'Clear');
      await rows(page).nth(50).waitFor();
    }
    await page.getByLabel('Amount, ₽').fill('150');
    await page.getByLabel('Mode').selectOption('Live');
    await page.getByLabel('Status').selectOption('Succeeded');
    await expect.poll(() => ids(page)).toEqual(found);
    const filters = { amount_rub: '150', mode: 'live', state: 'succeeded' };
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual(filters);
    await page.reload();
    await expect.poll(() => ids(page)).toEqual(found);
    expect(await page.getByLabel('Amount, ₽').inputValue()).toBe('150');
    await page.getByLabel('Status').selectOption('Manual review');
    await page.getByText('No payments found').waitFor();
    await page.goBack();
    await expect.poll(() => ids(page)).toEqual(found);
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

  test('the list grows page by page, each payment once', async () => {
    const page = await world.as('viewer');
    await page.goto('/console/payments?amount_rub=99');
    await rows(page).nth(50).waitFor();
    await press(page, 'Show more');
    await page.getByRole('button', { name: 'Show more' }).waitFor({ state: 'hidden' });
    const shown = await ids(page);
    expect(shown).toHaveLength(76);
    expect(new Set(shown).size).toBe(76);
    expect(shown).toEqual(shown.toSorted().toReversed());
  });

  test('a partner is chosen by its name; the totals and the file have what is shown', async () => {
    const name = 'A shop with a name that is far too long for one line of the table, number 1';
    const other = await openShop(world, name);
    await other.inReview(100_000n);
    await other.inReview(250_050n);
    const page = await world.as('viewer');
    await page.goto('/console/payments');
    await untilLoaded(page);
    const totals = page.getByRole('region', { name: 'Totals' });
    await totals.getByText('Debited:').first().waitFor();
    await totals.getByText('Returned:').first().waitFor();
    const field = page.getByRole('combobox', { name: 'Partner' });
    await field.fill('far too long');
    const option = page.locator('datalist option');
    await expect.poll(() => option.count()).toBe(1);
    await field.fill((await option.first().getAttribute('value'))!);
    await expect.poll(() => rows(page).count()).toBe(3);
    expect(new URL(page.url()).searchParams.get('partner_id')).toBe(other.partnerId);
    const line = totals.getByRole('listitem');
    await expect
      .poll(() => line.locator('.number').allTextContents())
      .toEqual(['2 payments,', '3,500.50 ₽', '22.000000 USDT']);
    await line.getByText('Manual review').waitFor();
    await line.getByText('Held:').waitFor();
    const { name: file, text } = await save(page, page, 'Download CSV');
    expect(file).toBe('payments.csv');
    expect(text.trimEnd().split('\n')).toHaveLength(3);

    // Long names are not cut, and a payment in review has one colour on all pages.
    const long = page.getByText(name).first();
    expect(await long.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    const colours: string[] = [];
    const add = async (where: string) => {
      const badge = page.locator(`${where} .badge`, { hasText: 'Manual review' }).first();
      await badge.waitFor();
      colours.push(await badge.evaluate('node => getComputedStyle(node).backgroundColor'));
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
    await moveTo(page, '/console/review');
    await add('table');
    await page.locator('table a[data-row]').first().click();
    await add('.page-title');
    expect(new Set(colours).size).toBe(1);
    await page.getByText('Held', { exact: true }).first().waitFor();
    expect(await page.getByText('Debited', { exact: true }).count()).toBe(0);
  });
}
