import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { startHere } from '../helpers/cli.ts';
import { newFolder } from '../helpers/folders.ts';
import { secretKey } from '../helpers/partners.ts';
import { createBotWorld } from './setup.ts';

const { pool, sql, url, telegram, ownerOf, logged, start, stop } = await createBotWorld();

afterEach(telegram.clearFaults);

/** Far below the library's timeout, and above what the bot may take. */
const boundMs = 8_000;

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

const callsOf = (method: string) => telegram.calls.filter(call => call.method === method).length;

test('one chat in which Telegram does not answer delays nobody else', async () => {
  const slow = await ownerOf('Slow');
  const quick = await ownerOf('Quick');
  telegram.fail({ kind: 'hang' }, { chatId: slow.owner.account.id, times: 100 });
  await slow.owner.press('💰 Balance');
  // Not in the same batch of updates.
  await sleep(300);
  await quick.owner.goes(['💰 Balance', /Amount per payment/]);
});

test('graceful shutdown is quick although Telegram does not answer, in conversations and in the outbox', async () => {
  const { owner } = await ownerOf('Stopped');
  const chatId = owner.account.id;
  telegram.fail({ kind: 'hang' }, { method: 'sendMessage', chatId, times: 100 });
  telegram.fail({ kind: 'hang' }, { method: 'deleteMessage', chatId, times: 100 });
  await sql`INSERT INTO chat_jobs (chat_id, task, created_at, due_at)
     VALUES (${chatId}, '{"do":"delete","messageId":1}', now(), now())`;
  const sent = callsOf('sendMessage');
  await owner.send('/menu');
  await expect.poll(() => callsOf('sendMessage')).toBeGreaterThan(sent);
  await expect.poll(() => callsOf('deleteMessage')).toBeGreaterThan(0);
  telegram.fail({ kind: 'hang' }, { method: 'getUpdates', times: 100 });
  expect(await timed(stop)).toBeLessThan(boundMs);
});

test('every failed getMe is logged; then the bot gets ready', async () => {
  await stop();
  await pool.query('DELETE FROM chat_jobs');
  telegram.fail({ kind: 'serverError', status: 502 }, { method: 'getMe' });
  telegram.fail({ kind: 'disconnect' }, { method: 'deleteWebhook' });
  logged.length = 0;
  const before = callsOf('getMe');
  start();
  await expect.poll(() => logged.filter(line => /'getMe' failed/.test(line)).length).toBe(1);
  expect(callsOf('getMe')).toBe(before + 1);
  await expect.poll(() => logged.join('\n')).toMatch(/'deleteWebhook' failed[\s\S]*the bot is ready/);
});

test('the bot can be stopped while getMe hangs', async () => {
  await stop();
  telegram.fail({ kind: 'hang' }, { method: 'getMe' });
  const before = callsOf('getMe');
  start();
  await expect.poll(() => callsOf('getMe')).toBe(before + 1);
  expect(await timed(stop)).toBeLessThan(boundMs);
});

test('graceful shutdown of the service is quick while a webhook update is being handled', async () => {
  const secret = 'a-secret-of-the-tests';
  const service = await startHere({
    ...{ DATABASE_URL: url, DATA_DIR: newFolder(), ROLES: 'api,bot', DRAIN_SEC: '0' },
    ...{ GATEWAY_URL: 'http://127.0.0.1:1', RATE_SOURCES: 'fixed:92.50', SECRET_KEY: secretKey },
    ...{ TELEGRAM_BOT_TOKEN: telegram.token, TELEGRAM_API_ROOT: telegram.root },
    TELEGRAM_WEBHOOK_URL: 'https://kopeck.example/telegram/updates',
    TELEGRAM_WEBHOOK_SECRET: secret,
  });
  const user = telegram.user({ firstName: 'Waiting', languageCode: 'en' });
  telegram.fail({ kind: 'hang' }, { chatId: user.account.id, times: 100 });
  const before = callsOf('sendMessage');
  const bringing = fetch(`${service.address}/telegram/updates`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': secret },
    body: JSON.stringify({
      update_id: 1,
      message: {
        message_id: 1,
        date: 0,
        chat: { id: user.account.id, type: 'private', first_name: 'Waiting' },
        from: user.account,
        text: '/start',
      },
    }),
  });
  await expect.poll(() => callsOf('sendMessage')).toBeGreaterThan(before);
  expect(await timed(service.stop)).toBeLessThan(boundMs);
  expect((await bringing).status).toBe(200);
});
