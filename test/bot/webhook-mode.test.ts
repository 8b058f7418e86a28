import { expect, test } from 'vitest';
import { startApi } from '../helpers/api.ts';
import { createDatabase } from '../helpers/database.ts';
import { ownerOf, startTestBot, type TestBot } from './setup.ts';

const { pool } = await createDatabase();
const path = '/telegram/updates';
const secret = 'a-secret-of-the-tests';
let world: TestBot;
const { address } = await startApi({
  pool,
  telegramReceiver: { path, secret, handle: update => world.first.receiver!.handle(update) },
});
world = await startTestBot({ pool, webhook: { url: `${address}${path}`, secret } });

test('Telegram sends updates to the port of the API', async () => {
  const { owner } = await ownerOf(world, pool, 'Hook');
  await owner.press('💰 Balance');
  await owner.reads(/Amount per payment/);
  expect(world.telegram.calls.some(({ method }) => method === 'getUpdates')).toBe(false);
  expect(world.first.receiver!.path).toBe(path);
});

test('without the secret the route answers 404', async () => {
  const forged = {
    update_id: 1,
    message: {
      message_id: 1,
      date: 0,
      chat: { id: 7, type: 'private' },
      from: { id: 7, is_bot: false, first_name: 'M' },
      text: '/start',
    },
  };
  for (const headers of [{}, { 'x-telegram-bot-api-secret-token': 'another' }]) {
    const response = await fetch(`${address}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(forged),
    });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: 'not_found' } });
  }
  const { rows } = await pool.query('SELECT FROM chat_users WHERE user_id = 7');
  expect(rows).toEqual([]);
});

test('a body that is no update, or is too large, is refused with an API error', async () => {
  const headers = {
    'content-type': 'application/json',
    'x-telegram-bot-api-secret-token': secret,
  };
  const tooLarge = JSON.stringify({ update_id: 1, padding: 'x'.repeat(1024 * 1024) });
  for (const body of ['{"update_id":', 'nonsense', '42', 'null', '', tooLarge]) {
    const response = await fetch(`${address}${path}`, { method: 'POST', headers, body });
    expect([body.slice(0, 20), response.status]).toEqual([body.slice(0, 20), 400]);
    expect(await response.json()).toEqual({
      error: {
        code: 'invalid_request',
        message: expect.any(String),
        request_id: response.headers.get('x-request-id'),
      },
    });
  }
});

test('updates are refused until getMe succeeds, and each failure is logged', async () => {
  const { receiver } = world.start();
  world.telegram.fail({ kind: 'serverError', status: 502 }, { method: 'getMe' });
  await expect(receiver!.handle({ update_id: 1 })).rejects.toThrow('does not answer getMe');
  expect(world.logged.filter(line => /'getMe' failed/.test(line))).toHaveLength(1);
  await receiver!.handle({ update_id: 1 });
});
