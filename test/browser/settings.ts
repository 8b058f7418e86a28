import { expect, test } from 'vitest';
import { newLink, partnerAt, setRate } from '../helpers/api.ts';
import { answerDialog, cardOf, keepStale, openByMenu, press, rowOf, save } from './page-actions.ts';
import { openShop } from './shop.ts';
import { moveTo, type World } from './world.ts';

/** Rates and settings are changed, and recipients, reconciliation and the audit log are controlled. */
export function testSettings(world: World) {
  const { pool } = world;

  test('rates: what-if changes nothing; of two concurrent changes the second is refused, and can be made again', async () => {
    await setRate(pool);
    const before = (await pool.query('SELECT count(*)::int AS count FROM rate_rules')).rows[0].count;
    const spreads = async () =>
      (await pool.query('SELECT spread_bps FROM rate_rules ORDER BY version OFFSET $1', [before])).rows.map(
        row => row.spread_bps,
      );
    const page = await world.as('finance');
    await page.goto('/console/rates');
    const card = cardOf(page, 'Rate calculator');
    await card.getByLabel('Spread').fill('10');
    await card.getByLabel('Payment amount').fill('9 250');
    await press(card, 'Calculate');
    await rowOf(card, 'Rate').getByText('83.25').waitFor();
    await rowOf(card, 'Debited amount').getByText('111.111112').waitFor();
    expect(await spreads()).toEqual([]);

    world.announceRefusals(409);
    const other = await world.as('admin');
    await other.goto('/console/rates');
    await cardOf(other, 'Rate rules').waitFor();
    // Held back from the first answer on: a poll under way would bring the new rules before the button is pressed.
    const release = await keepStale(other, 'rates?*');
    for (const window of [page, other]) {
      await press(cardOf(window, 'Rate rules'), 'Change');
      const dialog = window.getByRole('dialog');
      await dialog.getByLabel('Spread').fill(window === page ? '2.5' : '4');
      expect(await dialog.getByRole('button', { name: 'Change' }).isDisabled()).toBe(true);
      await dialog.getByLabel('Reason').fill('A calm market');
    }
    await answerDialog(page, 'Change');
    const history = page.getByRole('table', { name: 'Change history' });
    await rowOf(history, 'A calm market').getByText('2.5%').waitFor();
    await press(other.getByRole('dialog'), 'Change');
    await other.getByText('Another operator has changed this in the meantime').waitFor();
    release();
    await other.getByText('Another operator has changed the rules in the meantime').waitFor();
    expect(await spreads()).toEqual([250]);
    await press(other, 'Start over with the current rules');
    await answerDialog(other, 'Change', { Spread: '4' });
    expect(await spreads()).toEqual([250, 400]);

    // The history has a range, which is kept in the URL.
    await press(page, '7 days');
    await expect.poll(() => page.url()).toContain('hours=168');
    await page.reload();
    await page.locator('button[aria-pressed=true]', { hasText: '7 days' }).waitFor();
  });

  test('settings: maintenance now and later; thresholds are raised when another administrator approves', async () => {
    const partner = partnerAt(world.address, (await openShop(world)).testKey);
    const pay = async () => (await partner.pay({ qr_url: newLink(10_000) })).json.error?.code;
    const page = await world.as('admin', { name: 'maria' });
    await page.goto('/console/settings');
    await press(page, 'Start now');
    await answerDialog(page, 'Start now');
    await page.getByText('Maintenance: new payments are rejected.').waitFor();
    await expect.poll(pay).toBe('maintenance');
    await press(page, 'End now');
    await answerDialog(page, 'End now');
    await page.getByText('New payments are accepted.').waitFor();
    await expect.poll(pay).toBeUndefined();
    await press(page, 'Schedule');
    await answerDialog(page, 'Schedule');
    const planned = page.getByRole('table', { name: 'Scheduled maintenance' });
    await press(rowOf(planned, 'maria'), 'Cancel maintenance');
    await answerDialog(page, 'Cancel maintenance');
    await page.getByText('No maintenance scheduled').waitFor();

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
    const page = await world.as('support', { name: 'tanya' });
    await page.goto('/console/');
    const figure = (name: string) =>
      page.locator('.figure', { hasText: name }).locator('p').allTextContents();
    await expect.poll(() => figure('Payments')).toHaveLength(3);
    expect((await figure('Rate, ₽ per USDT'))[1]).toMatch(/^\d\d\.\d{4}$/);
    expect((await figure('Available, USDT'))[1]).toMatch(/^[\d,]+\.\d\d$/);
    const chart = page.getByRole('figure').filter({ hasText: 'Payments per minute' });
    await expect.poll(() => chart.textContent()).toMatch(/Created: latest \d+, lowest \d+, highest \d+\./);
    expect(await chart.locator('canvas').count()).toBe(1);
    const waiting = async () => Number((await figure('Manual review'))[1]);
    const before = await waiting();
    await shop.inReview();
    await world.deps.alarms.raise({ kind: 'rate_jump', subject: 'fixed', detail: 'by 12 %' });
    await expect.poll(waiting).toBe(before + 1);
    await page.getByRole('link', { name: `Manual review ${before + 1}` }).waitFor();
    const alarm = page.getByRole('listitem').filter({ hasText: 'Sharp rate change' });
    await alarm.getByText('by 12 %').waitFor();
    await press(alarm, 'Clear');
    await press(page.getByRole('dialog'), 'Clear');
    await alarm.waitFor({ state: 'hidden' });
    const { rows } = await pool.query(`SELECT actor FROM audit WHERE action = 'alarm.clear'`);
    expect(rows).toEqual([{ actor: 'operator:tanya' }]);
    await press(page, '6 hours');
    await expect.poll(() => new URL(page.url()).searchParams.get('minutes')).toBe('360');
  });

  test('recipients are blocked and a day is reconciled; an incomplete run is never shown as in order', async () => {
    world.announceRefusals(409);
    const page = await world.as('admin');
    await page.goto('/console/recipients');
    await press(page, 'Block recipient');
    await answerDialog(page, 'Block', { Recipient: 'ООО Ромашка' });
    await rowOf(page, 'ооо ромашка').waitFor();
    await press(page, 'Block recipient');
    const dialog = page.getByRole('dialog');
    await page.getByRole('textbox', { name: 'Recipient', exact: true }).fill('ооо РОМАШКА');
    await press(dialog, 'Block');
    await page.getByText('This recipient is already blocked.').waitFor();
    await press(dialog, 'Cancel');
    await press(rowOf(page, 'ооо ромашка'), 'Unblock');
    await answerDialog(page, 'Unblock');
    await page.getByText('No blocked recipients').waitFor();

    const paymentId = await (await openShop(world)).inReview();
    await openByMenu(page, 'Reconciliation');
    await press(page, 'Reconcile a day');
    await answerDialog(page, 'Reconcile', { 'Day (UTC)': new Date().toISOString().slice(0, 10) });
    const found = rowOf(page.getByRole('table', { name: 'Discrepancies' }), paymentId);
    await found.getByText('Not completed yet').waitFor();
    await page.getByRole('link', { name: 'All reconciliations' }).click();
    await rowOf(page.getByRole('table', { name: 'Reconciliations' }), /\d+ discrepanc/).waitFor();
    for (const [count, result] of [
      [3, 'At least 3 discrepancies'],
      [0, 'Incomplete'],
    ] as const) {
      const difference = {
        kind: 'still_open',
        payment_id: 'pay_1',
        amount_kopecks: 100,
        order_kopecks: null,
      };
      const { rows } = await pool.query(
        `INSERT INTO reconciliations
           (actor, from_at, until_at, started_at, finished_at, orders, payments, differences, is_complete)
         VALUES ('kopeck', now(), now(), now(), now(), 9, 9, $1, false) RETURNING id`,
        [JSON.stringify(Array(count).fill(difference))],
      );
      await page.goto('/console/reconciliation');
      await rowOf(page.getByRole('table'), result).waitFor();
      await moveTo(page, `/console/reconciliation/${rows[0].id}`);
      await page.getByRole('alert').getByText('Not all discrepancies are listed').waitFor();
      expect(await page.getByText('No discrepancies').count()).toBe(0);
    }
  });

  test('the audit log is filtered, shows before and after, and is exported with its filter', async () => {
    const { partnerId } = await openShop(world);
    const page = await world.as('admin', { name: 'polina' });
    await page.operator.post('/recipients/block', { recipient: 'Somebody' });
    await page.operator.post(`/partners/${partnerId}/suspend`, { reason: 'Asked for by the partner' });
    await page.goto('/console/audit');
    const table = page.getByRole('table', { name: 'Audit log' });
    await rowOf(table, 'Recipient blocked').first().waitFor();
    await page.getByLabel('Actor').fill('polina');
    await page.getByLabel('To date (UTC)').fill('15.11.2026');
    await page.getByLabel('Target').focus();
    await page.getByText('Format: 2026-11-15').waitFor();
    await page.getByLabel('To date (UTC)').fill(new Date().toISOString().slice(0, 10));
    await page.getByLabel('Target').fill(partnerId);
    await press(page, 'Apply');
    await rowOf(table, 'Recipient blocked').first().waitFor({ state: 'hidden' });
    const row = rowOf(table, 'Partner suspended');
    expect(await row.getByTitle('after').allTextContents()).toEqual(['yes', 'Asked for by the partner']);
    await page.getByLabel('Action').selectOption({ label: 'Partner resumed' });
    await page.getByText('No records found').waitFor();
    await page.getByLabel('Action').selectOption({ label: 'Partner suspended' });
    await row.waitFor();
    const json = (await save(page, page, 'Export JSON')).text;
    expect(json).toContain('partner.suspend');
    expect(json).not.toContain('recipient.block');
    const csv = await save(page, page, 'Export CSV');
    expect(csv.text.trimEnd().split('\n')).toHaveLength(2);
    await press(page, 'Clear');
    await rowOf(table, 'Recipient blocked').first().waitFor();
  });
}
