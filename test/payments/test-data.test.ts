import { beforeAll, describe, expect, test } from 'vitest';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import { credit, openStatement, readBalances, writeStatement } from '../../src/ledger/index.ts';
import { createPaymentSignals, pruneTestData, refundTestPayment } from '../../src/payments/index.ts';
import { resendEvent } from '../../src/webhooks/index.ts';
import { newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { auditContextOf, createDatabase, issueKey } from '../helpers/database.ts';
import { createPast } from './archive-world.ts';

const test90 = { keptDays: 90 };
const inTest = { mode: 'test' } as const;

describe.each([
  ['in the live tables', false],
  ['in the archive', true],
])('old test data %s', (_where, isArchived) => {
  let past: Awaited<ReturnType<typeof createPast>>;
  let pool: Awaited<ReturnType<typeof createDatabase>>['pool'];
  let partnerId: Id<'prt'>;
  type Payment = Awaited<ReturnType<typeof past.open>>;
  let [old, oldLive, unfinished]: Payment[] = [];
  const prune = () => pruneTestData(pool, past.clock, test90);

  const rowsOf = async (mode: 'live' | 'test') => {
    const counts: Record<string, number> = {};
    for (const table of ['all_payments', 'all_events', 'all_entries', 'deliveries', 'archived_keys']) {
      const { rows } = await pool.query(
        `SELECT count(*)::int AS count FROM ${table} WHERE partner_id = $1 AND mode = $2`,
        [uuidFromId(partnerId), mode],
      );
      counts[table.replace('all_', '')] = rows[0].count;
    }
    return counts;
  };
  const statementOf = async (day: string) => {
    const statement = await openStatement(pool, past.clock, { partnerId, ...inTest }, new Date(day));
    if (typeof statement !== 'object') return statement;
    let text = '';
    for await (const piece of writeStatement(pool, statement, 'csv')) text += piece;
    return text;
  };
  const creditAgain = async (mode: 'live' | 'test') =>
    (await credit(pool, past.clock, [{ partnerId, mode, reference: 'funding', microUsdt: 10n ** 12n }]))[0];

  beforeAll(async () => {
    ({ pool } = await createDatabase());
    past = await createPast(pool);
    partnerId = await past.newPartner();
    await creditAgain('test');
    if (!isArchived) await past.addEndpoint(partnerId);
    old = await past.pay(partnerId, inTest);
    oldLive = await past.pay(partnerId);
    const declined = await past.open(partnerId, inTest);
    await past.writer.finish({ ...declined, outcome: 'failed', code: 'gateway_declined' });
    const rejected = await past.open(partnerId, inTest);
    await past.writer.finish({ ...rejected, outcome: 'rejected', code: 'gateway_busy' });
    past.at('2026-01-31T23:59:59.900Z');
    const overMidnight = await past.open(partnerId, inTest);
    past.at('2026-02-01T00:00:00.100Z');
    await past.finish(overMidnight);
    past.at('2026-02-10T00:00:00Z');
    unfinished = await past.open(partnerId, inTest);
    await past.pay(partnerId, inTest);
    await past.pay(partnerId);
    past.at('2026-05-01T23:59:00Z');
    if (isArchived) await past.archive('2026-03');
  });

  test('stays for 90 days', async () => {
    // Whole days go, and the first entries are of 20 January.
    const before = await rowsOf('test');
    past.at('2026-04-20T23:59:00Z');
    expect(await prune()).toBe(0);
    expect(await rowsOf('test')).toEqual(before);
    past.at('2026-05-02T12:00:00Z');
  });

  test('then goes with entries, events, deliveries and keys; what is unfinished or live stays', async () => {
    const live = await rowsOf('live');
    const balances = await readBalances(pool, partnerId);
    const days = ['2026-02-01', '2026-02-10', '2026-03-01'];
    const statements = await Promise.all(days.map(statementOf));
    expect(await prune()).toBe(3);

    // Entries: the holds of the payment over midnight and of the unfinished one, and those of February.
    expect(await rowsOf('test')).toEqual({
      ...{ payments: 3, events: 2, entries: 5 },
      ...(isArchived ? { deliveries: 0, archived_keys: 2 } : { deliveries: 2, archived_keys: 0 }),
    });
    expect(await rowsOf('live')).toEqual(live);
    expect(await readBalances(pool, partnerId)).toEqual(balances);
    expect(await Promise.all(days.map(statementOf))).toEqual(statements);
    expect(await statementOf('2026-01-31')).toBe('pruned');
    expect(await past.findings()).toEqual([]);
    expect(await prune()).toBe(0);
  });

  test('the key of a pruned payment and the reference of a pruned credit are free, in test mode only', async () => {
    const { idempotencyKey } = old!;
    expect(
      (await past.writer.open(await past.opening(partnerId, { ...inTest, idempotencyKey }))).verdict,
    ).toBe('opened');
    const live = await past.opening(partnerId, { idempotencyKey: oldLive!.idempotencyKey });
    expect(await past.writer.open(live)).toMatchObject({ verdict: 'known', paymentId: oldLive!.paymentId });
    expect(await creditAgain('test')).toMatchObject({ outcome: 'credited' });
    expect(await creditAgain('live')).toMatchObject({ outcome: 'already_credited' });
    expect(await past.findings()).toEqual([]);
  });

  test('a payment that is unfinished for months keeps only its own rows, and ends as usual', async () => {
    past.at('2026-05-20T00:00:00Z');
    expect(await prune()).toBe(2);
    expect(await rowsOf('test')).toMatchObject({ payments: 2, events: 0, entries: 3, deliveries: 0 });
    expect(await past.findings()).toEqual([]);
    expect(await past.finish(unfinished!)).toMatchObject({ changed: true, status: 'succeeded' });
    expect(await past.findings()).toEqual([]);
    past.at('2026-09-20T00:00:00Z');
    expect(await prune()).toBe(1);
    // The payment that was opened again with the old key is unfinished.
    expect(await rowsOf('test')).toMatchObject({ payments: 1, entries: 1, archived_keys: 0 });
    expect(await past.findings()).toEqual([]);
  });

  test('a wrong clock of a worker prunes nothing of the last seven days', async () => {
    past.at(new Date(Date.now() - 6 * 86_400_000).toISOString());
    await past.pay(partnerId, inTest);
    const before = await rowsOf('test');
    past.clock.advance(300 * 86_400_000);
    await expect(prune()).rejects.toThrow('is not seven days old');
    expect(await rowsOf('test')).toEqual(before);
  });
});

test('over the API a pruned payment is not found, its key makes a new one, and a feed goes on where it was', async () => {
  const { pool } = await createDatabase();
  const past = await createPast(pool);
  const { address } = await startApi({ pool, clock: past.clock });
  const partnerId = await past.newPartner();
  const shop = partnerAt(address, await issueKey(pool, partnerId, 'test'));
  const body = { qr_url: newLink(10_000) };
  const order = async (key: string) => {
    await setRate(pool, past.clock);
    return (await shop.pay(body, key)).json;
  };
  const eventsAfter = async (after: string) => {
    const { status, json } = await shop.get(`/v1/events?after=${after}`);
    return status === 200 ? json.data.map((event: { data: { id: string } }) => event.data.id) : status;
  };
  const first = await order('first');
  const second = await order('second');
  const { json: feed } = await shop.get('/v1/events');
  const [firstEvent, secondEvent] = feed.data.map((event: { id: string }) => event.id);
  past.at('2026-05-02T12:00:00Z');
  expect(await pruneTestData(pool, past.clock, test90)).toBe(2);

  expect((await shop.get(`/v1/payments/${first.id}`)).status).toBe(404);
  expect((await shop.get(`/v1/payments?starting_after=${second.id}`)).status).toBe(404);
  expect((await shop.get('/v1/statement?day=2026-01-20')).status).toBe(404);
  // Who has the last event has missed none. Who has an earlier one has, and must notice it.
  expect(await eventsAfter(secondEvent)).toEqual([]);
  expect((await shop.get('/v1/events?after=latest')).json.next_cursor).toBe(secondEvent);
  expect(await eventsAfter(firstEvent)).toBe(404);
  expect(await resendEvent(auditContextOf(pool, past.clock), BigInt(firstEvent.slice(4)))).toEqual({
    outcome: 'no_event',
  });

  const again = await order('first');
  expect(again).toMatchObject({ status: 'succeeded' });
  expect(again.id).not.toBe(first.id);
  expect(await eventsAfter(secondEvent)).toEqual([again.id]);
  expect(await eventsAfter('evt_0')).toEqual([again.id]);
  expect(await past.findings()).toEqual([]);
});

test('a refund stays on record when its payment goes, and later its entry', async () => {
  const { pool } = await createDatabase();
  const past = await createPast(pool);
  const partnerId = await past.newPartner();
  await past.addEndpoint(partnerId);
  await pool.query(`UPDATE endpoints SET events = events || '{payment.refunded}'`);
  const { paymentId } = await past.pay(partnerId, inTest);
  past.at('2026-03-10T00:00:00Z');
  const deps = { pool, clock: past.clock, signals: createPaymentSignals() };
  const wanted = { partnerId, paymentId, amountKopecks: undefined, reference: 'r' };
  expect(await refundTestPayment(deps, wanted)).toMatchObject({ outcome: 'refunded' });
  const count = async (what: string) =>
    (await pool.query(`SELECT count(*)::int AS count FROM ${what}`)).rows[0].count as number;
  expect(await count('deliveries')).toBe(2);

  past.at('2026-05-02T12:00:00Z');
  expect(await pruneTestData(pool, past.clock, test90)).toBe(1);
  expect([await count('deliveries'), await count("entries WHERE from_account = 'settled'")]).toEqual([0, 1]);
  expect(await past.findings()).toEqual([]);
  past.at('2026-07-02T12:00:00Z');
  expect(await pruneTestData(pool, past.clock, test90)).toBe(0);
  expect([await count('refunds'), await count("entries WHERE from_account = 'settled'")]).toEqual([1, 0]);
  expect(await past.findings()).toEqual([]);
  expect(await refundTestPayment(deps, wanted)).toEqual({ outcome: 'no_payment' });
});

test('numbers that were skipped after a lost history keep nothing back', async () => {
  const { pool } = await createDatabase();
  const past = await createPast(pool);
  const partnerId = await past.newPartner();
  for (let nth = 0; nth < 3; nth++) {
    await past.pay(partnerId, inTest);
    await pool.query(
      `SELECT incarnation_begin((SELECT coalesce(max(number), 0) FROM incarnations)::int, 's', 1, 'p', 'copy', now(), false,
                                1000, now())`,
    );
    await pool.query('UPDATE incarnations SET opened_at = now()');
  }
  await past.pay(partnerId, inTest);
  past.at('2026-05-02T12:00:00Z');
  expect(await pruneTestData(pool, past.clock, { ...test90, batchSize: 2 })).toBe(4);
  expect(await past.findings()).toEqual([]);
  const { rows } = await pool.query("SELECT count(*)::int AS count FROM entries WHERE mode = 'test'");
  expect(rows).toEqual([{ count: 0 }]);
});
