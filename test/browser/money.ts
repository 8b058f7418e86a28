import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { uuidFromId } from '../../src/base/ids.ts';
import { createFundedPartner, newPaymentId } from '../helpers/database.ts';
import { hold, settle } from '../helpers/ledger.ts';
import { answerDialog, cardOf, press, rowOf, save } from './page-actions.ts';
import { moveTo, type World } from './world.ts';

/** Finance credits partners and reads the ledger. */
export function testMoney(world: World) {
  const { pool } = world;

  test('a small credit is made once per reference, a large one when another operator approves; the statement adds up', async () => {
    const partnerId = await createFundedPartner(pool, 0n);
    const page = await world.as('finance', { name: 'fedor' });
    await page.goto(`/console/partners/${partnerId}`);
    const credits = async () =>
      (
        await pool.query(
          `SELECT (micro_usdt / 1000000)::int AS usdt FROM entries
            WHERE partner_id = $1 AND mode = 'live' ORDER BY entry_no`,
          [uuidFromId(partnerId)],
        )
      ).rows.map(({ usdt }) => usdt);
    const fill = async (amount: string, reference: string) => {
      await press(cardOf(page, 'Balances'), 'Credit balance');
      await page.getByLabel('Amount, USDT').fill(amount);
      await page.getByLabel('Reference').fill(reference);
    };
    world.announceRefusals(409);
    await fill('250', 'transfer 1');
    await answerDialog(page, 'Credit');
    await cardOf(page, 'Balances').getByText('250.000000').waitFor();
    await fill('250', 'transfer 1');
    await press(page.getByRole('dialog'), 'Credit');
    await page.getByText('This reference has already been credited').waitFor();
    await page.getByLabel('Amount, USDT').fill('300');
    await press(page.getByRole('dialog'), 'Credit');
    await page.getByText('This reference was already used with a different amount').waitFor();
    await press(page.getByRole('dialog'), 'Cancel');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(await credits()).toEqual([250]);

    await fill('5000', 'transfer 2');
    await page.getByText('A second operator must approve').waitFor();
    await answerDialog(page, 'Request approval');
    const request = cardOf(page, 'Credit balance');
    await request.getByText('transfer 2').waitFor();
    expect(await request.getByRole('button', { name: 'Approve' }).getAttribute('aria-disabled')).toBe('true');
    expect(await credits()).toEqual([250]);
    const second = await world.as('finance');
    await second.goto(`/console/partners/${partnerId}`);
    await press(cardOf(second, 'Credit balance'), 'Approve');
    await answerDialog(second, 'Approve');
    await cardOf(second, 'Balances').getByText('5,250.000000').waitFor();
    expect(await credits()).toEqual([250, 5000]);

    const card = cardOf(page, 'Daily statement');
    const today = new Date().toISOString().slice(0, 10);
    await card.getByLabel('Day (UTC)').fill(today);
    await card.getByText('the statement is not final').waitFor();
    const json = await save(card, page, 'Download JSON');
    expect(json.name).toBe(`statement-${partnerId}-live-${today}.json`);
    const { entries, closing, digest } = JSON.parse(json.text);
    expect(entries).toHaveLength(2);
    expect(closing.available_usdt).toBe('5250.000000');
    const csv = await save(card, page, 'Download CSV');
    expect(csv.text.split('\n').filter(line => line.startsWith('entry,'))).toHaveLength(2);
    expect(csv.text).toContain(digest);
  });

  test('the trial balance adds up, verification is audited and shows what is wrong, accounts lead to their entries', async () => {
    const partnerId = await createFundedPartner(pool, 9_123_456n);
    const payment = { partnerId, mode: 'live' as const, paymentId: newPaymentId(), microUsdt: 2_000_000n };
    await hold(pool, systemClock, [payment]);
    await settle(pool, systemClock, [payment]);
    const page = await world.as('finance', { name: 'zoya' });
    await page.goto('/console/ledger');
    const card = cardOf(page, 'Trial balance');
    await card.getByText('Balanced').waitFor();
    const sums = await rowOf(card, 'Total').getByRole('cell').allTextContents();
    expect(sums).toEqual(['Total', '0.000000', '0.000000']);
    await press(page, 'Verify now');
    await page.getByText('Verification passed').waitFor();
    await page.getByText(/^\d+ entries read/).waitFor();
    const { rows } = await pool.query(`SELECT actor FROM audit WHERE action = 'ledger.verify'`);
    expect(rows).toEqual([{ actor: 'operator:zoya' }]);

    await rowOf(page.getByRole('table', { name: 'Accounts' }), '7.123456')
      .getByRole('link')
      .click();
    const entries = page.getByRole('table', { name: 'Entries' });
    await rowOf(entries, 'funding').waitFor();
    const kinds = await entries.getByRole('row').locator('td:nth-child(3)').allTextContents();
    expect(kinds).toEqual(['Settlement', 'Hold', 'Credit']);
    await press(page, 'Test');
    await rowOf(entries, 'Test funds').waitFor();

    // As for a ledger that was manipulated.
    const account = { partner_id: partnerId, mode: 'live' };
    await page.route('**/ledger/verify', async route => {
      const response = await route.fetch();
      const findings = [{ ...account, invariant: 'entries add up to the balances', detail: 'by 1' }];
      await route.fulfill({ response, json: { ...(await response.json()), ok: false, findings } });
    });
    await page.route('**/ledger/trial-balance', async route => {
      const response = await route.fetch();
      const total = { live_usdt: '0.000001', test_usdt: '0.000000' };
      await route.fulfill({ response, json: { ...(await response.json()), total } });
    });
    await moveTo(page, '/console/ledger');
    await press(page, 'Verify now');
    await page.getByText('Verification failed').waitFor();
    const check = page.getByRole('listitem').filter({ hasText: 'Entries add up to the balances' });
    await check.getByText('Failed: 1').waitFor();
    await card.getByText('Not balanced').waitFor();
  });
}
