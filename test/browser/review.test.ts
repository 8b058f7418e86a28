import { expect, test } from 'vitest';
import { createDatabase } from '../helpers/database.ts';
import { startSimulator } from '../helpers/simulator.ts';
import { openByMenu } from './page-actions.ts';
import { countEffects, openShop, resolve, startPolling } from './shop.ts';
import { describeInBrowser, findBarriers, openWorld } from './world.ts';

describeInBrowser('the review', async browser => {
  const { pool } = await createDatabase();
  const bank = await startSimulator();
  const world = await openWorld({ pool, gatewayUrl: bank.address }, browser);
  const { deps } = world;
  const shop = await openShop(world);

  test('a payment below the threshold is decided at once, with a reason', async () => {
    const page = await world.as('support', { name: 'vera' });
    const [paid, unpaid] = [await shop.inReview(), await shop.inReview()];
    await page.goto('/console/review');
    await page.getByRole('link', { name: paid.slice(-8) }).click();
    await page.getByRole('button', { name: 'Mark as succeeded' }).click();
    const dialog = page.getByRole('dialog', { name: 'Mark as succeeded' });
    expect(await dialog.getByText('a second operator').count()).toBe(0);
    expect(await dialog.getByRole('button', { name: 'Mark as succeeded' }).isDisabled()).toBe(true);
    expect(await findBarriers(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await resolve(page, 'succeeded', 'the bank says so');
    await page.getByText('Payment resolved').waitFor();
    expect(await countEffects(deps, paid)).toEqual({
      status: 'succeeded',
      entries: ['available to held', 'held to settled'],
      resolutions: 1,
      events: 1,
    });
    await page.getByText('by vera').waitFor();
    await page.getByText('reason: the bank says so').waitFor();

    await openByMenu(page, 'Manual review');
    await page.getByRole('link', { name: unpaid.slice(-8) }).click();
    await resolve(page, 'failed', 'never left the bank');
    await page.getByText('Returned to the balance').waitFor();
    expect(await countEffects(deps, unpaid)).toEqual({
      status: 'failed',
      entries: ['available to held', 'held to available'],
      resolutions: 1,
      events: 1,
    });
    await openByMenu(page, 'Manual review');
    await page.getByText('No payments in manual review').waitFor();
  });

  test('polling now ends a payment whose outcome the bank side has meanwhile', async () => {
    const paying = shop.pay(bank, {}, { on: 'pay', kind: 'answer_lost', times: 1 });
    const page = await world.as('support');
    await page.goto('/console/review');
    const row = page.getByRole('table', { name: 'Manual review' }).getByRole('row').nth(1);
    await row.getByText('Manual review').waitFor();
    await row.getByText('result unknown').waitFor();
    await row.getByRole('button', { name: 'Check status' }).click();
    await page.getByText('Status check requested. The result appears in the timeline.').waitFor();
    startPolling(deps);
    await page.getByText('No payments in manual review').waitFor();
    await paying;
    const { rows } = await pool.query(
      `SELECT count(*)::int AS asked FROM audit WHERE action = 'payment.ask'`,
    );
    expect(rows).toEqual([{ asked: 1 }]);
  });
});
