import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { createPortalLink } from '../../src/partners/index.ts';
import { addEndpoint, createVault, listDeliveries, setWebhook } from '../../src/webhooks/index.ts';
import { place, qrPicture, render, toPng } from '../bot/images.ts';
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
  'rate',
  'qr',
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

const pastRates = `
  INSERT INTO rates (as_of, created_at, mid_e4, spread_bps, rate_e4, parts)
  SELECT at, at, mid, 100, mid * 9900 / 10000, parts
    FROM (SELECT now() - nth * interval '10 min' AS at, parts, (925000 + 9000 * sin(nth / 14.0) + 2500 * sin(nth / 3.0))::bigint AS mid
            FROM generate_series(1, 143) AS nth, (SELECT parts FROM rates LIMIT 1) AS known) AS made
   ORDER BY at`;

describeInBrowser('the portal in a browser', async browser => {
  const { pool } = await createDatabase();
  const portal = await startPortal({ pool });
  const { address, audit, join: joinTeam } = portal;
  const complaints: string[] = [];
  afterEach(() => expect(complaints.splice(0)).toEqual([]));

  await setRate(pool);
  await pool.query(pastRates);
  await setRate(pool);
  const { partnerId, testKey, liveKey } = await createPartnerWithKeys(pool);
  await pool.query(`UPDATE partners SET name = 'Пекарня на углу'`);
  await pool.query(pastPayments, [uuidFromId(partnerId)]);
  const vault = createVault(keyring);
  await setWebhook(audit, vault, partnerId, 'https://127.0.0.1:1/hook');
  const books = { mode: 'live', url: 'https://books.example/kopeck', events: ['payment.refunded'] } as const;
  await addEndpoint(audit, vault, partnerId, { ...books, events: [...books.events] });
  await partnerAt(address, liveKey).post('/v1/quote', { body: { amount_rub: '1500', lock: true } });
  const paid = await partnerAt(address, testKey).pay({ qr_url: newLink(10_000), external_id: 'order 1' });
  const { deliveries } = await listDeliveries(pool, portal.deps.clock, { partnerId }, { limit: 1 });
  const owner = newPerson('Анна Ковалёва');
  await joinTeam(partnerId, owner, 'owner');
  await pool.query(`INSERT INTO chat_users (user_id, language, created_at) VALUES ($1, 'ru', now())`, [
    owner.userId,
  ]);
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

  test.each([
    ['en', 'Keep the current account', 'Sign in with the other account', 'You are signed in as'],
    ['ru', 'Остаться в текущем аккаунте', 'Войти в другой аккаунт', 'Сейчас вы вошли как'],
  ] as const)('another site cannot change who is signed in (%s)', async (language, stay, change, heading) => {
    const page = await visit({ language });
    await signIn(page);
    const other = newPerson(owner.name);
    await joinTeam((await createPartnerWithKeys(pool)).partnerId, other, 'owner');
    await pool.query(`UPDATE partners SET name = 'Пекарня на углу'`);
    const data = initDataOf({ id: Number(other.userId), first_name: other.name });
    const lure = `/portal/#tgWebAppData=${encodeURIComponent(data)}&tgWebAppVersion=8.0`;
    const arrive = async () => {
      // From another page, as from another site: the same page with another fragment would not be loaded again.
      await page.goto('about:blank');
      await page.goto(lure);
      await page.getByRole('region', { name: heading }).getByText(`${owner.userId}`).waitFor();
      await page.getByRole('region', { name: heading }).getByText(partnerId).waitFor();
    };
    await arrive();
    expect(await findBarriers(page)).toEqual([]);
    mkdirSync(pictures, { recursive: true });
    await page.screenshot({ path: join(pictures, `other-person-${language}.png`), fullPage: true });
    await page.getByRole('button', { name: stay }).click();
    await page.waitForURL(`**/portal/${partnerId}/`);
    await arrive();
    await page.getByRole('button', { name: change }).click();
    await page.waitForURL(url => url.pathname.includes('prt_') && !url.pathname.includes(partnerId));
    const now = await page.evaluate(async () => (await fetch('/portal/api/session/current')).text());
    expect(JSON.parse(now)).toMatchObject({ session: { person: { user_id: `${other.userId}` } } });
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

  test('a QR code is checked, by its link and by a photo', async () => {
    const page = await visit();
    await signIn(page);
    await page.goto(`/portal/${partnerId}/qr`);
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByLabel('Link of the QR code').fill(newLink(12_300));
    await page.getByRole('button', { name: 'Check' }).click();
    await page.locator('.badge', { hasText: 'Can be paid' }).waitFor();
    await page.getByText('123.00').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    const photo = toPng(render(place(qrPicture(newLink(45_600)), 900, 900, 900), 1_800, 1_800));
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: photo });
    await page.getByText('456.00').waitFor();
    await page.locator('input[type=file]').setInputFiles({
      name: 'a.txt',
      mimeType: 'image/png',
      buffer: Buffer.from('no picture'),
    });
    await page.getByText('This file is not a picture').waitFor();
  });

  test('an amount is quoted, now and with a locked rate', async () => {
    const page = await visit();
    await signIn(page);
    await page.goto(`/portal/${partnerId}/rate`);
    await page.getByLabel('Amount, ₽').fill('150');
    await page.getByText('1.621622').waitFor();
    await page.getByText('1.629771').waitFor();
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
    for (const name of [...pages, `payments/${paid.json.id}`, `deliveries/evt_${deliveries[0]!.eventId}`]) {
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
