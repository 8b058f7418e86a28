import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createDatabase } from '../helpers/database.ts';
import { enrolOperator } from '../helpers/operators.ts';
import { countEffects, openShop, resolve } from './shop.ts';
import { describeInBrowser, openWorld } from './world.ts';

describeInBrowser('interruptions', async browser => {
  const { pool } = await createDatabase();
  let laterMs = 0;
  const clock = { ...systemClock, nowMs: () => Date.now() + laterMs };
  const world = await openWorld({ pool, clock }, browser);
  const { deps } = world;
  const shop = await openShop(world);
  const api = '**/console/api/**';
  const lost = 'Connection lost. Reconnecting…';

  test('a session that ends in the middle of a form: nothing is changed, and signing in returns to the page', async () => {
    const { name, password, code } = await enrolOperator(pool, clock, 'vera', 'support');
    laterMs += 30_000;
    const paymentId = await shop.inReview();
    const page = await world.visit();
    await page.goto(`/console/payments/${paymentId}`);
    const signIn = async () => {
      await page.getByLabel('Name').fill(name);
      await page.getByLabel('Password').fill(password);
      await page.getByLabel('Code').fill(code());
      await page.getByRole('button', { name: 'Sign in' }).click();
    };
    await signIn();
    await page.getByRole('button', { name: 'Mark as failed' }).click();
    await page.getByLabel('Reason').fill('never left the bank');
    world.announceRefusals(401);
    laterMs += 31 * 60_000;
    await page.getByText('Your session has ended. Sign in to continue where you left off.').waitFor();
    expect(await countEffects(deps, paymentId)).toMatchObject({ status: 'processing', resolutions: 0 });

    await signIn();
    await resolve(page, 'failed', 'never left the bank');
    await page.getByText('Returned to the balance').waitFor();
    expect(page.url()).toContain(paymentId);
    expect(await countEffects(deps, paymentId)).toMatchObject({ status: 'failed', resolutions: 1 });
  });

  test('a lost connection is shown until it is back', async () => {
    const page = await world.as('viewer');
    await page.goto('/console/review');
    await page.getByRole('heading', { name: 'Manual review' }).waitFor();
    world.announce(/net::ERR/);
    await page.route(api, route => route.abort('connectionrefused'));
    await page.getByText(lost).waitFor();
    const paymentId = await shop.inReview();
    await page.unroute(api);
    await page.getByText(lost).waitFor({ state: 'hidden' });
    await page.getByRole('link', { name: paymentId.slice(-8) }).waitFor();
  });

  test('a change whose answer is lost is not sent twice by the page', async () => {
    const paymentId = await shop.inReview();
    const page = await world.as('support');
    await page.goto(`/console/payments/${paymentId}`);
    world.announce(/net::ERR/);
    let sent = 0;
    await page.route('**/resolve', async route => {
      sent += 1;
      await route.fetch();
      await route.abort('connectionreset');
    });
    await resolve(page, 'succeeded', 'the bank says so');
    await page
      .getByRole('alert')
      .getByText('The action may have been completed: check the current state')
      .waitFor();
    // Behind the dialog the page has already updated.
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('reason: the bank says so').waitFor();
    await page.getByText(lost).waitFor({ state: 'hidden' });
    expect(sent).toBe(1);
    expect(await countEffects(deps, paymentId)).toMatchObject({
      status: 'succeeded',
      resolutions: 1,
      events: 1,
    });
  });
});
