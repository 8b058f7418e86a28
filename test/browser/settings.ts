import { expect, test } from 'vitest';
import { answerDialog, cardOf, press, rowOf, save } from './page-actions.ts';
import { openShop, type SampleData } from './sample-data.ts';
import { moveTo, type World } from './world.ts';

/** An administrator changes settings, and reads the overview, reconciliations and the audit log. */
export function testSettings(world: World, { partnerId }: SampleData) {
  const { sql } = world;

  test('settings: maintenance now and later; thresholds are raised when another administrator approves', async () => {
    const page = await world.as('admin', { name: 'maria' });
    await page.goto('/console/settings');
    for (const [verb, shown] of [
      ['Start now', 'Maintenance: new payments are rejected.'],
      ['End now', 'New payments are accepted.'],
    ] as const) {
      await press(page, verb);
      await answerDialog(page, verb);
      await page.getByText(shown).waitFor();
    }
    await press(page, 'Schedule');
    await answerDialog(page, 'Schedule');
    const planned = rowOf(page.getByRole('table', { name: 'Scheduled maintenance' }), 'maria');
    await press(planned, 'Cancel maintenance');
    await answerDialog(page, 'Cancel maintenance');
    await planned.waitFor({ state: 'hidden' });

    const card = cardOf(page, 'Dual approval thresholds');
    await press(card, 'Change');
    await answerDialog(page, 'Change', { 'Balance credit above': '500' });
    await card.getByText('500.00').waitFor();
    await press(card, 'Change');
    await page.getByLabel('Balance credit above').fill('1000');
    await page.getByText('A second administrator must approve this change.').waitFor();
    await answerDialog(page, 'Change');
    await cardOf(page, 'Change dual approval thresholds').waitFor();
    await card.getByText('500.00').waitFor();
    const other = await world.as('admin');
    await other.goto('/console/settings');
    await press(other, 'Approve');
    await answerDialog(other, 'Approve');
    await cardOf(other, 'Dual approval thresholds').getByText('1,000.00').waitFor();
  });

  test('an alarm and a payment appear on the overview by themselves; the alarm is cleared', async () => {
    const shop = await openShop(world);
    const page = await world.as('support');
    await page.goto('/console/');
    const figure = (name: string) => page.locator('.figure', { hasText: name }).locator('p').nth(1);
    await figure('Available, USDT')
      .getByText(/^[\d,]+\.\d\d$/)
      .waitFor();
    expect(await figure('Rate, ₽ per USDT').textContent()).toMatch(/^\d\d\.\d{4}$/);
    const chart = page.getByRole('figure').filter({ hasText: 'Payments per minute' });
    await chart.getByText(/Created: latest \d+, lowest \d+, highest \d+\./).waitFor({ state: 'attached' });
    expect(await chart.locator('canvas').count()).toBe(1);
    const before = Number(await figure('Manual review').textContent());
    await shop.inReview();
    await world.deps.alarms.raise({ kind: 'rate_jump', subject: 'fixed', detail: 'by 12 %' });
    await page.getByRole('link', { name: `Manual review ${before + 1}` }).waitFor();
    const alarm = page.getByRole('listitem').filter({ hasText: 'by 12 %' });
    await alarm.getByText('Sharp rate change').waitFor();
    await press(alarm, 'Clear');
    await press(page.getByRole('dialog'), 'Clear');
    await alarm.waitFor({ state: 'hidden' });
    await press(page, '6 hours');
    await page.waitForURL('**/*minutes=360*');
  });

  test('a day is reconciled; an incomplete run is never shown as in order', async () => {
    const page = await world.as('admin');
    const paymentId = await (await openShop(world)).inReview();
    await page.goto('/console/reconciliation');
    await press(page, 'Reconcile a day');
    await answerDialog(page, 'Reconcile', { 'Day (UTC)': new Date().toISOString().slice(0, 10) });
    const found = rowOf(page.getByRole('table', { name: 'Discrepancies' }), paymentId);
    await found.getByText('Not completed yet').waitFor();
    for (const [count, result] of [
      [3, 'At least 3 discrepancies'],
      [0, 'Incomplete'],
    ] as const) {
      const amounts = { amount_kopecks: 100, order_kopecks: null };
      const differences = Array(count).fill({ kind: 'amounts_differ', payment_id: 'pay_1', ...amounts });
      const rows = await sql`
        INSERT INTO reconciliations
          (actor, from_at, until_at, started_at, finished_at, orders, payments, differences, is_complete)
        VALUES ('kopeck', now(), now(), now(), now(), 9, 9, ${JSON.stringify(differences)}, false) RETURNING id`;
      await page.goto('/console/reconciliation');
      await rowOf(page.getByRole('table'), result).waitFor();
      await moveTo(page, `/console/reconciliation/${rows[0].id}`);
      await page.getByRole('alert').getByText('Not all discrepancies are listed').waitFor();
      expect(await page.getByText('No discrepancies').count()).toBe(0);
    }
  });

  test('the audit log is filtered, shows before and after, and is exported with its filter', async () => {
    const page = await world.as('admin', { name: 'polina' });
    await page.operator.post('/recipients/block', { recipient: 'Somebody' });
    await page.operator.post(`/partners/${partnerId}/suspend`, { reason: 'Asked for by the partner' });
    await page.operator.post(`/partners/${partnerId}/resume`);
    await page.goto('/console/audit');
    const table = page.getByRole('table', { name: 'Audit log' });
    const blocked = rowOf(table, 'Recipient blocked').first();
    await blocked.waitFor();
    await page.getByLabel('Actor').fill('polina');
    await page.getByLabel('To date (UTC)').fill('15.11.2026');
    await page.getByLabel('Target').focus();
    await page.getByText('Format: 2026-11-15').waitFor();
    await page.getByLabel('To date (UTC)').fill(new Date().toISOString().slice(0, 10));
    await page.getByLabel('Target').fill(partnerId);
    await press(page, 'Apply');
    await blocked.waitFor({ state: 'hidden' });
    await page.getByLabel('Action').selectOption({ label: 'Partner created' });
    await page.getByText('No records found').waitFor();
    await page.getByLabel('Action').selectOption({ label: 'Partner suspended' });
    const row = rowOf(table, 'Partner suspended');
    await row.waitFor();
    expect(await row.getByTitle('after').allTextContents()).toEqual(['yes', 'Asked for by the partner']);
    const csv = await save(page, page, 'Export CSV');
    expect(csv.text.trimEnd().split('\n')).toHaveLength(2);
    await press(page, 'Clear');
    await blocked.waitFor();
  });
}
