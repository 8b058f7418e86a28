import { beforeAll, expect, test } from 'vitest';
import { createVault, setWebhook } from '../../src/webhooks/index.ts';
import { keyring, newLink, partnerAt, setRate } from '../helpers/api.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';
import { createPartnerWithKeys } from '../helpers/partners.ts';
import { openByMenu, press, rowOf } from './page-actions.ts';
import { describeInBrowser, findBarriers, openWorld, untilLoaded } from './world.ts';

describeInBrowser('webhook deliveries', async browser => {
  const { pool } = await createDatabase();
  const world = await openWorld({ pool }, browser);
  let page: Awaited<ReturnType<typeof world.as>>;
  const events: string[] = [];
  beforeAll(async () => {
    await setRate(pool);
    page = await world.as('support', { name: 'vera' });
    for (const name of ['Цветы у дома', 'Bicycle repair']) {
      const { partnerId, testKey } = await createPartnerWithKeys(pool);
      await pool.query(`UPDATE partners SET name = $1 WHERE name = 'Test shop'`, [name]);
      await setWebhook(auditContextOf(pool), createVault(keyring), partnerId, 'https://shop.example/hook');
      for (const kopecks of [10_000, 10_001])
        await partnerAt(world.address, testKey).pay({ qr_url: newLink(kopecks) });
    }
    const { rows } = await pool.query('SELECT id FROM events ORDER BY id');
    events.push(...rows.map(({ id }) => `evt_${id}`));
    // The first was delivered, the second failed: its endpoint refused the connection, and is suspended now.
    await pool.query(
      `INSERT INTO webhook_attempts (partner_id, event_id, attempt, at, status, error, duration_ms)
       SELECT partner_id, event_id, 1, now(), CASE row_number() OVER w WHEN 1 THEN 200 END,
              CASE row_number() OVER w WHEN 2 THEN 'refused' END, 31
         FROM deliveries WINDOW w AS (ORDER BY event_id) ORDER BY event_id LIMIT 2`,
    );
    await pool.query('DELETE FROM deliveries WHERE event_id = $1', [events[0]!.slice(4)]);
    await pool.query('UPDATE deliveries SET failed_at = now(), attempts = 9 WHERE event_id = $1', [
      events[1]!.slice(4),
    ]);
    await pool.query(
      `UPDATE webhooks SET suspended_at = now() WHERE partner_id = (SELECT partner_id FROM events ORDER BY id LIMIT 1)`,
    );
  });

  const table = () => page.getByRole('table', { name: 'Webhook deliveries' });
  const shown = async () =>
    (await table().locator('tbody td:first-child code').allTextContents()).filter(text =>
      text.startsWith('evt_'),
    );

  test('are listed for all partners and filtered; the URL keeps the filter', async () => {
    await page.goto('/console/');
    await openByMenu(page, 'Webhook deliveries');
    await expect.poll(shown).toEqual(events.toReversed());
    await rowOf(table(), events[0]!).getByText('Delivered').waitFor();
    const failed = rowOf(table(), events[1]!);
    await failed.getByText('Failed permanently').waitFor();
    await failed.getByText('connection refused').waitFor();
    expect(await failed.getByText('Suspended').getAttribute('class')).toContain('badge-bad');
    expect(await findBarriers(page)).toEqual([]);

    await page.getByLabel('Delivery status').selectOption('Pending');
    await expect.poll(shown).toEqual([events[3], events[2]]);
    await page.getByLabel('Event').selectOption('Payment failed');
    await expect.poll(shown).toEqual([events[3]]);
    await page.reload();
    await expect.poll(shown).toEqual([events[3]]);
    await press(page, 'Clear');

    const field = page.getByRole('combobox', { name: 'Partner' });
    await field.fill('у дома');
    const option = page.locator('datalist option');
    await expect.poll(() => option.count()).toBe(1);
    await field.fill((await option.first().getAttribute('value'))!);
    await expect.poll(shown).toEqual([events[1], events[0]]);
    expect(page.url()).toContain('partner_id=prt_');
    await page.getByLabel('Period').selectOption('Yesterday');
    await page.getByText('No deliveries found').waitFor();
    await press(page, 'Clear');
    await expect.poll(shown).toEqual(events.toReversed());
  });

  test('one shows its request, without a signature, and what came back', async () => {
    await page.goto('/console/deliveries');
    await table().getByRole('link', { name: events[1]! }).click();
    await page.getByRole('heading', { name: 'Delivery', exact: true }).waitFor();
    const attempts = page.getByRole('table', { name: 'Attempts' });
    await rowOf(attempts, 'connection refused').getByText('31 ms').waitFor();
    await page.getByText(`"id":"${events[1]}"`).waitFor();
    await page.getByText('x-service-signature: (made for each attempt, not stored)').waitFor();
    await page.getByText('Suspended: no events are sent until a check of the endpoint succeeds.').waitFor();
    expect(await page.getByText('https://shop.example/hook').getAttribute('class')).toContain('bad-text');
    expect(await findBarriers(page)).toEqual([]);
  });

  test('several are sent again, with progress; one that cannot be is named', async () => {
    await page.goto('/console/deliveries');
    for (const event of events.slice(0, 2)) await page.getByLabel(`Select ${event}`, { exact: true }).check();
    await page.getByText('Selected: 2').waitFor();
    await press(page, 'Resend: 2');
    const dialog = page.getByRole('dialog', { name: 'Resend' });
    expect(await findBarriers(page)).toEqual([]);
    await press(dialog, 'Resend: 2');
    await dialog.getByText('Queued 2 of 2').waitFor();
    await press(dialog, 'Done');
    for (const event of events.slice(0, 2)) await rowOf(table(), event).getByText('Pending').waitFor();
    const { rows } = await pool.query(
      `SELECT actor, after FROM audit WHERE action = 'webhook.resend' ORDER BY id`,
    );
    expect(rows).toEqual(
      events.slice(0, 2).map(event_id => ({ actor: 'operator:vera', after: { event_id } })),
    );

    world.announceRefusals(409);
    await press(page, 'Select all shown');
    await pool.query(
      'DELETE FROM webhooks WHERE partner_id = (SELECT partner_id FROM events ORDER BY id DESC LIMIT 1)',
    );
    await press(page, 'Resend: 4');
    await press(dialog, 'Resend: 4');
    await dialog.getByText('Queued 2 of 4').waitFor();
    await dialog.getByText('Not queued: 2. The partner has no webhook.').waitFor();
  });

  test('in Russian', async () => {
    const other = await world.as('viewer', { language: 'ru' });
    await other.goto('/console/deliveries');
    await untilLoaded(other);
    await other.getByRole('heading', { name: 'Доставка вебхуков' }).waitFor();
    expect(await other.title()).toBe('Доставка вебхуков · Kopeck');
    const rows = other.getByRole('table', { name: 'Доставка вебхуков' });
    await rowOf(rows, events[1]!).getByText('в соединении отказано').waitFor();
    await rows.getByRole('link', { name: events[1]! }).click();
    await other.getByRole('heading', { name: 'Доставка', exact: true }).waitFor();
    const button = other.getByRole('button', { name: 'Отправить повторно' });
    expect(await button.getAttribute('aria-disabled')).toBe('true');
  });
});
