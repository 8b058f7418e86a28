import { PNG } from 'pngjs';
import { expect, test } from 'vitest';
import { approveLive } from '../../src/partners/index.ts';
import { findWebhook } from '../../src/webhooks/index.ts';
import { issueKey, newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';
import { startReceiver, withStatus } from '../helpers/webhook-receiver.ts';
import { place, qrPicture, render } from './images.ts';
import { ownerOf, startTestBot } from './setup.ts';

const drawQr = (text: string) => PNG.sync.write(render(place(qrPicture(text), 200, 200, 320), 400, 400));

const { pool } = await createDatabase();
const world = await startTestBot({ pool });
const { address } = await startApi({ pool });
await setRate(pool);

test('keys: create for some addresses, list with last use, revoke once confirmed', async () => {
  const { owner, partnerId } = await ownerOf(world, pool, 'Keys');
  await owner.press('🔑 Keys');
  await owner.reads(/no active keys/);
  const refused = await owner.press('➕ Live key');
  expect((await refused.answer()).text).toMatch(/not approved yet/);
  await approveLive(auditContextOf(pool), partnerId);
  await owner.reads(/Live mode is approved/);

  await owner.press('➕ Live key');
  await owner.reads(/Which IP addresses/);
  await owner.send('the office');
  await owner.reads(/not a list of 1 to 20 IP addresses/);
  await owner.send('127.0.0.1, 2001:db8::/32');
  const key = /svc_live_\w+/.exec((await owner.reads(/svc_live_/)).text)![0];
  await owner.reads(/last used: never/);
  expect((await partnerAt(address, key).get('/v1/ping')).status).toBe(200);

  const keyId = key.split('_')[2]!;
  await owner.press(`🟢 ${keyId}`);
  await owner.reads(/Allowed IP addresses: 127\.0\.0\.1, 2001:db8::\/32/);
  await owner.goes(['🗑 Revoke', /cannot be undone/], ['✖️ Cancel', /Allowed IP addresses/]);
  await owner.press('🗑 Revoke');
  const { message } = await owner.reads(/cannot be undone/);
  await owner.press('🗑 Revoke');
  await owner.reads(/no active keys/);
  // As soon as PostgreSQL has delivered the notification; on a busy machine that may be after the bot's message.
  await expect.poll(async () => (await partnerAt(address, key).get('/v1/ping')).status).toBe(401);
  const again = await owner.pressOn(message, '🗑 Revoke');
  await again.answer();
  const { rows } = await pool.query(`SELECT actor FROM audit WHERE action = 'key.revoke' AND subject = $1`, [
    keyId,
  ]);
  expect(rows).toEqual([{ actor: `telegram:${owner.account.id}` }]);
});

test('what is typed after Cancel answers nothing', async () => {
  const { owner, partnerId } = await ownerOf(world, pool, 'Changed their mind');
  await owner.press('📬 Webhook');
  await owner.reads(/No webhook is set/);
  await owner.press('✏️ Set URL');
  await owner.reads(({ buttons }) => buttons.flat().includes('✖️ Cancel'));
  await owner.press('✖️ Cancel');
  await owner.reads(/No webhook is set/);
  await owner.send('https://receiver.example/hook');
  await owner.reads(() => true);
  expect(await findWebhook(pool, partnerId)).toBeUndefined();
});

test('webhook: a bad address, a good one, its secret, rotation, the check, the log, sending again', async () => {
  const { owner, partnerId } = await ownerOf(world, pool, 'Hooks');
  const receiver = await startReceiver();
  await owner.goes(['📬 Webhook', /No webhook is set/], ['✏️ Set URL', /Type the URL/]);
  await owner.send('ftp://example.com');
  await owner.reads(/cannot be used/);
  await owner.send(`${receiver.url}`);
  await owner.reads(/is saved/);
  await owner.reads(/Status: ✅ active/);

  await owner.press('👁 Secret');
  const first = /whsec_\S+/.exec((await owner.reads(/whsec_/)).text)![0];
  await owner.press('♻️ Rotate secret');
  await owner.reads(/Create a new secret/);
  await owner.press('♻️ Rotate secret');
  const { text } = await owner.reads(/Previous secret, still valid/);
  expect(text).toContain(first);
  await owner.reads(/Status/);

  await owner.press('🧪 Check');
  const check = await owner.reads(/Webhook check/);
  expect(check.text.split('\n')).toHaveLength(7);
  expect(check.text).toContain('✅ a valid event: should be accepted, response: 200');
  expect(check.text).toContain('❌ a wrong signature: should be rejected, response: 200');

  const api = partnerAt(address, await issueKey(pool, partnerId, 'test'));
  await api.pay({ qr_url: newLink(30_510) });
  const { json } = await api.get('/v1/events');
  const event = json.data[0].id as string;
  await pool.query('DELETE FROM deliveries');
  await pool.query(
    `INSERT INTO webhook_attempts (partner_id, event_id, attempt, at, status, duration_ms)
     SELECT id, $1, 1, now(), 500, 12 FROM partners WHERE name = 'Hooks'`,
    [event.slice(4)],
  );
  await owner.press('📬 Webhook');
  await owner.reads(/Status/);
  await owner.press('📜 Log');
  await owner.reads(new RegExp(`${event} #1: 500, 12 ms`));
  const again = await owner.press(`🔁 Resend ${event}`);
  expect((await again.answer()).text).toBe('The event is being resent.');
  expect((await pool.query('SELECT FROM deliveries')).rowCount).toBe(1);
  const other = await ownerOf(world, pool, 'Envious');
  const foreign = `we:${other.partnerId.slice(4)}:${event}`;
  const forged = await other.owner.forgeCallback(other.owner.screen().message, foreign);
  expect((await forged.answer()).text).toMatch(/no such event/);

  await pool.query('UPDATE webhooks SET suspended_at = now(), given_up = 3');
  receiver.answer(withStatus(500));
  await owner.goes(['⬅️ Back', /suspended/], ['🧪 Check', /does not accept valid events/]);
  receiver.answer(withStatus(204));
  await owner.press('🧪 Check');
  await owner.reads(/suspended and are active again/);
  await owner.reads(/Webhooks are active again/);
  const { rows } = await pool.query('SELECT suspended_at FROM webhooks');
  expect(rows).toEqual([{ suspended_at: null }]);
});

test('balance: limits, top-up, history, refill once a day, a low-balance alert', async () => {
  const { owner, partnerId } = await ownerOf(world, pool, 'Money');
  await owner.press('💰 Balance');
  await owner.reads(
    /Test: 10,000\.000000 USDT[\s\S]*Amount per payment: 10\.00 to 100,000\.00 RUB[\s\S]*Low-balance alert: off/,
  );
  await owner.press('➕ Top up');
  await owner.reads(new RegExp(partnerId));
  await owner.goes(['⬅️ Back', /Amount per payment/], ['🧪 Refill test balance', /Test: 20,000\.000000/]);
  const again = await owner.press('🧪 Refill test balance');
  expect((await again.answer()).text).toMatch(/once a day/);
  await owner.goes(
    ['📜 Top-up history', /kopeck: test balance of/],
    ['⬅️ Back', /Amount per payment/],
    ['🪫 Low-balance alert', /At what live balance/],
  );
  await owner.send('a lot');
  await owner.reads(/positive number/);
  await owner.send('99,5');
  await owner.reads(/below 99\.500000 USDT/);
  await owner.reads(/Low balance \(live\): 0\.000000 USDT/);
});

test('payments: recent ones, one by its id, by external_id, and none of another partner', async () => {
  const { owner, partnerId } = await ownerOf(world, pool, 'Payer');
  const api = partnerAt(address, await issueKey(pool, partnerId, 'test'));
  const paid = await api.pay({ qr_url: newLink(30_510), external_id: 'order-1' });
  await api.pay({ qr_url: newLink(10_001), external_id: 'order-2' });
  await owner.press('🧾 Payments');
  await owner.reads(/no live payments/);
  await owner.press('🧪 Test');
  await owner.reads(screen => screen.buttons.flat().includes('✅ 305.10 ₽ order-1'));
  await owner.goes(
    ['❌ 100.01 ₽ order-2', /failed, gateway_declined[\s\S]*USDT were returned/],
    ['⬅️ Back', /Latest test payments/],
    ['🔎 Find', /Type a payment ID/],
  );
  await owner.send('nothing');
  await owner.reads(/No payment found/);
  await owner.send('order-1');
  await owner.reads(/succeeded[\s\S]*This status is final/);

  const other = await ownerOf(world, pool, 'Nosy');
  await other.owner.goes(['🧾 Payments', /no live/], ['🔎 Find', /Type a payment ID/]);
  await other.owner.send(paid.json.id);
  await other.owner.reads(/No payment found/);
});

test('rate: a number and a picture; a QR link and a photo are resolved and nothing is paid', async () => {
  const { owner } = await ownerOf(world, pool, 'Codes', 'ru');
  await owner.press('📈 Курс');
  const rate = await owner.reads(/92,5000 ₽ за 1 USDT/);
  expect(rate.message.photo).toBeDefined();
  const link = newLink(18_500);
  await owner.send(link);
  await owner.reads(/Сумма: 185,00 ₽\nПо текущему курсу: 2,000000 USDT[\s\S]*Ничего не оплачено/);
  await owner.sendPhoto(drawQr(link));
  await owner.reads(/Сумма: 185,00 ₽[\s\S]*Ничего не оплачено/);
  await owner.sendPhoto(drawQr('no link at all'));
  await owner.reads(/Это не ссылка/);
  await owner.send('https://example.com/');
  await owner.reads(/Это не ссылка/);
});

test('settings: language and mute', async () => {
  const { owner } = await ownerOf(world, pool, 'Quiet');
  await owner.press('⚙️ Settings');
  await owner.reads(/Security notifications cannot be muted/);
  await owner.press('🔔 Top-ups');
  await owner.reads(screen => screen.buttons.flat().includes('🔕 Top-ups'));
  await owner.goes(['🌐 Язык / Language', /Выберите язык/], ['🇷🇺 Русский', /Ваша роль: владелец/]);
});
