import { afterAll, expect, test } from 'vitest';
import { listen } from '../../src/db/listen.ts';
import { createDatabase } from '../helpers/database.ts';
import { openThroughSilentProxy } from '../helpers/silent-proxy.ts';

const { pool } = await createDatabase();

test('a listener gets messages', async () => {
  let messages = 0;
  const listener = listen(pool, 'news', () => {
    messages += 1;
  });
  afterAll(listener.close);
  await expect.poll(listener.isListening).toBe(true);
  const before = messages;
  await pool.query('NOTIFY news');
  await expect.poll(() => messages).toBe(before + 1);
});

test('a listener whose connection is cut without a packet does not claim to listen, and connects again', async () => {
  const cut = await openThroughSilentProxy(pool);
  let messages = 0;
  const listener = listen(cut.pool, 'news', () => {
    messages += 1;
  });
  afterAll(listener.close);
  await expect.poll(listener.isListening).toBe(true);
  cut.fallSilent();
  await expect.poll(listener.isListening, { timeout: 10_000 }).toBe(false);
  const before = messages;
  cut.restore();
  // Called once for whatever it missed.
  await expect.poll(() => messages, { timeout: 10_000 }).toBe(before + 1);
  expect(listener.isListening()).toBe(true);
}, 30_000);
