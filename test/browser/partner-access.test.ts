import { beforeAll, expect, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { createVault, setWebhook } from '../../src/webhooks/index.ts';
import { keyring, newLink, partnerAt, setRate } from '../helpers/api.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';
import { createPartnerWithKeys } from '../helpers/partners.ts';
import { type Receiver, startReceiver, withStatus } from '../helpers/webhook-receiver.ts';
import { answerDialog, cardOf, press, rowOf } from './page-actions.ts';
import { describeInBrowser, openWorld } from './world.ts';

describeInBrowser('keys and webhook of a partner', async browser => {
  const { pool } = await createDatabase();
  const world = await openWorld({ pool }, browser);
  let page: Awaited<ReturnType<typeof world.as>>;
  let customer: Awaited<ReturnType<typeof createPartnerWithKeys>>;
  let receiver: Receiver;
  beforeAll(async () => {
    await setRate(pool);
    page = await world.as('support');
    customer = await createPartnerWithKeys(pool);
    receiver = await startReceiver();
    await setWebhook(auditContextOf(pool), createVault(keyring), customer.partnerId, receiver.url);
    await partnerAt(world.address, customer.testKey).pay({ qr_url: newLink(10_000) });
  });

  test('a key is limited to addresses and revoked; neither key nor hash is ever in the page', async () => {
    const partner = partnerAt(world.address, customer.testKey);
    const ping = async () => (await partner.get('/v1/ping')).status;
    await page.goto(`/console/partners/${customer.partnerId}/keys`);
    const row = rowOf(page.getByRole('table', { name: 'API keys' }), 'test');
    await press(row, 'Change addresses');
    await answerDialog(page, 'Allow 2 addresses', { 'Allowed IP addresses': '192.0.2.0/24\n2001:db8::/32' });
    await row.getByText('192.0.2.0/24').waitFor();
    await expect.poll(ping).toBe(403);

    const seen = await page.content();
    const { rows } = await pool.query('SELECT * FROM api_keys');
    expect(seen).toContain(rows[0].id);
    for (const { hash } of rows)
      for (const form of ['hex', 'base64', 'base64url'] as const)
        expect(seen).not.toContain((hash as Buffer).toString(form));
    for (const key of [customer.testKey, customer.liveKey]) expect(seen).not.toContain(key.slice(-32));

    await press(row, 'Revoke');
    await answerDialog(page, 'Revoke');
    await row.getByText('Revoked').first().waitFor();
    expect(await row.getByRole('button').count()).toBe(0);
    await expect.poll(ping).toBe(401);
  });

  test('invalid addresses are refused, and the input stays', async () => {
    world.announceRefusals(400);
    await page.goto(`/console/partners/${customer.partnerId}/keys`);
    await press(page, 'Change addresses');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Allowed IP addresses').fill('somewhere');
    await press(dialog, 'Allow this address');
    await dialog.getByRole('alert').waitFor();
    expect(await dialog.getByLabel('Allowed IP addresses').inputValue()).toBe('somewhere');
    await press(dialog, 'Cancel');
  });

  test('a receiver that accepts everything and one that is unreachable give different results', async () => {
    await page.goto(`/console/partners/${customer.partnerId}/webhook`);
    const card = cardOf(page, 'Webhook');
    await card.getByText(receiver.url).waitFor();
    await card.getByText('Active').waitFor();
    await press(card, 'Check endpoint');
    await page.getByText('it would accept forged events').waitFor();
    const results = page.getByRole('table', { name: 'Endpoint check' });
    await rowOf(results, 'Invalid signature').getByText('✕').waitFor();
    receiver.answer(withStatus(500));
    await press(card, 'Check endpoint');
    await page.getByText('The endpoint does not accept valid events.').waitFor();
  });

  test('an event that was not delivered is in the log and can be sent again', async () => {
    const waiting = () => pool.query('SELECT event_id FROM deliveries');
    const [event] = (await pool.query('SELECT id, payment_id FROM events')).rows;
    await pool.query(
      `INSERT INTO webhook_attempts (partner_id, event_id, attempt, at, status, duration_ms)
       VALUES ($1, $2, 1, now(), 503, 7)`,
      [uuidFromId(customer.partnerId), event.id],
    );
    await pool.query('DELETE FROM deliveries');
    await page.goto(`/console/partners/${customer.partnerId}/webhook`);
    const row = rowOf(page.getByRole('table', { name: 'Delivery attempts' }), `evt_${event.id}`);
    await row.getByText('503').waitFor();
    await press(row, 'Resend');
    await page.getByText('The event is being resent.').waitFor();
    expect((await waiting()).rows).toEqual([{ event_id: event.id }]);
  });
});
