import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { createPortalLink } from '../../src/partners/index.ts';
import { addEndpoint, createVault } from '../../src/webhooks/index.ts';
import { place, qrPicture, render, toPng } from '../bot/images.ts';
import { createPartnerWithKeys, keyring, newLink, partnerAt } from '../helpers/api.ts';
import { setRate } from '../helpers/database.ts';
import { initDataOf, newPerson, startPortal } from '../helpers/portal.ts';
import { press } from './page-actions.ts';
import type { SampleData } from './sample-data.ts';
import {
  excessWidth,
  findBarriers,
  moveTo,
  sweepInBoth,
  takePicture,
  untilLoaded,
  type World,
} from './world.ts';

// Few payments: axe takes seconds for fifty.
const sections = ['', 'payments?q=order-5001', 'balance', 'statements', 'rate', 'qr', 'keys', 'webhook'];
const more = ['deliveries', 'requests', 'team', 'settings'];

/** A person of a partner's team uses the portal, mostly on a phone. */
export async function testPortal(console: World, { partnerId, shop, paymentId, eventId }: SampleData) {
  const { pool, sql } = console;
  // Nothing is sent here: the mails wait in the database.
  const smtp = { host: '127.0.0.1', port: 1, isSecure: false, user: undefined, password: undefined };
  const { address, audit, join } = await startPortal({
    pool,
    smtp: { ...smtp, from: 'reports@example.com' },
  });
  const owner = newPerson('Анна Ковалёва');
  await join(partnerId, owner, 'owner');
  await join(partnerId, newPerson('Олег'), 'developer');
  await sql`INSERT INTO chat_users (user_id, language, created_at) VALUES (${owner.userId}, 'ru', now())`;
  await addEndpoint(audit, createVault(keyring), partnerId, {
    mode: 'live',
    url: 'https://books.example/kopeck',
    events: ['payment.refunded'],
  });
  const visit = (looks = {}) => console.visitAt(address, { width: 390, ...looks });
  const miniApp = ({ userId, name }: ReturnType<typeof newPerson>) => {
    const data = initDataOf({ id: Number(userId), first_name: name });
    return `/portal/#tgWebAppData=${encodeURIComponent(data)}&tgWebAppVersion=8.0`;
  };

  async function signIn(page: Page): Promise<void> {
    await page.goto(`/portal/sign-in#${await createPortalLink(audit, owner)}`);
    await press(page, 'Sign in');
    await page.waitForURL(`**/portal/${partnerId}/`);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  }

  test('a link of the bot signs in once, and is not in the address bar any more', async () => {
    const page = await visit();
    await signIn(page);
    expect(page.url()).not.toContain('#');
    await press(page, owner.name);
    await press(page, 'Sign out');
    await page.getByRole('heading', { name: 'Partner portal' }).waitFor();
    expect(await findBarriers(page)).toEqual([]);

    const link = `/portal/sign-in#${await createPortalLink(audit, newPerson())}`;
    await page.goto('about:blank');
    await page.goto(link);
    await page.getByLabel('Stay signed in on this device').check();
    expect(await findBarriers(page)).toEqual([]);
    await press(page, 'Sign in');
    await page.getByRole('heading', { name: 'You are not in a team' }).waitFor();
    console.announceRefusals(404);
    const second = await visit({ language: 'ru' });
    await second.goto(link);
    expect(await excessWidth(second)).toBe(0);
    await press(second, 'Войти');
    await second.getByText(/Ссылка уже использована/).waitFor();
  });

  test('a Mini App of Telegram signs in; another site cannot change who is signed in', async () => {
    const page = await visit({ scheme: 'dark' });
    await page.goto(miniApp(owner));
    await page.waitForURL(`**/portal/${partnerId}/`);
    expect(page.url()).not.toContain('tgWebAppData');

    const other = newPerson(owner.name);
    await join((await createPartnerWithKeys(pool)).partnerId, other, 'owner');
    const lure = miniApp(other);
    const question = page.getByRole('region', { name: 'You are signed in as' });
    const arrive = async () => {
      // From another page, as from another site: the same page with another fragment would not be loaded again.
      await page.goto('about:blank');
      await page.goto(lure);
      await question.getByText(`${owner.userId}`).waitFor();
      await question.getByText(partnerId).waitFor();
    };
    await arrive();
    expect(await findBarriers(page)).toEqual([]);
    await press(page, 'RU: Русский');
    await page.getByRole('region', { name: 'Сейчас вы вошли как' }).waitFor();
    expect(await excessWidth(page)).toBe(0);
    await press(page, 'Остаться в текущем аккаунте');
    await page.waitForURL(`**/portal/${partnerId}/`);
    await press(page, 'EN: English');
    await arrive();
    await press(page, 'Sign in with the other account');
    await page.waitForURL(url => url.pathname.includes('prt_') && !url.pathname.includes(partnerId));
  });

  test('a key is created and shown once, a QR code is checked by its link and by a photo, an amount is quoted', async () => {
    const page = await visit();
    await signIn(page);
    await moveTo(page, `/portal/${partnerId}/keys`);
    await press(page, 'Create key');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Label').fill('Till 1');
    await press(dialog, 'Create key');
    const key = await dialog.locator('code').textContent();
    expect(key).toMatch(/^svc_live_[0-9a-f]{12}_[0-9a-f]{48}$/);
    expect(await findBarriers(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await page.getByText('Till 1').waitFor();
    expect(await page.content()).not.toContain(key!);

    await moveTo(page, `/portal/${partnerId}/qr`);
    await press(page, 'Test');
    await page.getByLabel('Link of the QR code').fill(newLink(12_300));
    await press(page, 'Check');
    await page.locator('.badge', { hasText: 'Can be paid' }).waitFor();
    await page.getByText('123.00').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    const photo = toPng(render(place(qrPicture(newLink(45_600)), 900, 900, 900), 1_800, 1_800));
    const choose = (name: string, buffer: Buffer) =>
      page.locator('input[type=file]').setInputFiles({ name, mimeType: 'image/png', buffer });
    await choose('a.png', photo);
    await page.getByText('456.00').waitFor();
    await choose('a.txt', Buffer.from('no picture'));
    await page.getByText('This file is not a picture').waitFor();
    await payByHand(page, photo);

    const quote = { body: { amount_rub: '150', lock: true } };
    const { json } = await partnerAt(address, shop.liveKey).post('/v1/quote', quote);
    await moveTo(page, `/portal/${partnerId}/rate`);
    await page.getByLabel('Amount, ₽').fill('150');
    await page.getByText(json.amount_usdt).first().waitFor();
  });

  /** Of a photo: the answer is lost, the page is loaded again, and the payment is there once. */
  async function payByHand(page: Page, photo: Buffer): Promise<void> {
    // That of the day may be out of date by now.
    await setRate(pool, console.deps.clock);
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: photo });
    await page.getByText('456.00').waitFor();
    await press(page, 'Pay');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Test recipient').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    expect(await excessWidth(page)).toBe(0);
    await takePicture(page, 'portal-pay');
    console.announce(/ERR_CONNECTION_RESET/);
    await page.route('**/pay', async route => {
      await route.fetch();
      await route.abort('connectionreset');
    });
    await press(dialog, 'Pay');
    await dialog.getByText('The connection was lost before the response arrived').waitFor();
    await page.unroute('**/pay');
    await press(dialog, 'Cancel');
    await page.getByRole('button', { name: 'Pay', exact: true, disabled: true }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'A payment without an answer' }).waitFor();
    await untilLoaded(page);
    expect(await findBarriers(page)).toEqual([]);
    await takePicture(page, 'portal-pay-without-answer');
    await press(page, 'Get the result');
    await page.getByText(`${owner.name} (telegram:${owner.userId})`).waitFor();
    await takePicture(page, 'portal-paid');
    expect(
      await sql`SELECT status FROM payments WHERE partner_id = (SELECT partner_id FROM members WHERE user_id = ${owner.userId})
                   AND idempotency_key LIKE ${`by hand%:${owner.userId} %`}`,
    ).toEqual([{ status: 'succeeded' }]);
    await moveTo(page, `/portal/${partnerId}/qr`);
    await page.getByLabel('Link of the QR code').waitFor();
    expect(await page.getByRole('heading', { name: 'A payment without an answer' }).count()).toBe(0);
  }

  test('an accountant who opens the page of QR codes reads whose it is', async () => {
    const accountant = newPerson('Ольга');
    await join(partnerId, accountant, 'accountant');
    const page = await visit();
    await page.goto(miniApp(accountant));
    await page.waitForURL(`**/portal/${partnerId}/`);
    await moveTo(page, `/portal/${partnerId}/qr`);
    await page.getByText('Required role: viewer, payer, developer or owner').waitFor();
    expect(await page.getByRole('textbox').count()).toBe(0);
  });

  test('a new owner adds a company, takes its first step, and has the monthly report sent by mail', async () => {
    const page = await visit();
    await page.goto(miniApp(newPerson('Ирина')));
    await page.getByLabel('Name').fill('Чайная на площади');
    await press(page, 'Add company');
    const step = (name: string, state: string) =>
      page.getByRole('listitem').filter({ hasText: name }).getByText(state).waitFor();
    await step('Get live mode approved', 'In review');
    await step('Create a test key', 'To do');
    expect(await findBarriers(page)).toEqual([]);
    expect(await excessWidth(page)).toBe(0);
    const overview = new URL(page.url()).pathname;
    await page.getByRole('link', { name: 'Create a test key' }).click();
    await press(page, 'Create key');
    const dialog = page.getByRole('dialog');
    await press(dialog, 'Create key');
    await dialog.locator('code').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await moveTo(page, overview);
    await step('Create a test key', 'Done');

    await moveTo(page, `${overview}settings`);
    await page.getByLabel('Send the report').click();
    await page.getByLabel('E-mail address').fill('Boss@Example.com');
    await press(page, 'Add');
    const code = page.getByLabel('Code from the mail');
    await code.waitFor();
    expect(await findBarriers(page)).toEqual([]);
    expect(await excessWidth(page)).toBe(0);
    const [sent] = await sql`SELECT code FROM report_addresses WHERE address = 'boss@example.com'`;
    await code.fill(`${sent.code}`);
    await press(page, 'Confirm');
    await page.getByText('Address confirmed').waitFor();
    await code.waitFor({ state: 'detached' });
  });

  test('every page: no barriers, readable in the dark, everything in its card in both languages', async () => {
    const page = await visit({ width: 1280 });
    await signIn(page);
    for (const name of [...sections, ...more, `payments/${paymentId}`, `deliveries/${eventId}`]) {
      await moveTo(page, `/portal/${partnerId}/${name}`);
      await sweepInBoth(page, `portal-${name.split(/[_?]/)[0]!.replace('/', '-')}`);
    }
  });
}
