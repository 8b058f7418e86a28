import { beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../helpers/database.ts';
import { setRate } from '../helpers/partners.ts';
import { answerDialog, cardOf, keepStale, press, rowOf } from './page-actions.ts';
import { describeInBrowser, openWorld } from './world.ts';

describeInBrowser('rates', async browser => {
  const { pool } = await createDatabase();
  const world = await openWorld({ pool }, browser);
  let page: Awaited<ReturnType<typeof world.as>>;
  const spreads = async () =>
    (await pool.query('SELECT spread_bps FROM rate_rules ORDER BY version')).rows.map(row => row.spread_bps);
  beforeAll(async () => {
    await setRate(pool);
    page = await world.as('finance', { name: 'fedor' });
    await page.goto('/console/rates');
  });

  test('what-if: other rules are compared, and nothing changes', async () => {
    const card = cardOf(page, 'Rate calculator');
    await card.getByLabel('Spread').fill('10');
    await card.getByLabel('Payment amount').fill('9 250');
    await press(card, 'Calculate');
    await rowOf(card, 'Rate').getByText('83.25').waitFor();
    await rowOf(card, 'Debited amount').getByText('111.111112').waitFor();
    expect(await spreads()).toEqual([]);
  });

  test('the rules are changed with a reason, which is stored', async () => {
    await press(cardOf(page, 'Rate rules'), 'Change');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Spread').fill('2.5');
    expect(await dialog.getByRole('button', { name: 'Change' }).isDisabled()).toBe(true);
    await answerDialog(page, 'Change', { Reason: 'A calm market' });
    await rowOf(page.getByRole('table', { name: 'Change history' }), 'A calm market')
      .getByText('2.5%')
      .waitFor();
    expect(await spreads()).toEqual([250]);
  });

  test('of two concurrent changes the second is refused, and can be made again', async () => {
    world.announceRefusals(409);
    const other = await world.as('admin', { name: 'anna' });
    for (const window of [page, other]) {
      await window.goto('/console/rates');
      await cardOf(window, 'Rate rules').waitFor();
    }
    // Held back from the first answer on: a poll under way would bring the new rules before the button is pressed.
    const release = await keepStale(other, 'rates?*');
    for (const window of [page, other]) {
      await press(cardOf(window, 'Rate rules'), 'Change');
      const dialog = window.getByRole('dialog');
      await dialog.getByLabel('Spread').fill(window === page ? '3' : '4');
      await dialog.getByLabel('Reason').fill('Because');
    }
    await answerDialog(page, 'Change');
    await press(other.getByRole('dialog'), 'Change');
    await other.getByText('Another operator has changed this in the meantime').waitFor();
    release();
    await other.getByText('Another operator has changed the rules in the meantime').waitFor();
    expect(await spreads()).toEqual([250, 300]);
    await press(other, 'Start over with the current rules');
    await answerDialog(other, 'Change', { Spread: '4' });
    expect(await spreads()).toEqual([250, 300, 400]);
  });

  test('the history has a range, which is kept in the URL', async () => {
    await press(page, '7 days');
    await expect.poll(() => page.url()).toContain('hours=168');
    await page.reload();
    await page.locator('button[aria-pressed=true]', { hasText: '7 days' }).waitFor();
  });
});
