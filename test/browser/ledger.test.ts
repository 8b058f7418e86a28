import { beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { Id } from '../../src/base/ids.ts';
import { createDatabase, createFundedPartner, newPaymentId } from '../helpers/database.ts';
import { hold, settle } from '../helpers/ledger.ts';
import { cardOf, press, rowOf } from './page-actions.ts';
import { describeInBrowser, openWorld } from './world.ts';

describeInBrowser('the ledger', async browser => {
  const { pool } = await createDatabase();
  const world = await openWorld({ pool }, browser);
  let page: Awaited<ReturnType<typeof world.as>>;
  let partnerId: Id<'prt'>;
  beforeAll(async () => {
    page = await world.as('finance', { name: 'fedor' });
    partnerId = await createFundedPartner(pool, 9_000_000n);
    const payment = {
      partnerId,
      mode: 'live' as const,
      paymentId: newPaymentId(),
      microUsdt: 2_000_000n,
    };
    await hold(pool, systemClock, [payment]);
    await settle(pool, systemClock, [payment]);
    await page.goto('/console/ledger');
  });

  test('the trial balance adds up to zero', async () => {
    const card = cardOf(page, 'Trial balance');
    await card.getByText('Balanced').waitFor();
    await rowOf(card, 'Settled').getByText('2.000000').waitFor();
    expect(await rowOf(card, 'Total').getByRole('cell').allTextContents()).toEqual([
      'Total',
      '0.000000',
      '0.000000',
    ]);
  });

  test('verification finds nothing, and is audited', async () => {
    await press(page, 'Verify now');
    await page.getByText('Verification passed').waitFor();
    await page.getByText('4 entries read').waitFor();
    const { rows } = await pool.query(`SELECT actor FROM audit WHERE action = 'ledger.verify'`);
    expect(rows).toEqual([{ actor: 'operator:fedor' }]);
  });

  test('an account links to its entries, newest first', async () => {
    const accounts = page.getByRole('table', { name: 'Accounts' });
    await rowOf(accounts, '7.000000').getByRole('link').click();
    const entries = page.getByRole('table', { name: 'Entries' });
    await rowOf(entries, 'funding').waitFor();
    const kinds = await entries.getByRole('row').locator('td:nth-child(3)').allTextContents();
    expect(kinds).toEqual(['Settlement', 'Hold', 'Credit']);
    await press(page, 'Test');
    await rowOf(entries, 'Test funds').waitFor();
  });

  test('a manipulated ledger fails the verification, with the place', async () => {
    await pool.query('ALTER TABLE accounts DROP CONSTRAINT accounts_sum_to_zero');
    await pool.query('UPDATE accounts SET available = available + 1 WHERE mode = $1', ['live']);
    await page.goto('/console/ledger');
    await cardOf(page, 'Trial balance').getByText('Not balanced').waitFor();
    await press(page, 'Verify now');
    await page.getByText('Verification failed').waitFor();
    await rowOfCheck('Entries add up to the balances').getByText('Failed: 1').waitFor();
  });

  const rowOfCheck = (text: string) => page.getByRole('listitem').filter({ hasText: text });
});
