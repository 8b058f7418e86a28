import { expect, test } from 'vitest';
import { createDatabase } from '../helpers/database.ts';
import { countEffects, openShop, resolve } from './shop.ts';
import { describeInBrowser, findBarriers, openWorld } from './world.ts';

const waits = 'Request sent. A second operator must approve it.';
const untouched = { status: 'processing', entries: ['available to held'], resolutions: 0, events: 0 };

describeInBrowser('above the threshold', async browser => {
  const { pool } = await createDatabase();
  const world = await openWorld({ pool }, browser);
  const { deps } = world;
  const shop = await openShop(world);

  test('the requester waits, a second operator approves', async () => {
    const paymentId = await shop.inReview(5_000_000n);
    const vera = await world.as('support', { name: 'vera' });
    await vera.goto(`/console/payments/${paymentId}`);
    await resolve(vera, 'succeeded', 'the bank says so');
    await vera.getByText(waits).waitFor();
    expect(await countEffects(deps, paymentId)).toEqual(untouched);
    const approve = vera.getByRole('button', { name: 'Approve', exact: true });
    expect(await approve.getAttribute('aria-disabled')).toBe('true');
    await approve.hover();
    await vera.getByText('This is your own request: another operator must decide.').waitFor();
    expect(await vera.getByRole('button', { name: 'Mark as failed' }).getAttribute('aria-disabled')).toBe(
      'true',
    );
    expect(await findBarriers(vera)).toEqual([]);

    // In Russian the entry of the menu is long; it must stay on one line beside its badge.
    const olga = await world.as('viewer', { language: 'ru' });
    await olga.goto('/console/requests');
    const entry = olga.getByRole('link', { name: /^Подтверждения/ });
    await entry.getByText('1', { exact: true }).waitFor();
    expect((await entry.boundingBox())!.height).toBeLessThan(40);
    expect(await entry.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);

    const boris = await world.as('finance', { name: 'boris' });
    await boris.goto('/console/requests');
    await boris.getByText('the bank says so').waitFor();
    await boris.getByText('50,000.00').waitFor();
    await boris.getByRole('button', { name: 'Approve', exact: true }).click();
    const dialog = boris.getByRole('dialog');
    expect(await dialog.locator('dd').allTextContents()).toEqual([
      'Test shop',
      '50,000.00 ₽ · 11.000000 USDT',
      '989.000000 (does not change)',
      '11.000000 →to 0.000000',
    ]);
    expect(await findBarriers(boris)).toEqual([]);
    await dialog.getByRole('button', { name: 'Approve', exact: true }).click();
    await boris.getByText('No pending requests').waitFor();
    expect(await countEffects(deps, paymentId)).toEqual({
      status: 'succeeded',
      entries: ['available to held', 'held to settled'],
      resolutions: 1,
      events: 1,
    });
    await boris.getByRole('button', { name: 'Approved' }).click();
    await boris.getByText('boris', { exact: false }).last().waitFor();
    // The requester's page updates by itself.
    await vera.getByText('Debited', { exact: true }).last().waitFor();
    await vera.getByText('by boris').first().waitFor();
  });

  test('a second operator may refuse, and the requester may withdraw', async () => {
    const paymentId = await shop.inReview(5_000_000n);
    const [vera, boris] = [await world.as('support'), await world.as('finance')];
    await vera.goto(`/console/payments/${paymentId}`);
    await resolve(vera, 'failed', 'a first guess');
    await vera.getByText(waits).waitFor();

    await boris.goto(`/console/payments/${paymentId}`);
    expect(await boris.getByRole('button', { name: 'Withdraw' }).count()).toBe(0);
    await boris.getByRole('button', { name: 'Reject' }).click();
    await boris.getByRole('dialog').getByRole('button', { name: 'Reject' }).click();
    await boris.getByText('Request rejected', { exact: true }).waitFor();
    expect(await countEffects(deps, paymentId)).toEqual(untouched);

    await vera.getByRole('button', { name: 'Withdraw' }).waitFor({ state: 'hidden' });
    await resolve(vera, 'failed', 'a second guess');
    await vera.getByRole('button', { name: 'Withdraw' }).click();
    await vera.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click();
    await vera.getByText('Request withdrawn', { exact: true }).waitFor();
    expect(await vera.getByRole('button', { name: 'Approve', exact: true }).count()).toBe(0);
    expect(await countEffects(deps, paymentId)).toEqual(untouched);
    const { rows } = await pool.query('SELECT action FROM audit WHERE subject = $1 ORDER BY id', [paymentId]);
    expect(rows.map(({ action }) => action)).toEqual([
      'request.ask',
      'request.refuse',
      'request.ask',
      'request.withdraw',
    ]);
  });
});
