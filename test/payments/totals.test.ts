import { describe, expect, test } from 'vitest';
import { type PaymentFilter, readSearchWords, totalPayments } from '../../src/payments/index.ts';
import { createDatabase, createFundedPartner } from '../helpers/database.ts';
import { storeManyPayments } from '../helpers/many-payments.ts';
import { explaining } from '../helpers/plans.ts';
import { openInReview } from '../helpers/review.ts';

const { pool } = await createDatabase();
const { partners, firstAt } = await storeManyPayments(pool, 30_000);
const reviewed = await createFundedPartner(pool, 1_000_000_000n);
for (let nth = 0; nth < 3; nth++) await openInReview(pool, reviewed, { amountKopecks: 777_700n });
const qrHosts = ['qr.nspk.ru'];

/** The same by brute force. */
async function expected(condition: string, values: unknown[] = []) {
  const { rows } = await pool.query(
    `SELECT mode, CASE WHEN status = 'processing' AND status_detail = 'manual_review' THEN 'manual_review' ELSE status::text END
              AS state, count(*)::int AS count, sum(amount_kopecks)::bigint AS kopecks, sum(micro_usdt)::bigint AS "microUsdt"
       FROM payments p WHERE NOT rejected AND ${condition} GROUP BY 1, 2`,
    values,
  );
  return inOrder(rows);
}
const inOrder = <Row extends { mode: string; state: string }>(rows: Row[]) =>
  rows.toSorted((one, other) => `${one.mode} ${one.state}`.localeCompare(`${other.mode} ${other.state}`));
const untilMs = firstAt.getTime() + 1_000_000;

describe('totals', () => {
  test.each([
    ['of a period', { createdBefore: new Date(untilMs) }, 'created_at < $1', [new Date(untilMs)]],
    [
      'of a partner',
      { partnerName: 'Shop 3' },
      `partner_id = (SELECT id FROM partners WHERE name = 'Shop 3')`,
      [],
    ],
    ['of what failed', { status: 'failed' }, `status = 'failed'`, []],
    ['of what is processing', { status: 'processing' }, `status = 'processing'`, []],
    ['in test mode', { mode: 'test' }, `mode = 'test'`, []],
    ['of rare recipients', { recipient: 'ромашка 70' }, `recipient LIKE 'Ромашка 70%'`, []],
    ['of nothing', { externalId: 'none' }, 'false', []],
  ] as [string, PaymentFilter, string, unknown[]][])('%s', async (_name, filter, condition, values) => {
    const { totals, isComplete } = await totalPayments(pool, [filter]);
    expect(inOrder(totals)).toEqual(await expected(condition, values));
    expect(isComplete).toBe(true);
  });

  test('a payment that several readings of the search text match is counted once', async () => {
    // Both an external id and the beginning of a name.
    await pool.query(`UPDATE payments SET external_id = 'Ромашка 70' WHERE recipient = 'Ромашка 70'`);
    const filters = readSearchWords('Ромашка 70', qrHosts);
    expect(filters.length).toBeGreaterThan(1);
    const { totals } = await totalPayments(pool, filters);
    expect(inOrder(totals)).toEqual(await expected(`recipient LIKE 'Ромашка 70%'`));
  });

  test('of too many payments only the newest are counted, in scans along an index', async () => {
    const { db, blocks, scanned } = explaining(pool);
    const { totals, isComplete } = await totalPayments(db, [{}]);
    expect(isComplete).toBe(false);
    expect(totals.reduce((sum, { count }) => sum + count, 0)).toBe(20_000);
    expect(blocks()).toHaveLength(10);
    expect(Math.max(...blocks())).toBeLessThan(4_500);
    expect(scanned()).not.toContain('payments');
    expect((await totalPayments(pool, [{ partnerId: partners[3]! }])).isComplete).toBe(true);
  });
});
