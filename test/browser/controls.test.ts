import { beforeAll, expect, test } from 'vitest';
import { createDatabase, createFundedPartner } from '../helpers/database.ts';
import { setRate } from '../helpers/partners.ts';
import { openInReview } from '../helpers/review.ts';
import { startSimulator } from '../helpers/simulator.ts';
import { answerDialog, openByMenu, press, rowOf, save } from './page-actions.ts';
import { describeInBrowser, openWorld } from './world.ts';

describeInBrowser('recipients, reconciliation and audit', async browser => {
  const { pool } = await createDatabase();
  const bank = await startSimulator();
  const world = await openWorld({ pool, gatewayUrl: bank.address }, browser);
  let page: Awaited<ReturnType<typeof world.as>>;
  beforeAll(async () => {
    page = await world.as('admin', { name: 'anna' });
    await setRate(pool);
  });

  test('a recipient is blocked, not twice, and unblocked', async () => {
    world.announceRefusals(409);
    const blocked = async () => (await pool.query('SELECT recipient FROM blocked_recipients')).rows;
    await page.goto('/console/recipients');
    await page.getByText('No blocked recipients').waitFor();
    await press(page, 'Block recipient');
    await answerDialog(page, 'Block', { Recipient: 'ООО Ромашка' });
    await rowOf(page, 'ооо ромашка').waitFor();
    await press(page, 'Block recipient');
    await page.getByRole('textbox', { name: 'Recipient', exact: true }).fill('ооо РОМАШКА');
    await press(page.getByRole('dialog'), 'Block');
    await page.getByText('This recipient is already blocked.').waitFor();
    await press(page.getByRole('dialog'), 'Cancel');
    expect(await blocked()).toEqual([{ recipient: 'ооо ромашка' }]);
    await press(rowOf(page, 'ооо ромашка'), 'Unblock');
    await answerDialog(page, 'Unblock');
    await page.getByText('No blocked recipients').waitFor();
    expect(await blocked()).toEqual([]);
  });

  test('a day is reconciled with the gateway, and its discrepancies are shown', async () => {
    const paymentId = await openInReview(pool, await createFundedPartner(pool, 50_000_000n));
    await page.goto('/console/reconciliation');
    await press(page, 'Reconcile a day');
    await answerDialog(page, 'Reconcile', { 'Day (UTC)': new Date().toISOString().slice(0, 10) });
    await page.getByText('1 discrepancy').waitFor();
    await rowOf(page.getByRole('table', { name: 'Discrepancies' }), paymentId)
      .getByText('Not completed yet')
      .waitFor();
    await page.getByRole('link', { name: 'All reconciliations' }).click();
    await rowOf(page.getByRole('table', { name: 'Reconciliations' }), '1 discrepancy').waitFor();
  });

  test.each([
    ['en', 3, 'At least 3 discrepancies', 'Not all discrepancies are listed'],
    ['ru', 0, 'Неполная', 'Показаны не все расхождения'],
  ] as const)(
    'an incomplete run is never shown as in order (%s)',
    async (language, count, result, notice) => {
      const { rows } = await pool.query(
        `INSERT INTO reconciliations
         (actor, from_at, until_at, started_at, finished_at, orders, payments, differences, is_complete)
       VALUES ('kopeck', now(), now(), now(), now(), 9, 9, $1, false) RETURNING id`,
        [
          JSON.stringify(
            Array.from({ length: count }, (_, nth) => ({
              kind: 'still_open',
              payment_id: `pay_${nth}`,
              amount_kopecks: 100,
              order_kopecks: null,
            })),
          ),
        ],
      );
      const page = await world.as('viewer', { language });
      await page.goto('/console/reconciliation');
      await rowOf(page.getByRole('table'), result).waitFor();
      await page.goto(`/console/reconciliation/${rows[0].id}`);
      await page.getByRole('alert').getByText(notice).waitFor();
      expect(await page.getByText(/No discrepancies|Расхождений нет/).count()).toBe(0);
    },
  );

  test('the audit log is filtered, shows before and after, and is exported with its filter', async () => {
    const partnerId = await createFundedPartner(pool, 5n);
    await page.goto(`/console/partners/${partnerId}`);
    await press(page, 'Suspend');
    await answerDialog(page, 'Suspend', { Reason: 'Asked for by the partner' });
    await openByMenu(page, 'Audit log');
    const table = page.getByRole('table', { name: 'Audit log' });
    await rowOf(table, 'Recipient blocked').waitFor();
    await page.getByLabel('Actor').fill('anna');
    await page.getByLabel('To date (UTC)').fill('15.11.2026');
    await page.getByLabel('Target').focus();
    await page.getByText('Format: 2026-11-15').waitFor();
    await page.getByLabel('To date (UTC)').fill('');
    await page.getByLabel('Target').fill(partnerId);
    await press(page, 'Apply');
    await rowOf(table, 'Recipient blocked').waitFor({ state: 'hidden' });
    const row = rowOf(table, 'Partner suspended');
    expect(await row.getByTitle('after').allTextContents()).toEqual(['yes', 'Asked for by the partner']);
    const [day] = new Date().toISOString().split('T');
    await page.getByLabel('To date (UTC)').fill(day!);
    await press(page, 'Apply');
    await page.getByLabel('Action').selectOption({ label: 'Partner resumed' });
    await page.getByText('No records found').waitFor();
    await page.getByLabel('Action').selectOption({ label: 'Partner suspended' });
    await row.waitFor();
    const json = JSON.parse((await save(page, page, 'Export JSON')).text);
    expect(JSON.stringify(json)).toContain('partner.suspend');
    expect(JSON.stringify(json)).not.toContain('recipient.block');
    const csv = await save(page, page, 'Export CSV');
    expect(csv.text.trimEnd().split('\n')).toHaveLength(2);
    await press(page, 'Clear');
    await rowOf(table, 'Recipient blocked').waitFor();
  });
});
