import { expect, test } from 'vitest';
import { createFundedPartner } from '../helpers/database.ts';
import { answerDialog, cardOf, keepStale, openByMenu, press, rowOf, save } from './page-actions.ts';
import { moveTo, type World } from './world.ts';

/** Finance credits partners, sets limits and rates, and reads the ledger. */
export function testFinance(world: World) {
  const { pool } = world;

  test('a large credit is made when another operator approves; the statement is saved', async () => {
    const partnerId = await createFundedPartner(pool, 0n);
    const page = await world.as('finance');
    await page.goto(`/console/partners/${partnerId}`);
    const balances = cardOf(page, 'Balances');
    const fill = async (amount: string, reference: string) => {
      await press(balances, 'Credit balance');
      await page.getByLabel('Amount, USDT').fill(amount);
      await page.getByLabel('Reference').fill(reference);
    };
    world.announceRefusals(409);
    await fill('250', 'transfer 1');
    await answerDialog(page, 'Credit');
    await balances.getByText('250.000000').waitFor();
    await fill('250', 'transfer 1');
    await press(page.getByRole('dialog'), 'Credit');
    await page.getByText('This reference has already been credited').waitFor();
    await press(page.getByRole('dialog'), 'Cancel');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });

    await fill('5000', 'transfer 2');
    await page.getByText('A second operator must approve').waitFor();
    await answerDialog(page, 'Request approval');
    const request = cardOf(page, 'Credit balance');
    await request.getByText('transfer 2').waitFor();
    expect(await request.getByRole('button', { name: 'Approve' }).getAttribute('aria-disabled')).toBe('true');
    const second = await world.as('finance');
    await second.goto(`/console/partners/${partnerId}`);
    await press(cardOf(second, 'Credit balance'), 'Approve');
    await answerDialog(second, 'Approve');
    await cardOf(second, 'Balances').getByText('5,250.000000').waitFor();

    const card = cardOf(page, 'Daily statement');
    const today = new Date().toISOString().slice(0, 10);
    await card.getByLabel('Day (UTC)').fill(today);
    await card.getByText('the statement is not final').waitFor();
    const json = await save(card, page, 'Download JSON');
    expect(json.name).toBe(`statement-${partnerId}-live-${today}.json`);
    const csv = await save(card, page, 'Download CSV');
    expect(csv.text).toContain(JSON.parse(json.text).digest);
  });

  test('limits changed by another operator meanwhile: the page shows it, and no change is lost', async () => {
    world.announceRefusals(409);
    const partnerId = await createFundedPartner(pool, 0n);
    const [page, other] = [await world.as('finance'), await world.as('admin')];
    for (const window of [page, other]) {
      await window.goto(`/console/partners/${partnerId}`);
      await press(cardOf(window, 'Limits'), 'Change');
    }
    await other.getByLabel('Concurrent payments').fill('12');
    const release = await keepStale(other, `partners/${partnerId}`);
    await answerDialog(page, 'Change', { 'Maximum amount, ₽': '250 000', 'Concurrent payments': '11' });
    await cardOf(page, 'Limits').getByText('250,000.00').waitFor();
    await press(other.getByRole('dialog'), 'Change');
    await other.getByText('Another operator has changed this in the meantime').waitFor();
    release();
    await other.getByText('Another operator has changed the limits in the meantime').waitFor();
    expect(await other.getByLabel('Concurrent payments').inputValue()).toBe('12');
    await press(other, 'Start over with the current limits');
    expect(await other.getByLabel('Concurrent payments').inputValue()).toBe('11');
    await answerDialog(other, 'Change', { 'Concurrent payments': '12' });
    await cardOf(other, 'Limits').getByText('12', { exact: true }).waitFor();
  });

  test('what-if shows a rate, new rules need a reason, and a held deposit is credited with one', async () => {
    const page = await world.as('finance');
    await page.goto('/console/rates');
    const card = cardOf(page, 'Rate calculator');
    await card.getByLabel('Spread').fill('10');
    await card.getByLabel('Payment amount').fill('9 250');
    await press(card, 'Calculate');
    await rowOf(card, 'Rate').getByText('83.25').waitFor();
    await rowOf(card, 'Debited amount').getByText('111.111112').waitFor();
    await press(cardOf(page, 'Rate rules'), 'Change');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Spread').fill('2.5');
    expect(await dialog.getByRole('button', { name: 'Change' }).isDisabled()).toBe(true);
    await answerDialog(page, 'Change', { Reason: 'A calm market' });
    const history = page.getByRole('table', { name: 'Change history' });
    await rowOf(history, 'A calm market').getByText('2.5%').waitFor();
    // The range of the history is kept in the URL.
    await press(page, '7 days');
    await page.waitForURL('**/*hours=168*');
    await page.reload();
    await page.locator('button[aria-pressed=true]', { hasText: '7 days' }).waitFor();

    await openByMenu(page, 'Deposits');
    const [held, all] = ['Held deposits', 'All deposits'].map(name => page.getByRole('table', { name }));
    const link = all!.getByRole('link', { name: /^0x\w+…/ }).first();
    expect(await link.getAttribute('href')).toMatch(/^https:\/\/etherscan\.io\/tx\/0x\w{64}$/);
    await page.getByLabel('Status').selectOption('Held');
    await page.waitForURL('**/*state=held*');
    await press(page, 'Clear filters');
    await press(held!, 'Credit');
    await answerDialog(page, 'Credit', { Reason: 'The sender is a known exchange' });
    await all!.getByText('The sender is a known exchange').waitFor();
  });

  test('verification says what is wrong, the trial balance whether it adds up, accounts lead to their entries', async () => {
    const page = await world.as('finance');
    let findings: object[] = [];
    await page.route('**/ledger/verify', async route => {
      const response = await route.fetch();
      const json = { ...(await response.json()), ok: findings.length === 0, findings };
      await route.fulfill({ response, json });
    });
    await page.goto('/console/ledger');
    const card = cardOf(page, 'Trial balance');
    await card.getByText('Balanced').waitFor();
    const sums = await rowOf(card, 'Total').getByRole('cell').allTextContents();
    expect(sums).toEqual(['Total', '0.000000', '0.000000']);
    await press(page, 'Verify now');
    await page.getByText('Verification passed').waitFor();
    await page.getByRole('table', { name: 'Accounts' }).getByRole('link').first().click();
    await rowOf(page.getByRole('table', { name: 'Entries' }), /Credit|Test funds/)
      .first()
      .waitFor();

    // As for a ledger that was manipulated.
    findings = [
      { partner_id: 'prt_1', mode: 'live', invariant: 'entries add up to the balances', detail: 'by 1' },
    ];
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
