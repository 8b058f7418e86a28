import { beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { Id } from '../../src/base/ids.ts';
import { credit } from '../../src/ledger/index.ts';
import { createPaymentWriter } from '../../src/payments/store.ts';
import { createDatabase } from '../helpers/database.ts';
import { openingsOf } from '../helpers/openings.ts';
import { createPast, maintainInProcess } from './archive-world.ts';

const { pool, url } = await createDatabase();
const past = await createPast(pool, '2025-01-10T00:00:00Z');
const partners: Id<'prt'>[] = [];
const old: Awaited<ReturnType<typeof past.pay>>[] = [];
const paymentsPerMonth = 100;

beforeAll(async () => {
  for (let nth = 0; nth < 2; nth++) partners.push(await past.newPartner());
  for (let month = 1; month <= 2; month++) {
    past.at(`2025-0${month}-15T00:00:00Z`);
    const shops = Array.from({ length: paymentsPerMonth }, (_, nth) => partners[nth % 2]!);
    old.push(...(await Promise.all(shops.map(partnerId => past.pay(partnerId)))));
  }
});

/** Payments go on, and old requests are repeated, until it is over. */
async function load(isOver: () => boolean): Promise<number> {
  const writer = createPaymentWriter(pool, systemClock);
  const opening = await openingsOf(pool, systemClock);
  let paid = 0;
  for (let nth = 0; !isOver(); nth++) {
    const partnerId = partners[nth % 2]!;
    const payment = opening(partnerId);
    const { idempotencyKey, paymentId, partnerId: owner } = old[(nth * 37) % old.length]!;
    const [opened, repeated, [credited]] = await Promise.all([
      writer.open(payment),
      writer.open(opening(owner, { idempotencyKey })),
      credit(pool, systemClock, [{ partnerId, mode: 'live', reference: 'funding', microUsdt: 10n ** 12n }]),
    ]);
    expect(opened.verdict).toBe('opened');
    expect(repeated).toMatchObject({ verdict: 'known', paymentId });
    expect(credited!.outcome).toBe('already_credited');
    const { mode } = payment;
    const finished = { partnerId, mode, paymentId: payment.paymentId, outcome: 'succeeded' } as const;
    expect(await writer.finish(finished)).toMatchObject({ changed: true });
    paid++;
  }
  return paid;
}

const total = async (table: string) =>
  (await pool.query(`SELECT count(*)::int AS count FROM ${table}`)).rows[0].count as number;

test('killed twice under load, the archive loses and doubles nothing, and continues', async () => {
  let isOver = false;
  const paying = load(() => isOver);
  try {
    for (const kills of [1, 2]) {
      expect(await maintainInProcess('archive', url, kills)).toBe('');
      expect(await past.findings()).toEqual([]);
      expect(await total('payments_archive')).toBeLessThan(old.length);
    }
    expect(await maintainInProcess('archive', url)).toBe('done');
  } finally {
    isOver = true;
  }
  const paid = await paying;
  expect(paid).toBeGreaterThan(0);
  expect(await past.findings()).toEqual([]);
  expect([await total('payments'), await total('payments_archive')]).toEqual([paid, old.length]);
  expect([await total('events'), await total('events_archive')]).toEqual([paid, old.length]);
  // Each old payment has two entries; each partner has its credit and its grant.
  expect([await total('entries'), await total('entries_archive')]).toEqual([2 * paid, 2 * old.length + 4]);
});

test('a second run at the same time is refused', async () => {
  const client = await pool.connect();
  await client.query('SELECT pg_advisory_lock(7310861002)');
  past.at('2026-01-01T00:00:00Z');
  expect(await past.archive('2025-03')).toEqual({ outcome: 'under_way' });
  client.release(true);
});
