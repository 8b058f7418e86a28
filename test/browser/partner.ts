import { expect, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { signUp } from '../../src/partners/index.ts';
import { createVault, setWebhook } from '../../src/webhooks/index.ts';
import { keyring, newLink, partnerAt } from '../helpers/api.ts';
import { auditContextOf } from '../helpers/database.ts';
import { startReceiver, withStatus } from '../helpers/webhook-receiver.ts';
import { answerDialog, cardOf, keepStale, openByMenu, press, rowOf } from './page-actions.ts';
import { openShop } from './shop.ts';
import { findBarriers, moveTo, takePicture, type World } from './world.ts';

/** Operators look after a partner: its access, its endpoints and what was sent to them. */
export function testPartner(world: World) {
  const { pool } = world;
  const audit = auditContextOf(pool);

  test('a partner is created, found, approved, suspended and resumed', async () => {
    const page = await world.as('admin', { name: 'anna' });
    await page.goto('/console/partners');
    await press(page, 'New partner');
    await answerDialog(page, 'Create', { Name: 'Цветы у дома' });
    await page.getByRole('heading', { name: 'Цветы у дома' }).waitFor();
    await openByMenu(page, 'Partners');
    const table = page.getByRole('table', { name: 'Partners' });
    await rowOf(table, 'Test shop').first().waitFor();
    await page.getByLabel('Search partners').fill('у дома');
    await rowOf(table, 'Test shop').first().waitFor({ state: 'hidden' });
    await table.getByRole('link', { name: 'Цветы у дома' }).click();
    await page.getByRole('heading', { name: 'Цветы у дома' }).waitFor();

    const signed = await signUp(audit, { userId: 77n, name: 'Olga' }, '<img src=x onerror=alert(1)>');
    if (signed.outcome !== 'signed_up') throw new Error(signed.outcome);
    await moveTo(page, `/console/partners/${signed.partner.partnerId}`);
    await page.getByRole('heading', { name: '<img src=x onerror=alert(1)>' }).waitFor();
    await page.getByText('Live mode requested').waitFor();
    await press(page, 'Reject live mode');
    await answerDialog(page, 'Reject live mode');
    await page.getByText('Test mode only').waitFor();
    await press(page, 'Approve live mode');
    await answerDialog(page, 'Approve live mode');
    await page.getByText('Live mode approved').waitFor();
    expect(await page.getByRole('button', { name: 'Approve live mode' }).count()).toBe(0);

    const { partnerId, testKey } = await openShop(world, 'Shop to stop');
    const partner = partnerAt(world.address, testKey);
    const pay = async () => (await partner.pay({ qr_url: 'none' })).json.error?.code;
    await moveTo(page, `/console/partners/${partnerId}`);
    await press(page, 'Suspend');
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('button', { name: 'Suspend' }).isDisabled()).toBe(true);
    await answerDialog(page, 'Suspend', { Reason: 'Asked for by the partner' });
    await page.getByText('Suspended').waitFor();
    await expect.poll(pay).toBe('partner_suspended');
    await press(page, 'Resume');
    await answerDialog(page, 'Resume');
    await page.getByText('Active').waitFor();
    await expect.poll(pay).not.toBe('partner_suspended');
  });

  test('limits changed by another operator meanwhile: the page shows it, and no change is lost', async () => {
    world.announceRefusals(409);
    const { partnerId } = await openShop(world, 'Limited shop');
    const concurrent = async () =>
      (await pool.query('SELECT concurrent FROM partners WHERE id = $1', [uuidFromId(partnerId)])).rows[0]
        .concurrent;
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
    expect(await concurrent()).toBe(11);
    await press(other, 'Start over with the current limits');
    await answerDialog(other, 'Change', { 'Concurrent payments': '12' });
    await expect.poll(concurrent).toBe(12);
  });

  test('a key is limited to addresses and revoked; neither key nor hash is ever in the page', async () => {
    const { partnerId, testKey, liveKey } = await openShop(world, 'Shop with keys');
    const ping = async () => (await partnerAt(world.address, testKey).get('/v1/ping')).status;
    const page = await world.as('support');
    await page.goto(`/console/partners/${partnerId}/keys`);
    const row = rowOf(page.getByRole('table', { name: 'API keys' }), 'test');
    world.announceRefusals(400);
    await press(row, 'Change addresses');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Allowed IP addresses').fill('somewhere');
    await press(dialog, 'Allow this address');
    await dialog.getByRole('alert').waitFor();
    expect(await dialog.getByLabel('Allowed IP addresses').inputValue()).toBe('somewhere');
    await answerDialog(page, 'Allow 2 addresses', { 'Allowed IP addresses': '192.0.2.0/24\n2001:db8::/32' });
    await row.getByText('192.0.2.0/24').waitFor();
    await expect.poll(ping).toBe(403);

    const seen = await page.content();
    const { rows } = await pool.query('SELECT id, hash FROM api_keys WHERE partner_id = $1', [
      uuidFromId(partnerId),
    ]);
    expect(seen).toContain(rows[0].id);
    for (const { hash } of rows)
      for (const form of ['hex', 'base64', 'base64url'] as const)
        expect(seen).not.toContain((hash as Buffer).toString(form));
    for (const key of [testKey, liveKey]) expect(seen).not.toContain(key.slice(-32));

    await press(row, 'Revoke');
    await answerDialog(page, 'Revoke');
    await row.getByText('Revoked').first().waitFor();
    expect(await row.getByRole('button').count()).toBe(0);
    await expect.poll(ping).toBe(401);
  });

  test('endpoints are checked, added, changed and removed', async () => {
    const { partnerId } = await openShop(world, 'Shop with endpoints');
    const receiver = await startReceiver();
    await setWebhook(audit, createVault(keyring), partnerId, receiver.url);
    const page = await world.as('support');
    await page.goto(`/console/partners/${partnerId}/webhook`);
    const first = cardOf(page, 'Webhook');
    await first.getByText(receiver.url).waitFor();
    await first.getByText('Active').waitFor();
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
    await press(card, 'Sign with Ed25519');
    await answerDialog(page, 'Save', { Reason });
    await card.getByText('Stop signing with Ed25519').waitFor();
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
      `INSERT INTO webhook_attempts (partner_id, event_id, attempt, at, status, error, duration_ms)
       VALUES ($1, $2, 1, now(), 200, NULL, 31), ($1, $3, 1, now(), NULL, 'refused', 31)`,
      [...own, ...rows.map(({ id }) => id)],
    );
    await pool.query('DELETE FROM deliveries WHERE event_id = $1', [rows[0].id]);
    await pool.query('UPDATE deliveries SET failed_at = now(), attempts = 9 WHERE event_id = $1', [
      rows[1].id,
    ]);
    await pool.query('UPDATE webhooks SET suspended_at = now() WHERE partner_id = $1', own);

    const page = await world.as('support', { name: 'lena' });
    const table = page.getByRole('table', { name: 'Webhook deliveries' });
    const shown = async () =>
      (await table.locator('tbody td:first-child code').allTextContents()).filter(text =>
        text.startsWith('evt_'),
      );
    await page.goto('/console/');
    await openByMenu(page, 'Webhook deliveries');
    const field = page.getByRole('combobox', { name: 'Partner' });
    await field.fill('with deliveries');
    const option = page.locator('datalist option');
    await expect.poll(() => option.count()).toBe(1);
    await field.fill((await option.first().getAttribute('value'))!);
    await expect.poll(shown).toEqual([failed, delivered]);
    expect(page.url()).toContain(`partner_id=${partnerId}`);
    await rowOf(table, delivered).getByText('Delivered').waitFor();
    const row = rowOf(table, failed);
    await row.getByText('Failed permanently').waitFor();
    await row.getByText('connection refused').waitFor();
    expect(await row.getByText('Suspended').getAttribute('class')).toContain('badge-bad');
    await page.getByLabel('Event').selectOption('Payment failed');
    await expect.poll(shown).toEqual([failed]);
    await page.reload();
    await expect.poll(shown).toEqual([failed]);

    await table.getByRole('link', { name: failed }).click();
    await page.getByRole('heading', { name: 'Delivery', exact: true }).waitFor();
    const attempts = page.getByRole('table', { name: 'Attempts' });
    await rowOf(attempts, 'connection refused').getByText('31 ms').waitFor();
    await page.getByText(`"id":"${failed}"`).waitFor();
    await page.getByText('x-service-signature: (made for each attempt, not stored)').waitFor();
    await page.getByText('Suspended: no events are sent until a check of the endpoint succeeds.').waitFor();
    expect(await page.getByText('https://shop.example/hook').getAttribute('class')).toContain('bad-text');

    await moveTo(page, `/console/deliveries?partner_id=${partnerId}`);
    await press(page, 'Select all shown');
    await page.getByText('Selected: 2').waitFor();
    await press(page, 'Resend: 2');
    const dialog = page.getByRole('dialog', { name: 'Resend' });
    expect(await findBarriers(page)).toEqual([]);
    await press(dialog, 'Resend: 2');
    await dialog.getByText('Queued 2 of 2').waitFor();
    await press(dialog, 'Done');
    for (const event of [delivered, failed]) await rowOf(table, event).getByText('Pending').waitFor();
    const resent = await pool.query(
      `SELECT after FROM audit WHERE action = 'webhook.resend' AND actor = 'operator:lena' ORDER BY id`,
    );
    expect(resent.rows.map(({ after }) => after.event_id).sort()).toEqual([delivered, failed].sort());

    world.announceRefusals(409);
    await press(page, 'Select all shown');
    await pool.query('DELETE FROM webhooks WHERE partner_id = $1', own);
    await press(page, 'Resend: 2');
    await press(dialog, 'Resend: 2');
    await dialog.getByText('Not queued: 2. The partner has no webhook.').waitFor();
  });
}
