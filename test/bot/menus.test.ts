import { PNG } from 'pngjs';
import { expect, test } from 'vitest';
import { approveLive } from '../../src/partners/index.ts';
import { createVault, findWebhook, listWebhooks, setWebhook } from '../../src/webhooks/index.ts';
import { issueKey, keyring, newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { startReceiver, withStatus } from '../helpers/webhook-receiver.ts';
import { place, qrPicture, render } from './images.ts';
import { createBotWorld } from './setup.ts';

const drawQr = (text: string) => PNG.sync.write(render(place(qrPicture(text), 200, 200, 320), 400, 400));

const { pool, sql, audit, ownerOf } = await createBotWorld();
const { address } = await startApi({ pool });
await setRate(pool);

test('keys: create for some addresses, list with last use, revoke once confirmed', async () => {
  const { owner, partnerId } = await ownerOf('Keys');
  await owner.goes(['🔑 Keys', /no active keys/]);
  expect(await owner.presses('➕ Live key')).toMatch(/not approved yet/);
  await approveLive(audit, partnerId);
  await owner.reads(/Live mode is approved/);

  await owner.goes(['➕ Live key', /Which IP addresses/]);
  await owner.writes('the office', /not a list of 1 to 20 IP addresses/);
  await owner.send('127.0.0.1, 2001:db8::/32');
  const key = /svc_live_\w+/.exec((await owner.reads(/svc_live_/)).text)![0];
  await owner.reads(/last used: never/);
  expect((await partnerAt(address, key).get('/v1/ping')).status).toBe(200);

  const keyId = key.split('_')[2]!;
  const { message } = await owner.goes(
    [`🟢 ${keyId}`, /Allowed IP addresses: 127\.0\.0\.1, 2001:db8::\/32/],
    ['🗑 Revoke', /cannot be undone/],
    ['✖️ Cancel', /Allowed IP addresses/],
    ['🗑 Revoke', /cannot be undone/],
  );
  await owner.goes(['🗑 Revoke', /no active keys/]);
  // As soon as PostgreSQL has delivered the notification; on a busy machine that may be after the bot's message.
  await expect.poll(async () => (await partnerAt(address, key).get('/v1/ping')).status).toBe(401);
  const again = await owner.pressOn(message, '🗑 Revoke');
  await again.answer();
  expect(await sql`SELECT actor FROM audit WHERE action = 'key.revoke' AND subject = ${keyId}`).toEqual([
    { actor: `telegram:${owner.account.id}` },
  ]);
});

test('what is typed after Cancel answers nothing', async () => {
  const { owner, partnerId } = await ownerOf('Changed their mind');
  await owner.goes(
    ['📬 Webhook', /No webhook is set/],
    ['✏️ Set URL', ({ buttons }) => buttons.flat().includes('✖️ Cancel')],
    ['✖️ Cancel', /No webhook is set/],
  );
  await owner.send('https://receiver.example/hook');
  await owner.reads(() => true);
  expect(await findWebhook(pool, partnerId)).toBeUndefined();
});

test('webhook: a bad address, a good one, its secret, rotation, the check, the log, sending again', async () => {
  const { owner, partnerId } = await ownerOf('Hooks');
  const receiver = await startReceiver();
  await owner.goes(['📬 Webhook', /No webhook is set/], ['✏️ Set URL', /Type the URL/]);
  await owner.writes('ftp://example.com', /cannot be used/);
  await owner.writes(`${receiver.url}`, /is saved/);
  await owner.reads(/Status: ✅ active/);

  await owner.press('👁 Secret');
  const first = /whsec_\S+/.exec((await owner.reads(/whsec_/)).text)![0];
  const { text } = await owner.goes(
    ['♻️ Rotate secret', /Create a new secret/],
    ['♻️ Rotate secret', /Previous secret, still valid/],
  );
  expect(text).toContain(first);
  await owner.reads(/Status/);

  const check = await owner.goes(['🧪 Check', /Webhook check/]);
  expect(check.text.split('\n')).toHaveLength(7);
  expect(check.text).toContain('✅ Valid event: accepted, response: 200');
  expect(check.text).toContain('❌ Invalid signature: must be refused, the server answered 200');

  const api = partnerAt(address, await issueKey(pool, partnerId, 'test'));
  await api.pay({ qr_url: newLink(30_510) });
  const { json } = await api.get('/v1/events');
  const event = json.data[0].id as string;
  await pool.query('DELETE FROM deliveries');
  await sql`INSERT INTO webhook_attempts (endpoint_id, partner_id, event_id, attempt, at, status, duration_ms)
     SELECT id, id, ${event.slice(4)}, 1, now(), 500, 12 FROM partners WHERE name = 'Hooks'`;
  await owner.goes(['📬 Webhook', /Status/], ['📜 Log', new RegExp(`${event} #1: 500, 12 ms`)]);
  expect(await owner.presses(`🔁 Resend ${event}`)).toBe('The event is being resent.');
  expect((await pool.query('SELECT FROM deliveries')).rowCount).toBe(1);
  const other = await ownerOf('Envious');
  const foreign = `we:${other.partnerId.slice(4)}:${event}`;
  expect(await other.owner.forges(other.owner.screen().message, foreign)).toMatch(/no such event/);

  await pool.query('UPDATE endpoints SET suspended_at = now(), given_up = 3');
  receiver.answer(withStatus(500));
  await owner.goes(['⬅️ Back', /suspended/], ['🧪 Check', /does not accept valid events/]);
  receiver.answer(withStatus(204));
  await owner.goes(['🧪 Check', /suspended and are active again/]);
  await owner.reads(/Webhooks are active again/);
  expect(await sql`SELECT suspended_at FROM endpoints`).toEqual([{ suspended_at: null }]);
});

test('endpoints: add, choose the kinds of events, secret, check, and remove once confirmed', async () => {
  const { owner, partnerId } = await ownerOf('Several');
  const [first, second] = [await startReceiver(), await startReceiver()];
  await setWebhook(audit, createVault(keyring), partnerId, first.url);
  await owner.goes(
    ['📬 Webhook', /Status: ✅ active/],
    ['➕ Add an endpoint', /Which payments/],
    ['Test', /Type the URL/],
  );
  await owner.writes('ftp://example.com', /cannot be used/);
  await owner.writes(second.url, /gets events from now on/);
  await owner.reads(/Mode: test/);

  await owner.goes(['☑️ payment.failed', ({ buttons }) => buttons.flat().includes('⬜ payment.failed')]);
  expect(await owner.presses('☑️ payment.succeeded')).toMatch(/at least one kind/);
  await owner.goes(['⬜ payment.refunded', ({ buttons }) => buttons.flat().includes('☑️ payment.refunded')]);
  const endpoints = async () =>
    (await listWebhooks(pool, partnerId)).map(({ url, mode, events }) => [url, mode, events]);
  expect(await endpoints()).toEqual([
    [first.url, null, ['payment.succeeded', 'payment.failed']],
    [second.url, 'test', ['payment.succeeded', 'payment.refunded']],
  ]);

  await owner.goes(['🧪 Check', /Webhook check/]);
  expect([first.received.length, second.received.length]).toEqual([0, 5]);

  const { text } = await owner.goes(['📬 Webhook', /Endpoints:/]);
  expect(text).toContain(`2. ✅ ${second.url} (test)`);
  await owner.goes(
    ['2. test', /Mode: test/],
    ['🗑 Remove', /are removed too/],
    ['🗑 Remove', /Status: ✅ active/],
  );
  expect(await endpoints()).toHaveLength(1);
});

test('balance: limits, top-up, history, refill once a day, a low-balance alert', async () => {
  const { owner, partnerId } = await ownerOf('Money');
  await approveLive(audit, partnerId);
  await owner.press('💰 Balance');
  await owner.reads(
    /Test: 10,000\.000000 USDT[\s\S]*Amount per payment: 10\.00 to 100,000\.00 RUB[\s\S]*Low-balance alert: off/,
  );
  await owner.goes(
    ['➕ Top up', new RegExp(partnerId)],
    ['⬅️ Back', /Amount per payment/],
    ['🧪 Refill test balance', /Test: 20,000\.000000/],
  );
  expect(await owner.presses('🧪 Refill test balance')).toMatch(/once a day/);
  await owner.goes(
    ['📜 Top-up history', /kopeck: test balance of/],
    ['⬅️ Back', /Amount per payment/],
    ['🪫 Low-balance alert', /At what live balance/],
  );
  await owner.writes('a lot', /positive number/);
  await owner.writes('99,5', /below 99\.500000 USDT/);
  await owner.reads(/Low balance \(live\): 0\.000000 USDT/);
});

test('payments: recent ones, one by its id, by external_id, and none of another partner', async () => {
  const { owner, partnerId } = await ownerOf('Payer');
  const api = partnerAt(address, await issueKey(pool, partnerId, 'test'));
  const paid = await api.pay({ qr_url: newLink(30_510), external_id: 'order-1' });
  await api.pay({ qr_url: newLink(10_001), external_id: 'order-2' });
  await owner.goes(
    ['🧾 Payments', /no live payments/],
    ['🧪 Test', screen => screen.buttons.flat().includes('✅ 305.10 ₽ order-1')],
    ['❌ 100.01 ₽ order-2', /failed, gateway_declined[\s\S]*USDT were returned/],
    ['⬅️ Back', /Latest test payments/],
    ['🔎 Find', /Type a payment ID/],
  );
  await owner.writes('nothing', /No payment found/);
  await owner.writes('order-1', /succeeded[\s\S]*This status is final/);

  const other = await ownerOf('Nosy');
  await other.owner.goes(['🧾 Payments', /no live/], ['🔎 Find', /Type a payment ID/]);
  await other.owner.writes(paid.json.id, /No payment found/);
});

test('rate: a number and a picture; a QR link and a photo are resolved and nothing is paid', async () => {
  const { owner } = await ownerOf('Codes', 'ru');
  const rate = await owner.goes(['📈 Курс', /92,5000 ₽ за 1 USDT/]);
  expect(rate.message.photo).toBeDefined();
  const link = newLink(18_500);
  await owner.writes(link, /Сумма: 185,00 ₽\nПо текущему курсу: 2,000000 USDT[\s\S]*Ничего не оплачено/);
  await owner.sendPhoto(drawQr(link));
  await owner.reads(/Сумма: 185,00 ₽[\s\S]*Ничего не оплачено/);
  await owner.sendPhoto(drawQr('no link at all'));
  await owner.reads(/Это не ссылка/);
  await owner.writes('https://example.com/', /Это не ссылка/);
});

test('settings: language and mute', async () => {
  const { owner } = await ownerOf('Quiet');
  await owner.goes(
    ['⚙️ Settings', /Security notifications cannot be muted/],
    ['🔔 Top-ups', screen => screen.buttons.flat().includes('🔕 Top-ups')],
    ['🌐 Язык / Language', /Выберите язык/],
    ['🇷🇺 Русский', /Ваша роль: владелец/],
  );
});
