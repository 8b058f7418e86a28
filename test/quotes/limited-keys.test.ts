import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { count, startQuotesWorld } from './quotes-world.ts';

const { pool, writer, lock, paymentWith, newPartner, usedBy } = await startQuotesWorld();

test('a locked quote does not raise the daily limit of a key, and is not used by a payment beyond it', async () => {
  const partnerId = await newPartner();
  const keyLimit = { keyId: randomUUID(), dailyKopecks: 30_000n };
  const quotes = await Promise.all(Array.from({ length: 5 }, () => lock(partnerId)));
  const results = await Promise.all(
    quotes.map(quote => writer.open(paymentWith(partnerId, quote, { keyLimit }))),
  );
  expect(count(results.map(({ verdict }) => verdict))).toEqual({ opened: 2, key_daily_limit_exceeded: 3 });
  const used = await Promise.all(quotes.map(usedBy));
  expect(used.map(by => by !== null)).toEqual(results.map(({ verdict }) => verdict === 'opened'));
  const { rows } = await pool.query('SELECT kopecks FROM key_turnovers WHERE key_id = $1', [keyLimit.keyId]);
  expect(rows).toEqual([{ kopecks: 30_000n }]);
});

test('payments of keys with and without a limit share a batch', async () => {
  const partnerId = await newPartner();
  const keyLimit = { keyId: randomUUID(), dailyKopecks: 15_000n };
  const quotes = await Promise.all(Array.from({ length: 6 }, () => lock(partnerId)));
  const results = await Promise.all(
    quotes.map((quote, nth) => writer.open(paymentWith(partnerId, quote, nth % 2 ? { keyLimit } : {}))),
  );
  expect(count(results.map(({ verdict }) => verdict))).toEqual({ opened: 4, key_daily_limit_exceeded: 2 });
});
