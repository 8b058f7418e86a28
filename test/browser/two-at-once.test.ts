import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { decidePayment } from '../../src/payments/index.ts';
import { createDatabase } from '../helpers/database.ts';
import { auditContextOf } from '../helpers/partners.ts';
import { countEffects, openShop, resolve } from './shop.ts';
import { describeInBrowser, openWorld } from './world.ts';

const endedMeanwhile =
  'This payment is already completed and can no longer be changed. No changes were made.';

describeInBrowser('two operators', async browser => {
  const { pool } = await createDatabase();
  const world = await openWorld({ pool }, browser);
  const { deps } = world;
  const shop = await openShop(world);

  /** Everything before the last click. */
  async function prepare(page: Page, path: string, outcome: 'succeeded' | 'failed') {
    const name = `Mark as ${outcome}`;
    await page.goto(path);
    await page.getByRole('button', { name }).click();
    const dialog = page.getByRole('dialog', { name });
    await dialog.getByLabel('Reason').fill(`said ${outcome}`);
    return dialog.getByRole('button', { name });
  }

  test('deciding the same payment at once: one takes effect, the other is refused', async () => {
    const paymentId = await shop.inReview();
    const path = `/console/payments/${paymentId}`;
    const pages = [await world.as('support'), await world.as('finance')] as const;
    const buttons = [await prepare(pages[0], path, 'succeeded'), await prepare(pages[1], path, 'failed')];
    world.announceRefusals(409);
    await Promise.all(buttons.map(button => button.click()));

    const isDone = (page: Page) => page.getByText('Done', { exact: true }).count();
    const isRefused = (page: Page) => page.getByRole('alert').getByText(endedMeanwhile).count();
    await expect.poll(async () => (await isDone(pages[0])) + (await isDone(pages[1]))).toBe(1);
    await expect.poll(async () => (await isRefused(pages[0])) + (await isRefused(pages[1]))).toBe(1);
    const first = (await isRefused(pages[1])) ? 0 : 1;
    const status = first === 0 ? 'succeeded' : 'failed';
    expect(await countEffects(deps, paymentId)).toEqual({
      status,
      entries: ['available to held', first === 0 ? 'held to settled' : 'held to available'],
      resolutions: 1,
      events: 1,
    });
    for (const page of pages) await page.getByText(`reason: said ${status}`).waitFor();
  });

  test('approving the same request at once: one takes effect', async () => {
    const paymentId = await shop.inReview(5_000_000n);
    const [requester, ...others] = [
      await world.as('support'),
      await world.as('finance'),
      await world.as('admin'),
    ];
    await requester!.goto(`/console/payments/${paymentId}`);
    await resolve(requester!, 'succeeded', 'the bank says so');
    await requester!.getByText('A second operator must approve it.').waitFor();
    world.announceRefusals(409);
    for (const page of others) {
      await page.goto(`/console/payments/${paymentId}`);
      await page.getByRole('button', { name: 'Approve', exact: true }).click();
    }
    const approve = (page: Page) =>
      page.getByRole('dialog').getByRole('button', { name: 'Approve', exact: true });
    await Promise.all(others.map(page => approve(page).click()));
    const refusals = async () =>
      (
        await Promise.all(others.map(page => page.getByText('Another operator has already decided').count()))
      ).sort();
    await expect.poll(refusals).toEqual([0, 1]);
    expect(await countEffects(deps, paymentId)).toMatchObject({
      status: 'succeeded',
      resolutions: 1,
      events: 1,
    });
  });

  test('an outdated page changes nothing, and then shows the current state', async () => {
    const paymentId = await shop.inReview();
    const page = await world.as('support');
    const button = await prepare(page, `/console/payments/${paymentId}`, 'failed');
    // The page gets no update about the next change.
    await page.route(`**/console/api/payments/${paymentId}`, () => {});
    await decidePayment(auditContextOf(pool), paymentId, {
      outcome: 'succeeded',
      reason: 'at the command line',
    });
    world.announceRefusals(409);
    await button.click();
    await page.getByRole('alert').getByText(endedMeanwhile).waitFor();
    await page.unroute(`**/console/api/payments/${paymentId}`);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.reload();
    await page.getByText('reason: at the command line').waitFor();
    expect(await countEffects(deps, paymentId)).toMatchObject({
      status: 'succeeded',
      resolutions: 1,
      events: 1,
    });
  });
});
