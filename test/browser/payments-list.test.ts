import { expect, test } from 'vitest';
import { createDatabase } from '../helpers/database.ts';
import { storeManyPayments } from '../helpers/many-payments.ts';
import { press, rowOf, save } from './page-actions.ts';
import { openShop } from './shop.ts';
import { describeInBrowser, findBarriers, openWorld, untilLoaded } from './world.ts';

describeInBrowser('payments by partner and period', async browser => {
  const { pool } = await createDatabase();
  const world = await openWorld({ pool }, browser);
  await storeManyPayments(pool, 120, 2);
  const shop = await openShop(world);
  await shop.inReview(100_000n);
  await shop.inReview(250_050n);
  const long = 'A shop with a name that is far too long for one line of the table, number ';
  await pool.query(`UPDATE partners SET name = $1 || right(name, 1) WHERE name LIKE 'Shop %'`, [long]);

  test('a partner is chosen by its name; the totals and the file have what is shown', async () => {
    const page = await world.as('viewer');
    await page.goto('/console/payments');
    await untilLoaded(page);
    const totals = page.getByRole('region', { name: 'Totals' });
    await totals.getByText('Debited:').first().waitFor();
    await totals.getByText('Returned:').first().waitFor();
    const field = page.getByRole('combobox', { name: 'Partner' });
    await field.fill('test sho');
    const option = page.locator('datalist option');
    await expect.poll(() => option.count()).toBe(1);
    await field.fill((await option.first().getAttribute('value'))!);
    await expect.poll(() => page.getByRole('table', { name: 'Payments' }).getByRole('row').count()).toBe(3);
    expect(new URL(page.url()).searchParams.get('partner_id')).toBe(shop.partnerId);
    const line = totals.getByRole('listitem');
    await expect
      .poll(() => line.locator('.number').allTextContents())
      .toEqual(['2 payments,', '3,500.50 ₽', '22.000000 USDT']);
    await line.getByText('Manual review').waitFor();
    await line.getByText('Held:').waitFor();
    expect(await page.getByText('Debited').count()).toBe(0);
    expect(await findBarriers(page)).toEqual([]);

    const { name, text } = await save(page, page, 'Download CSV');
    expect(name).toBe('payments.csv');
    expect(text.trimEnd().split('\n')).toHaveLength(3);
    await page.reload();
    await expect.poll(() => field.inputValue()).toContain('Test shop (prt_…');

    // For the page they are three days old, so that a midnight during the test changes nothing.
    await page.clock.setFixedTime(Date.now() + 3 * 86_400_000);
    await page.getByLabel('Period').selectOption('Yesterday');
    await page.getByText('No payments found').waitFor();
    await page.getByLabel('Period').selectOption('Last 7 days');
    await rowOf(page.getByRole('table', { name: 'Payments' }), '2,500.50').waitFor();
    await press(page, 'Clear');
    await expect.poll(() => page.getByRole('table', { name: 'Payments' }).getByRole('row').count()).toBe(51);
    expect(await field.inputValue()).toBe('');
  });

  test('long names are not cut, and a payment in review has one colour on all pages', async () => {
    const page = await world.as('viewer');
    await page.goto('/console/payments');
    for (const number of [0, 1]) {
      const name = page.getByText(`${long}${number}`).first();
      await name.waitFor();
      expect(await name.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    }
    const colours: string[] = [];
    for (const path of ['/payments?state=manual_review', '/review']) {
      await page.goto(`/console${path}`);
      const badge = page.locator('table .badge', { hasText: 'Manual review' }).first();
      await badge.waitFor();
      colours.push(await badge.evaluate('node => getComputedStyle(node).backgroundColor'));
    }
    await page.locator('table a[data-row]').first().click();
    const title = page.locator('.page-title .badge', { hasText: 'Manual review' });
    await title.waitFor();
    colours.push(await title.evaluate('node => getComputedStyle(node).backgroundColor'));
    expect(new Set(colours).size).toBe(1);
    await page.getByText('Held', { exact: true }).first().waitFor();
    expect(await page.getByText('Debited', { exact: true }).count()).toBe(0);
  });

  test('in Russian', async () => {
    const page = await world.as('viewer', { language: 'ru' });
    await page.goto('/console/payments?period=week');
    await page.getByRole('region', { name: 'Итоги' }).getByText('Зарезервировано:').waitFor();
    // Next to each other, the count and the sum would read as one number.
    await page
      .getByRole('region', { name: 'Итоги' })
      .getByText(/^\d+ (платёж|платежа|платежей),$/)
      .first()
      .waitFor();
    expect(await page.getByLabel('Период').inputValue()).toBe('week');
    expect(await page.title()).toBe('Платежи · Kopeck');
    await page.getByText('Не больше 50 000 последних').waitFor();
  });
});
