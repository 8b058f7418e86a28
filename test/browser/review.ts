import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { decidePayment } from '../../src/payments/index.ts';
import { auditContextOf } from '../helpers/partners.ts';
import { openByMenu, press } from './page-actions.ts';
import { countEffects, openShop, resolve } from './shop.ts';
import { findBarriers, type World } from './world.ts';

const waits = 'Request sent. A second operator must approve it.';
const untouched = { status: 'processing', entries: ['available to held'], resolutions: 0, events: 0 };
const succeeded = {
  status: 'succeeded',
  entries: ['available to held', 'held to settled'],
  resolutions: 1,
  events: 1,
};
const failed = { ...succeeded, status: 'failed', entries: ['available to held', 'held to available'] };
const endedMeanwhile =
  'This payment is already completed and can no longer be changed. No changes were made.';

/** Operators decide payments whose outcome the bank side does not give. */
export async function testReview(world: World) {
  const { deps, pool } = world;
  const shop = await openShop(world);

  test('a payment below the threshold is decided at once, with a reason, and by one request', async () => {
    const page = await world.as('support', { name: 'vera' });
    const [paid, unpaid] = [await shop.inReview(), await shop.inReview()];
    let sent = 0;
    page.on('request', request => {
      if (request.url().endsWith('/resolve')) sent += 1;
    });
    await page.goto('/console/review');
    await page.getByRole('link', { name: paid.slice(-8) }).click();
    await press(page, 'Mark as succeeded');
    const dialog = page.getByRole('dialog', { name: 'Mark as succeeded' });
    expect(await dialog.getByText('a second operator').count()).toBe(0);
    const confirm = dialog.getByRole('button', { name: 'Mark as succeeded' });
    expect(await confirm.isDisabled()).toBe(true);
    expect(await findBarriers(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await press(page, 'Mark as succeeded');
    await dialog.getByLabel('Reason').fill('the bank says so');
    await confirm.dblclick();
    await page.getByText('Payment resolved').waitFor();
    await page.getByText('by vera').waitFor();
    await page.getByText('reason: the bank says so').waitFor();
    expect(await countEffects(deps, paid)).toEqual(succeeded);
    expect(sent).toBe(1);

    // The answer is lost: the page does not know, says so, and does not send it again.
    await openByMenu(page, 'Manual review');
    await page.getByRole('link', { name: unpaid.slice(-8) }).click();
    world.announce(/net::ERR/);
    await page.route('**/resolve', async route => {
      await route.fetch();
      await route.abort('connectionreset');
    });
    await resolve(page, 'failed', 'never left the bank');
    await page
      .getByRole('alert')
      .getByText('The action may have been completed: check the current state')
      .waitFor();
    await press(page, 'Cancel');
    await page.getByText('Returned to the balance').waitFor();
    expect(await countEffects(deps, unpaid)).toEqual(failed);
    expect(sent).toBe(2);
    await openByMenu(page, 'Manual review');
    for (const paymentId of [paid, unpaid])
      await page.getByRole('link', { name: paymentId.slice(-8) }).waitFor({ state: 'hidden' });
  });

  test('above the threshold another operator refuses, the requester withdraws, one of two approvals counts', async () => {
    const paymentId = await shop.inReview(5_000_000n);
    const path = `/console/payments/${paymentId}`;
    const vera = await world.as('support', { name: 'galina' });
    await vera.goto(path);
    await resolve(vera, 'failed', 'a first guess');
    await vera.getByText(waits).waitFor();
    const approve = vera.getByRole('button', { name: 'Approve', exact: true });
    expect(await approve.getAttribute('aria-disabled')).toBe('true');
    await approve.hover();
    await vera.getByText('This is your own request: another operator must decide.').waitFor();
    const other = vera.getByRole('button', { name: 'Mark as failed' });
    expect(await other.getAttribute('aria-disabled')).toBe('true');
    expect(await findBarriers(vera)).toEqual([]);

    const boris = await world.as('finance', { name: 'boris' });
    await boris.goto(path);
    expect(await boris.getByRole('button', { name: 'Withdraw' }).count()).toBe(0);
    await press(boris, 'Reject');
    await press(boris.getByRole('dialog'), 'Reject');
    await boris.getByText('Request rejected', { exact: true }).waitFor();

    await vera.reload();
    await resolve(vera, 'failed', 'a second guess');
    await press(vera, 'Withdraw');
    await press(vera.getByRole('dialog'), 'Withdraw');
    await vera.getByText('Request withdrawn', { exact: true }).waitFor();
    expect(await approve.count()).toBe(0);
    expect(await countEffects(deps, paymentId)).toEqual(untouched);

    await resolve(vera, 'succeeded', 'the bank says so');
    await vera.getByText(waits).last().waitFor();
    // In Russian the entry of the menu is long; it must stay on one line beside its badge.
    const olga = await world.as('admin', { language: 'ru', name: 'olga' });
    await olga.goto('/console/requests');
    const entry = olga.getByRole('link', { name: /^Подтверждения/ });
    await entry.getByText(/^\d+$/).waitFor();
    expect((await entry.boundingBox())!.height).toBeLessThan(40);
    expect(await entry.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    await olga.goto(path);
    await press(olga, 'Подтвердить');

    await boris.goto('/console/requests');
    await boris.getByText('the bank says so').waitFor();
    await boris.getByText('50,000.00').waitFor();
    await press(boris, 'Approve');
    const dialog = boris.getByRole('dialog');
    const [name, amount, available, held] = await dialog.locator('dd').allTextContents();
    expect([name, amount]).toEqual(['Test shop', '50,000.00 ₽ · 11.000000 USDT']);
    expect(available).toMatch(/^\d+\.000000 \(does not change\)$/);
    expect(held).toMatch(/^11\.000000 →to 0\.000000$/);
    expect(await findBarriers(boris)).toEqual([]);
    world.announceRefusals(409);
    await Promise.all([press(dialog, 'Approve'), press(olga.getByRole('dialog'), 'Подтвердить')]);
    const refusal = (page: Page) => page.getByText(/already decided|уже принял/).count();
    await expect.poll(async () => (await refusal(boris)) + (await refusal(olga))).toBe(1);
    expect(await countEffects(deps, paymentId)).toEqual(succeeded);
    // The requester's page updates by itself.
    await vera.getByText('Debited', { exact: true }).last().waitFor();
    await vera
      .getByText(/^by (boris|olga)/)
      .first()
      .waitFor();
    await boris.goto('/console/requests');
    await press(boris, 'Approved');
    await boris.getByText('the bank says so').first().waitFor();
    const { rows } = await pool.query('SELECT action FROM audit WHERE subject = $1 ORDER BY id', [paymentId]);
    const asked = ['request.ask', 'request.refuse', 'request.ask', 'request.withdraw', 'request.ask'];
    expect(rows.map(({ action }) => action).slice(0, 5)).toEqual(asked);
  });

  test('an outdated page changes nothing, and then shows the current state', async () => {
    const paymentId = await shop.inReview();
    const page = await world.as('support');
    await page.goto(`/console/payments/${paymentId}`);
    await press(page, 'Mark as failed');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('never left the bank');
    // The page gets no update about the next change.
    await page.route(`**/console/api/payments/${paymentId}`, () => {});
    const decision = { outcome: 'succeeded', reason: 'at the command line' } as const;
    await decidePayment(auditContextOf(pool), paymentId, decision);
    world.announceRefusals(409);
    await press(dialog, 'Mark as failed');
    await page.getByRole('alert').getByText(endedMeanwhile).waitFor();
    await page.unroute(`**/console/api/payments/${paymentId}`);
    await press(page, 'Cancel');
    await page.reload();
    await page.getByText('reason: at the command line').waitFor();
    expect(await countEffects(deps, paymentId)).toMatchObject({ status: 'succeeded', resolutions: 1 });
  });
}
