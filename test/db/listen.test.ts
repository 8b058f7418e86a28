import { afterAll, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { listen } from '../../src/db/postgres/listen.ts';
import { createDatabase, sharedDatabase } from '../helpers/database.ts';
import { openThroughSilentProxy } from '../helpers/silent-proxy.ts';

const { pool } = await sharedDatabase();

test('a listener gets messages', async () => {
  let messages = 0;
  const listener = listen({ pool, clock: systemClock }, 'news', () => {
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
  const listener = listen({ pool: cut.pool, clock: systemClock }, 'news', () => {
    messages += 1;
  });
  afterAll(listener.close);
  await expect.poll(listener.isListening).toBe(true);
  cut.fallSilent();
  await expect.poll(listener.isListening).toBe(false);
  const before = messages;
  cut.restore();
  // Called once for whatever it missed.
  await expect.poll(() => messages).toBe(before + 1);
  expect(listener.isListening()).toBe(true);
}, 30_000);

test('listeners of one pool share a session, and one that is closed leaves the others', async () => {
  const { pool } = await createDatabase();
  const messages: string[] = [];
  const listeners = ['first', 'second'].map(name =>
    listen({ pool, clock: systemClock }, name, () => messages.push(name)),
  );
  await expect.poll(() => listeners.every(one => one.isListening())).toBe(true);
  // Added to a session that is there already.
  const late = listen({ pool, clock: systemClock }, 'late', () => messages.push('late'));
  await expect.poll(late.isListening).toBe(true);
  const ours = `SELECT FROM pg_stat_activity
                 WHERE datname = current_database() AND application_name = 'kopeck listener'`;
  const sessions = async () => (await pool.query(ours)).rowCount;
  expect(await sessions()).toBe(1);
  await listeners[0]!.close();
  messages.length = 0;
  for (const name of ['first', 'second', 'late']) await pool.query(`NOTIFY ${name}`);
  await expect.poll(() => messages).toEqual(['second', 'late']);
  await listeners[1]!.close();
  await late.close();
  await expect.poll(sessions).toBe(0);
});
