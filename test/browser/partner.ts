import { expect, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { signUp } from '../../src/partners/index.ts';
import { createVault, setWebhook } from '../../src/webhooks/index.ts';
import { keyring, newLink, partnerAt } from '../helpers/api.ts';
import { auditContextOf } from '../helpers/database.ts';
import { startReceiver, withStatus } from '../helpers/webhook-receiver.ts';
import { answerDialog, cardOf, choosePartner, openByMenu, press, rowOf } from './page-actions.ts';
import { openShop } from './sample-data.ts';
import { findBarriers, moveTo, takePicture, type World } from './world.ts';

/** Operators look after a partner: its access, its endpoints and what was sent to them. */
export function testPartner(world: World) {
  const { pool, sql } = world;
  const audit = auditContextOf(pool);

  test('a partner is created, found, approved, suspended and resumed', async () => {
    const page = await world.as('admin');
    await page.goto('/console/partners');
    await press(page, 'New partner');
    await answerDialog(page, 'Create', { Name: 'Кофейня у моста' });
    await page.getByRole('heading', { name: 'Кофейня у моста' }).waitFor();
    await openByMenu(page, 'Partners');
    const table = page.getByRole('table', { name: 'Partners' });
    await rowOf(table, 'Цветы у дома').waitFor();
    await page.getByLabel('Search partners').fill('у моста');
    await rowOf(table, 'Цветы у дома').waitFor({ state: 'hidden' });
    await table.getByRole('link', { name: 'Кофейня у моста' }).click();
    await page.getByRole('heading', { name: 'Кофейня у моста' }).waitFor();

    const signed = await signUp(audit, { userId: 78n, name: 'Olga' }, '<img src=x onerror=alert(1)>');
    if (signed.outcome !== 'signed_up') throw new Error(signed.outcome);
    await moveTo(page, `/console/partners/${signed.partner.partnerId}`);
    await page.getByRole('heading', { name: '<img src=x onerror=alert(1)>' }).waitFor();
    await page.getByText('Live mode requested').waitFor();
    for (const [verb, shown] of [
      ['Reject live mode', 'Test mode only'],
      ['Approve live mode', 'Live mode approved'],
    ] as const) {
      await press(page, verb);
      await answerDialog(page, verb);
      await page.getByText(shown).waitFor();
    }
    expect(await page.getByRole('button', { name: 'Approve live mode' }).count()).toBe(0);

    await press(page, 'Suspend');
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('button', { name: 'Suspend' }).isDisabled()).toBe(true);
    await answerDialog(page, 'Suspend', { Reason: 'Asked for by the partner' });
    await page.getByText('Suspended').waitFor();
    await press(page, 'Resume');
    await answerDialog(page, 'Resume');
    await page.getByText('Active').waitFor();
  });

  test('endpoints are checked, added, changed and removed', async () => {
    const { partnerId } = await openShop(world, 'Shop with endpoints');
    const receiver = await startReceiver();
    await setWebhook(audit, createVault(keyring), partnerId, receiver.url);
    const page = await world.as('support');
    await page.goto(`/console/partners/${partnerId}/webhook`);
    const first = cardOf(page, 'Webhook');
    await first.getByText(receiver.url).waitFor();
    await press(first, 'Check endpoint');
    await page.getByText('it would accept forged events').waitFor();
    const results = page.getByRole('table', { name: 'Endpoint check' });
    await rowOf(results, 'Invalid signature').getByText('✕').waitFor();
    receiver.answer(withStatus(500));
    await press(first, 'Check endpoint');
    await page.getByText('The endpoint does not accept valid events.').waitFor();

    const Reason = 'The partner has asked for it';
    await press(page, 'Add endpoint');
    await page.getByRole('dialog').getByLabel('payment.refunded').uncheck();
    await answerDialog(page, 'Add endpoint', { URL: 'https://127.0.0.1:1/books', Reason });
    const card = cardOf(page, 'Endpoint, live');
    await card.getByText('https://127.0.0.1:1/books').waitFor();
    await press(card, 'Change URL');
    await answerDialog(page, 'Save', { URL: 'https://127.0.0.1:1/moved', Reason });
    await card.getByText('https://127.0.0.1:1/moved').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await takePicture(page, 'endpoints');
    await press(card, 'Remove');
    await answerDialog(page, 'Remove', { Reason });
    await card.waitFor({ state: 'hidden' });
  });

  test('deliveries are filtered, shown with request and attempts, and sent again', async () => {
    const { partnerId, testKey } = await openShop(world, 'Shop with deliveries');
    await setWebhook(audit, createVault(keyring), partnerId, 'https://shop.example/hook');
    for (const kopecks of [10_000, 10_001])
      await partnerAt(world.address, testKey).pay({ qr_url: newLink(kopecks) });
    const own = [uuidFromId(partnerId)];
    const { rows } = await pool.query('SELECT id FROM events WHERE partner_id = $1 ORDER BY id', own);
    const [delivered, failed] = rows.map(({ id }) => `evt_${id}`) as [string, string];
    await pool.query(
      `INSERT INTO webhook_attempts (endpoint_id, partner_id, event_id, attempt, at, status, error, duration_ms)
       VALUES ($1, $1, $2, 1, now(), 200, NULL, 31), ($1, $1, $3, 1, now(), NULL, 'refused', 31)`,
      [...own, ...rows.map(({ id }) => id)],
    );
    await pool.query('DELETE FROM deliveries WHERE event_id = $1', [rows[0].id]);
    await sql`UPDATE deliveries SET failed_at = now(), attempts = 9 WHERE event_id = ${rows[1].id}`;
    await pool.query('UPDATE endpoints SET suspended_at = now() WHERE endpoint_id = $1', own);

    const page = await world.as('support');
    const table = page.getByRole('table', { name: 'Webhook deliveries' });
    await page.goto('/console/deliveries');
    await choosePartner(page, 'with deliveries');
    await page.waitForURL(`**/*partner_id=${partnerId}*`);
    await rowOf(table, delivered).getByText('Delivered').waitFor();
    const row = rowOf(table, failed);
    await row.getByText('Failed permanently').waitFor();
    await row.getByText('connection refused').waitFor();
    expect(await row.getByText('Suspended').getAttribute('class')).toContain('badge-bad');
    await page.getByLabel('Event').selectOption('Payment failed');
    await rowOf(table, delivered).waitFor({ state: 'hidden' });
    await page.reload();
    await table.getByRole('link', { name: failed }).click();
    await page.getByRole('heading', { name: 'Delivery', exact: true }).waitFor();
    const attempts = page.getByRole('table', { name: 'Attempts' });
    await rowOf(attempts, 'connection refused').getByText('31 ms').waitFor();
    await page.getByText(`"id": "${failed}"`).waitFor();
    await page.getByText('x-service-signature: (made for each attempt, not stored)').waitFor();
    await page.getByText('Suspended: no events are sent until a check of the endpoint succeeds.').waitFor();
    expect(await page.getByText('https://shop.example/hook').getAttribute('class')).toContain('bad-text');

    await moveTo(page, `/console/deliveries?partner_id=${partnerId}`);
    for (const event of [delivered, failed]) await page.getByLabel(`Select ${event}`).check();
    await page.getByText('Selected: 2').waitFor();
    await press(page, 'Resend: 2');
    await press(page.getByRole('dialog', { name: 'Resend' }), 'Resend: 2');
    await page.getByText('Queued 2 of 2').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await press(page, 'Done');
    for (const event of [delivered, failed]) await rowOf(table, event).getByText('Pending').waitFor();

    await sql`UPDATE deliveries SET failed_at = now(), attempts = 9 WHERE event_id = ${rows[1].id}`;
    await press(page, 'Resend all failed');
    await press(page.getByRole('dialog', { name: 'Resend all failed' }), 'Resend: 1');
    await page.getByText('Queued 1 of 1').waitFor();
    await press(page, 'Done');
  });
}
