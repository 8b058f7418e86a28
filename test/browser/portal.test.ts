import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { createPortalLink } from '../../src/partners/index.ts';
import { createVault, setWebhook } from '../../src/webhooks/index.ts';
import { createPartnerWithKeys, keyring, newLink, partnerAt, setRate } from '../helpers/api.ts';
import { createDatabase } from '../helpers/database.ts';
import { initDataOf, newPerson, startPortal } from '../helpers/portal.ts';
import { describeInBrowser, findBarriers, untilLoaded } from './world.ts';

const pictures = join(import.meta.dirname, '..', '..', 'test-results', 'portal');
const pages = [
  '',
  'payments',
  'balance',
  'statements',
  'keys',
  'webhook',
  'deliveries',
  'requests',
  'team',
  'settings',
];

/** Inserted directly: the ledger does not match them. */
const pastPayments = `
  INSERT INTO payments (partner_id, mode, id, status, rejected, idempotency_key, request_hash, external_id, qrc_id, qr_url,
                        fingerprint, recipient, amount_kopecks, micro_usdt, rate_e4, rate_id, metadata, error_code, created_at, settled_at)
  SELECT $1, 'live', uuidv7(at), CASE WHEN bad THEN 'failed' ELSE 'succeeded' END::payment_status, false, 'key-' || nth, '\\x00',
         'order-' || nth, 'AD' || nth, 'https://qr.nspk.ru/AD' || nth, 'f', (ARRAY['Пятёрочка', 'Кофе и книги'])[1 + nth % 2],
         25000 + nth * 700, 27000000, 915750, 1, '{}', CASE WHEN bad THEN 'gateway_declined' END, now() + at, now() + at
    FROM (SELECT nth, nth % 13 = 5 AS bad, - interval '1 h' * (nth * 3 + 20 * sin(nth / 9.0) + 21) AS at
            FROM generate_series(1, 200) AS nth) AS made`;

describeInBrowser('the portal in a browser', async browser => {
  const { pool } = await createDatabase();
  const portal = await startPortal({ pool });
  const { address, audit, join: joinTeam } = portal;
  const complaints: string[] = [];
  afterEach(() => expect(complaints.splice(0)).toEqual([]));

  await setRate(pool);
  const { partnerId, testKey } = await createPartnerWithKeys(pool);
  await pool.query(`UPDATE partners SET name = 'Пекарня на углу'`);
  await pool.query(pastPayments, [uuidFromId(partnerId)]);
  await setWebhook(audit, createVault(keyring), partnerId, 'https://127.0.0.1:1/hook');
  const paid = await partnerAt(address, testKey).pay({ qr_url: newLink(10_000), external_id: 'order 1' });
  const owner = newPerson('Анна Ковалёва');
  await joinTeam(partnerId, owner, 'owner');
  await joinTeam(partnerId, newPerson('Олег'), 'developer');

  async function visit({
    width = 390,
    scheme = 'light' as 'light' | 'dark',
    language = 'en' as 'en' | 'ru',
  } = {}) {
    const context = await browser.newContext({
      baseURL: address,
      locale: language === 'en' ? 'en-GB' : 'ru-RU',
      colorScheme: scheme,
      viewport: { width, height: 844 },
      timezoneId: 'UTC',
    });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    page.setDefaultTimeout(15_000);
    page.on('pageerror', error => complaints.push(error.message));
    page.on('console', message => message.type() === 'error' && complaints.push(message.text()));
    page.on('request', request => {
      const url = new URL(request.url());
      if (url.origin !== address && !['data:', 'blob:'].includes(url.protocol)) complaints.push(url.href);
    });
    return page;
  }

  async function signIn(page: Page): Promise<void> {
    await page.goto(`/portal/sign-in#${await createPortalLink(audit, owner)}`);
    await page.waitForURL(`**/portal/${partnerId}/`);
    await untilLoaded(page);
  }

  test('a link of the bot signs in, and is not in the address bar any more', async () => {
    const page = await visit();
    await signIn(page);
    expect(page.url()).not.toContain('#');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('button', { name: owner.name }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Partner portal' }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
  });

  test('a used link says so', async () => {
    const link = `/portal/sign-in#${await createPortalLink(audit, newPerson())}`;
    const first = await visit();
    await first.goto(link);
    await first.getByRole('heading', { name: 'You are not in a team' }).waitFor();
    const second = await visit({ language: 'ru' });
    await second.goto(link);
    await second.getByText(/Ссылка уже использована/).waitFor();
    // The browser logs every refused request.
    expect(complaints.splice(0)).toEqual([expect.stringContaining('404')]);
  });

  test('a Mini App of Telegram signs in', async () => {
    const page = await visit({ scheme: 'dark' });
    const data = initDataOf({ id: Number(owner.userId), first_name: 'Anna' });
    await page.goto(`/portal/#tgWebAppData=${encodeURIComponent(data)}&tgWebAppVersion=8.0`);
    await page.waitForURL(`**/portal/${partnerId}/`);
    expect(page.url()).not.toContain('tgWebAppData');
  });

  test('a key is created and shown once', async () => {
    const page = await visit();
    await signIn(page);
    await page.goto(`/portal/${partnerId}/keys`);
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Label').fill('Till 1');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    const key = await page.getByRole('dialog').locator('code').textContent();
    expect(key).toMatch(/^svc_live_[0-9a-f]{12}_[0-9a-f]{48}$/);
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    await page.getByText('Till 1').waitFor();
    expect(await page.content()).not.toContain(key!);
  });

  test.each([
    { width: 390, scheme: 'light', language: 'ru' },
    { width: 390, scheme: 'dark', language: 'en' },
    { width: 1280, scheme: 'light', language: 'en' },
    { width: 1280, scheme: 'dark', language: 'ru' },
  ] as const)('every page in $width, $scheme, $language', { timeout: 180_000 }, async looks => {
    mkdirSync(pictures, { recursive: true });
    const page = await visit(looks);
    await signIn(page);
    for (const name of [...pages, `payments/${paid.json.id}`]) {
      await page.goto(`/portal/${partnerId}/${name}`);
      await untilLoaded(page);
      const wide = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      expect({ name, wide }).toEqual({ name, wide: 0 });
      expect({ name, barriers: await findBarriers(page) }).toEqual({ name, barriers: [] });
      const file = `${(name || 'overview').split('_')[0]!.replace('/', '-')}-${looks.width}-${looks.scheme}.png`;
      await page.screenshot({ path: join(pictures, file), fullPage: true, animations: 'disabled' });
    }
  });
});
