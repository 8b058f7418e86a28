import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createDatabase } from '../helpers/database.ts';
import { setRate } from '../helpers/partners.ts';
import { startSimulator } from '../helpers/simulator.ts';
import { openShop } from './shop.ts';
import { describeInBrowser, openWorld } from './world.ts';

describeInBrowser('the overview', async browser => {
  const { pool } = await createDatabase();
  const bank = await startSimulator();
  const world = await openWorld({ pool, gatewayUrl: bank.address }, browser);
  // A line needs two points.
  await setRate(pool, { ...systemClock, nowMs: () => Date.now() - 3_600_000 });
  const shop = await openShop(world);

  /** Its name, its value and its note. */
  const figure = (page: Page, name: string) =>
    page.locator('.figure', { hasText: name }).locator('p').allTextContents();
  const chart = (page: Page) => page.getByRole('figure').filter({ hasText: 'Payments per minute' });

  test('updates by itself when payments are made', async () => {
    const page = await world.as('viewer');
    await page.goto('/console/');
    await expect.poll(() => figure(page, 'Payments')).toEqual(['Payments', '0', '0 per minute']);
    expect((await figure(page, 'Rate, ₽ per USDT'))[1]).toBe('92.5000');
    expect((await figure(page, 'Available, USDT'))[1]).toBe('1,000.00');
    await expect.poll(() => chart(page).textContent()).toContain('Created: latest 0, lowest 0, highest 0.');
    expect(await chart(page).locator('canvas').count()).toBe(1);
    await page.getByRole('figure').filter({ hasText: 'Rate, last 24 hours' }).waitFor();

    expect((await shop.pay(bank)).status).toBe('succeeded');
    expect((await shop.pay(bank, {}, { on: 'pay', kind: 'decline' })).status).toBe('failed');
    await shop.inReview();
    await expect.poll(() => figure(page, 'Manual review')).toContain('1');
    expect((await figure(page, 'Success rate')).slice(1)).toEqual([
      expect.stringMatching(/^50(\.0)?\s?%$/),
      '1 of 2 completed',
    ]);
    expect((await figure(page, 'Payments'))[1]).toBe('3');
    expect((await figure(page, 'Processing time'))[1]).toMatch(/^[\d.,]+ (ms|sec)$/);
    expect((await figure(page, 'Available, USDT'))[1]).toMatch(/^98[67]\.\d\d$/);
    expect(await chart(page).textContent()).toMatch(/Succeeded: latest [01], lowest 0, highest 1\./);
    expect(await page.getByRole('link', { name: 'Manual review 1' }).count()).toBe(1);

    for (const [span, minutes] of [
      ['6 hours', 360],
      ['24 hours', 1440],
    ] as const) {
      await page.getByRole('button', { name: span }).click();
      await expect
        .poll(() => figure(page, 'Payments'))
        .toEqual(['Payments', '3', '0 per minute · processing: 1']);
      expect(new URL(page.url()).searchParams.get('minutes')).toBe(`${minutes}`);
    }
  });

  test('an alarm appears, is cleared by an operator with the permission, and the audit log shows who', async () => {
    const page = await world.as('support', { name: 'vera' });
    await page.goto('/console/');
    await page.getByText('No open alarms').waitFor();
    await world.deps.alarms.raise({ kind: 'rate_jump', subject: 'fixed', detail: 'by 12 %' });
    const alarm = page.getByRole('listitem').filter({ hasText: 'Sharp rate change' });
    await alarm.getByText('by 12 %').waitFor();
    await alarm.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Clear' }).click();
    await page.getByText('No open alarms').waitFor();
    const { rows } = await pool.query(`SELECT actor FROM audit WHERE action = 'alarm.clear'`);
    expect(rows).toEqual([{ actor: 'operator:vera' }]);
  });
});
