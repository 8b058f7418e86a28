import { beforeAll, expect, test } from 'vitest';
import { uuidFromId } from '../../../src/base/ids.ts';
import { verifyLedger } from '../../../src/ledger/index.ts';
import { archiveMonths } from '../../../src/payments/index.ts';
import { createPartnerWithKeys, newLink, partnerAt, setRate, startApi } from '../../helpers/api.ts';
import { endOfTime, manualClock } from '../../helpers/clock.ts';
import { auditContextOf, createDatabase } from '../../helpers/database.ts';
import { shardCount } from '../../helpers/shards.ts';

const { pool } = await createDatabase();
const clock = manualClock('2026-01-20T10:00:00Z');
const { address } = await startApi({ pool, clock });
const months = ['2026-01-20', '2026-02-10'];

const customers: Awaited<ReturnType<typeof createPartnerWithKeys>>[] = [];
for (let nth = 0; nth < shardCount; nth++) customers.push(await createPartnerWithKeys(pool));
const callers = customers.map(({ testKey }) => partnerAt(address, testKey));

/** All that a partner reads of its past. */
async function read(partner: (typeof callers)[number]): Promise<string[]> {
  const texts: string[] = [];
  for (const path of [
    '/v1/payments?limit=100',
    '/v1/events?limit=100',
    ...months.map(day => `/v1/statement?day=${day}`),
  ])
    texts.push((await partner.get(path)).text.replace(/"req_\w+"/g, '"req"'));
  return texts;
}

const requests: { qr_url: string }[] = [];
beforeAll(async () => {
  for (const month of months) {
    clock.advance(Date.parse(`${month}T12:00:00Z`) - clock.nowMs());
    await setRate(pool, clock);
    const body = { qr_url: newLink(10_000) };
    requests.push(body);
    for (const partner of callers) {
      expect((await partner.pay(body, `key of ${month}`)).json.status).toBe('succeeded');
      expect((await partner.pay({ qr_url: newLink(10_001) })).json.status).toBe('failed');
    }
  }
  clock.advance(Date.parse('2026-06-01T00:00:00Z') - clock.nowMs());
});

test('a month of every shard goes to the archive, and partners read the same', async () => {
  const before = await Promise.all(callers.map(read));
  const archived = await archiveMonths(auditContextOf(pool, clock), { before: new Date('2026-02-01') });
  expect(archived).toMatchObject({ outcome: 'archived', payments: 2 * shardCount, events: 2 * shardCount });
  for (const { partnerId } of customers) {
    const { rows } = await pool.query(
      `SELECT (SELECT count(*)::int FROM payments WHERE partner_id = $1) AS live,
              (SELECT count(*)::int FROM payments_archive WHERE partner_id = $1) AS archived`,
      [uuidFromId(partnerId)],
    );
    expect(rows).toEqual([{ live: 2, archived: 2 }]);
  }
  expect(await Promise.all(callers.map(read))).toEqual(before);
  expect((await verifyLedger(pool, { now: endOfTime })).findings).toEqual([]);
});

test('a key of the archive is known in every shard', async () => {
  await setRate(pool, clock);
  for (const partner of callers) {
    const { headers, json } = await partner.pay(requests[0]!, `key of ${months[0]}`);
    expect([json.status, headers.get('idempotent-replayed')]).toEqual(['succeeded', 'true']);
  }
});

test('the next month follows', async () => {
  const archived = await archiveMonths(auditContextOf(pool, clock), { before: new Date('2026-03-01') });
  expect(archived).toMatchObject({ outcome: 'archived', payments: 2 * shardCount });
  expect((await verifyLedger(pool, { now: endOfTime })).findings).toEqual([]);
});
