import { test as base, describe, expect } from 'vitest';
import { idFromUuid, minUuidAt, uuidFromId } from '../../src/base/ids.ts';
import { type ListFilter, listPayments, listStatement } from '../../src/payments/search/list.ts';
import { createPartnerWithKeys, newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { manualClock } from '../helpers/clock.ts';
import { createDatabase } from '../helpers/database.ts';
import { storeManyPayments } from '../helpers/many-payments.ts';

const { pool } = await createDatabase();
// Ahead of the clock of this machine, since ids never go back within a process.
const clock = manualClock('2031-05-05T10:00:00.000Z');
const { address } = await startApi({ pool, clock });

async function newPartner() {
  const { partnerId, testKey, liveKey } = await createPartnerWithKeys(pool);
  const partner = partnerAt(address, testKey);
  const pay = async (fields: object = {}, kopecks = 10_000): Promise<string> => {
    await setRate(pool, clock);
    return (await partner.pay({ qr_url: newLink(kopecks), ...fields })).json.id;
  };
  const find = async (query: Record<string, string>) => {
    const { status, json } = await partner.get(`/v1/payments?${new URLSearchParams(query)}`);
    return status === 200 ? json.data.map(({ id }: { id: string }) => id) : json.detail;
  };
  return { ...partner, partnerId, liveKey, pay, find };
}
const now = () => new Date(clock.nowMs()).toISOString();
const test = base.extend('partner', () => newPartner());

describe('payments are found', () => {
  test('by external_id, newest first, only of this partner and mode', async ({ partner }) => {
    const [first, , third] = [
      await partner.pay({ external_id: 'order 1/2 & ü' }),
      await partner.pay({ external_id: 'order' }),
      await partner.pay({ external_id: 'order 1/2 & ü' }),
    ];
    const otherPartner = await newPartner();
    await otherPartner.pay({ external_id: 'order 1/2 & ü' });
    expect(await partner.find({ external_id: 'order 1/2 & ü' })).toEqual([third, first]);
    expect(await partner.find({ external_id: 'ORDER' })).toEqual([]);
    expect(await partner.find({ external_id: '' })).toEqual([]);
    const live = await partnerAt(address, partner.liveKey).get('/v1/payments?external_id=order');
    expect(live.json.data).toEqual([]);
  });

  test('by time, that of `created_after` included and that of `created_before` not', async ({ partner }) => {
    const times: string[] = [];
    const ids: string[] = [];
    for (let nth = 0; nth < 4; nth++) {
      times.push(now());
      ids.push(await partner.pay());
      clock.advance(60_000);
    }
    const [, second, third] = times as [string, string, string];
    expect(await partner.find({ created_after: second })).toEqual([ids[3], ids[2], ids[1]]);
    expect(await partner.find({ created_before: third })).toEqual([ids[1], ids[0]]);
    expect(await partner.find({ created_after: second, created_before: third })).toEqual([ids[1]]);
    expect(await partner.find({ created_after: third, created_before: second })).toEqual([]);
    // The payment was created 0.1 ms before this time, so it is excluded.
    const justAfter = third.replace('Z', '100Z');
    expect(await partner.find({ created_after: justAfter })).toEqual([ids[3]]);
    expect(await partner.find({ created_before: justAfter })).toEqual([ids[2], ids[1], ids[0]]);
  });

  test('by a time as the API writes it, in any offset, and with a bare plus', async ({ partner }) => {
    const id = await partner.pay();
    const { created_at } = (await partner.get(`/v1/payments/${id}`)).json;
    expect(await partner.find({ created_after: created_at })).toEqual([id]);
    expect((await partner.get(`/v1/payments?created_after=${created_at}`)).json.data).toHaveLength(1);
    const inMoscow = new Date(clock.nowMs() + 3 * 3_600_000).toISOString().replace('Z', '+03:00');
    expect(await partner.find({ created_after: inMoscow })).toEqual([id]);
    expect(await partner.find({ created_before: inMoscow })).toEqual([]);
  });

  test('by all of it at once, page by page', async ({ partner }) => {
    const from = now();
    const ids: string[] = [];
    for (let nth = 0; nth < 6; nth++) {
      ids.push(await partner.pay({ external_id: 'one' }, nth % 2 ? 10_001 : 10_000));
      await partner.pay({ external_id: 'other' });
      clock.advance(1_000);
    }
    const query = { external_id: 'one', status: 'failed', created_after: from, limit: '2' };
    expect(await partner.find(query)).toEqual([ids[5], ids[3]]);
    expect(await partner.find({ ...query, starting_after: ids[3]! })).toEqual([ids[1]]);
    const page = await partner.get(`/v1/payments?${new URLSearchParams(query)}`);
    expect(page.json).toMatchObject({ has_more: true, next_cursor: ids[3] });
  });

  test.each([
    ['created_after', '2026-11-15T10:00:00'],
    ['created_before', '2026-11-15T10:00:00+25:00'],
    ['created_before', ''],
    ['external_id', 'a\0b'],
    ['external_id', 'x'.repeat(129)],
  ])('and not by %s = %j', async (name, value) => {
    const partner = await newPartner();
    expect(await partner.find({ [name]: value })).toEqual([
      { loc: ['query', name], msg: expect.any(String), type: expect.any(String) },
    ]);
  });
});

type Partner = `prt_${string}`;

describe('with many payments', async () => {
  const { partners, firstAt } = await storeManyPayments(pool, 50_000, 3);
  const planFor = async (partnerId: Partner, filter: object) => {
    const { text, values } = listStatement({ partnerId, mode: 'live' }, { limit: 50, ...filter });
    const { rows } = await pool.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, values);
    const plan = rows[0]['QUERY PLAN'][0].Plan;
    return { text: JSON.stringify(plan), blocks: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'] };
  };

  test('along an index, however many there are', async () => {
    const planOf = (filter: object) => planFor(partners[0]!, filter);
    const named = await planOf({ externalId: 'order-30003' });
    expect(named.text).toContain('"Index Name":"payments_by_external_id"');
    const middle = firstAt.getTime() + 2_500_000;
    const minute = await planOf({ createdFrom: new Date(middle), createdBefore: new Date(middle + 60_000) });
    const after = idFromUuid('pay', '00000000-0000-7000-8000-000000000000');
    const nothing = await planOf({ startingAfter: after, createdFrom: new Date(middle) });
    for (const { text, blocks } of [named, minute, nothing]) {
      expect(text).not.toContain('Seq Scan');
      // The table has some thousand blocks.
      expect(blocks).toBeLessThan(1_200);
    }
    // A few blocks of each index; how many depends on what autovacuum has done so far.
    expect(named.blocks).toBeLessThan(100);
  });

  describe('a page of one status reads no more than a page of all:', async () => {
    const [rare, refused, open] = partners as [Partner, Partner, Partner];
    const early = minUuidAt(firstAt.getTime() + 60_000);
    const since = new Date(firstAt.getTime() + 1_000_000);
    const change = (partnerId: Partner, set: string, condition: string) =>
      pool.query(`UPDATE payments SET ${set} WHERE partner_id = $1 AND mode = 'live' AND ${condition}`, [
        uuidFromId(partnerId),
      ]);
    const notEarly = `status = 'failed' AND id > '${early}'`;
    await pool.query('ALTER TABLE payments DISABLE TRIGGER USER');
    await pool.query(`DELETE FROM payments WHERE partner_id = $1 AND id > $2`, [
      uuidFromId(open),
      minUuidAt(firstAt.getTime() + 1_000_000),
    ]);
    await change(rare, `status = 'succeeded', status_detail = NULL, error_code = NULL`, notEarly);
    // Nearly all its attempts were refused before they became payments.
    await change(refused, `status = 'rejected', rejected = true`, notEarly);
    await change(
      refused,
      `status = 'rejected', rejected = true, error_code = 'gateway_declined'`,
      `status = 'succeeded' AND id > '${early}'`,
    );
    const { rows } = await pool.query(
      `SELECT id, qrc_id FROM payments WHERE partner_id = $1 AND mode = 'live' AND status = 'succeeded' ORDER BY id LIMIT 80`,
      [uuidFromId(open)],
    );
    const ids = rows.map(({ id }) => id);
    await change(
      open,
      `status = 'processing', status_detail = 'awaiting_gateway', settled_at = NULL`,
      `id = ANY ('{${ids}}')`,
    );
    await pool.query(
      `INSERT INTO open_payments (scope, qrc_id, partner_id, mode, payment_id, awaiting_gateway, next_at)
         SELECT '00000000-0000-0000-0000-000000000000', qrc_id, partner_id, mode, id, true, 'infinity'
           FROM payments WHERE id = ANY ($1)`,
      [ids],
    );
    await pool.query('VACUUM ANALYZE payments, open_payments');
    const size = await pool.query("SELECT relpages AS blocks FROM pg_class WHERE relname = 'payments'");
    const tableBlocks: number = size.rows[0].blocks;

    test.each<[string, Partner, ListFilter['status'], Partial<ListFilter>]>([
      ['failures of long ago', rare, 'failed', {}],
      ['failures since a day without any', rare, 'failed', { createdFrom: since }],
      ['failures among refused attempts', refused, 'failed', {}],
      ['open for long', open, 'processing', {}],
      ['open for long, the second page', open, 'processing', { startingAfter: idFromUuid('pay', ids[50]) }],
      ['none is open', rare, 'processing', {}],
      ['all, before a time', refused, undefined, { createdBefore: new Date(firstAt.getTime() + 30_000) }],
      ['all, the last of them long ago', open, undefined, {}],
      ['succeeded, the last of them long ago', open, 'succeeded', {}],
    ])('%s', async (_name, partnerId, status, filter) => {
      const account = { partnerId, mode: 'live' as const };
      const { text, blocks } = await planFor(partnerId, { status, ...filter });
      // Of open payments there are so few that reading all of them may cost least.
      expect(text).not.toMatch(/"Seq Scan"[^}]*"Relation Name":"payments"/);
      expect(blocks).toBeLessThan(tableBlocks / 6);

      const after = filter.startingAfter ? uuidFromId(filter.startingAfter) : null;
      const bruteForce = await pool.query(
        `SELECT id FROM payments
          WHERE partner_id = $1 AND mode = 'live' AND NOT rejected
            AND ($2::payment_status IS NULL OR status = $2) AND ($3::uuid IS NULL OR id < $3)
            AND ($4::timestamptz IS NULL OR created_at >= $4) AND ($5::timestamptz IS NULL OR created_at < $5)
          ORDER BY id DESC`,
        [uuidFromId(partnerId), status, after, filter.createdFrom, filter.createdBefore],
      );
      const { payments, hasMore } = await listPayments(pool, account, { limit: 50, status, ...filter });
      const expected = bruteForce.rows.map(({ id }) => idFromUuid('pay', id));
      expect(payments.map(({ paymentId }) => paymentId)).toEqual(expected.slice(0, 50));
      expect(hasMore).toBe(expected.length > 50);
    });
  });
});
