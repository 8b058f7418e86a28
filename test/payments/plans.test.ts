import { expect, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { transaction } from '../../src/db/postgres/pool.ts';
import type { NewPayment } from '../../src/payments/openings.ts';
import { listPayments } from '../../src/payments/search/list.ts';
import { createPaymentWriter, finishAll } from '../../src/payments/store.ts';
import { createTimedDatabase, setRate } from '../helpers/database.ts';
import { startOpenings } from '../helpers/openings.ts';

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  'Scan Direction'?: string;
  Plans?: PlanNode[];
}

/**
 * The indexes of the tables that grow with payments and partners: those that find one row, the open ones of a
 * partner, or the deliveries of an event, of which an endpoint has one.
 */
const indexesOf: Record<string, string[]> = {
  payments: ['payments_pkey', 'payments_once_per_key'],
  entries: ['entries_once_per_payment', 'entries_once_per_reference'],
  events: ['events_pkey'],
  open_payments: ['open_payments_pkey', 'open_payments_by_partner'],
  accounts: ['accounts_pkey'],
  partners: ['partners_pkey'],
  archived_keys: ['archived_keys_pkey'],
  deliveries: ['deliveries_pkey', 'deliveries_by_event'],
};

const { pool, clock } = await createTimedDatabase();
await setRate(pool, clock);
const { opening, newPartner } = await startOpenings(pool, clock);
const [partnerId] = await Promise.all([1, 2, 3].map(() => newPartner()));

await pool.query({
  text: `INSERT INTO deliveries (endpoint_id, partner_id, event_id, mode, payment_id, next_at)
         SELECT $1, $1, n, 'test', gen_random_uuid(), now() FROM generate_series(1, 5) n`,
  values: [uuidFromId(partnerId!)],
});

/** A payment in each way: opened together and finished, ended at once, and decided one by one because its key is known. */
async function payInEachWay(db: Parameters<typeof createPaymentWriter>[0], count = 3): Promise<void> {
  const writer = createPaymentWriter(db, clock);
  const openAll = (payments: NewPayment[]) => Promise.all(payments.map(payment => writer.open(payment)));
  const live = Array.from({ length: count }, () => opening(partnerId!, { folded: { name: 'r', id: 'm' } }));
  const ended = { mode: 'test', ending: { outcome: 'succeeded' } } as const;
  await openAll([...live, ...Array.from({ length: count }, () => opening(partnerId!, ended))]);
  const known = { ...opening(partnerId!), idempotencyKey: live[0]!.idempotencyKey };
  await openAll([known, ...Array.from({ length: 5 }, () => opening(partnerId!))]);
  await Promise.all(live.map(payment => writer.finish({ ...payment, outcome: 'succeeded', orderId: 'o' })));
}

const nodesOf = (plan: PlanNode): PlanNode[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** A failed attempt to deliver an event. */
const endOfDelivery = {
  text: `SELECT deliveries_end(ARRAY[$1::uuid], '{1}', '{1}', '{false}', '{false}', '{500}', '{NULL}', '{NULL}', '{1}', '{NULL}',
                               ARRAY[now()], '{subject}', 'detail')`,
  values: [uuidFromId(partnerId!)],
};

/** The plans of all statements of these payments, also of those inside of functions, made anew. */
async function plansOfPayments(): Promise<PlanNode[]> {
  const session = await pool.connect();
  const plans: PlanNode[] = [];
  session.on('notice', ({ message }) => {
    const json = message?.match(/plan:\n(\{.*\})$/s)?.[1];
    if (json) plans.push((JSON.parse(json) as { Plan: PlanNode }).Plan);
  });
  await session.query("LOAD 'auto_explain'");
  const settings = {
    log_min_duration: '0',
    log_nested_statements: 'on',
    log_level: 'notice',
    log_format: 'json',
  };
  for (const [name, value] of Object.entries(settings))
    await session.query(`SET auto_explain.${name} = ${value}`);
  await payInEachWay(session);
  await session.query(endOfDelivery);
  await listPayments(session, { partnerId: partnerId!, mode: 'live' }, { limit: 20 });
  session.release(true);
  return plans;
}

/** Reads of a whole table or index, or by an index that finds more than is asked for. */
const wrongReads = (plans: PlanNode[]) =>
  plans
    .flatMap(nodesOf)
    .filter(node => {
      const indexes = indexesOf[node['Relation Name'] ?? ''];
      if (!indexes || !node['Node Type'].includes('Scan')) return false;
      return !node['Index Cond'] || !indexes.includes(node['Index Name'] ?? '');
    })
    .map(
      node =>
        `${node['Node Type']} of ${node['Relation Name']} by ${node['Index Name']}: ${node['Index Cond']}`,
    );

/** Plans are kept for the life of a connection. One that suits a table of today must suit it when it has grown. */
test('opening, finishing and listing read by index, whatever the tables hold when the plan is made', async () => {
  for (const rows of ['none', 'a few', 'many']) {
    if (rows === 'many') for (let nth = 0; nth < 10; nth++) await payInEachWay(pool, 250);
    if (rows !== 'none') await pool.query('ANALYZE');
    const plans = await plansOfPayments();
    expect(plans.length).toBeGreaterThan(10);
    expect(wrongReads(plans), `${rows} rows`).toEqual([]);
    const backward = plans.flatMap(nodesOf).filter(node => node['Scan Direction'] === 'Backward');
    expect(backward.map(node => node['Index Name'])).toContain('payments_pkey');
  }
});

/** They are opened and finished together under load, so the space in their pages must suffice for all. */
test('payments that end write to no index again', async () => {
  const writer = createPaymentWriter(pool, clock);
  const payments = Array.from({ length: 200 }, () => opening(partnerId!));
  await Promise.all(payments.map(payment => writer.open(payment)));
  const updates = await transaction(pool, async tx => {
    await finishAll(
      tx,
      clock,
      payments.map(payment => ({ ...payment, outcome: 'succeeded', orderId: payment.paymentId })),
    );
    const { rows } = await tx.query({
      text: `SELECT pg_stat_get_xact_tuples_updated(t)::int AS all, pg_stat_get_xact_tuples_hot_updated(t)::int AS in_place
               FROM (SELECT 'payments'::regclass AS t)`,
    });
    return rows[0];
  });
  expect(updates).toEqual({ all: 200, in_place: 200 });
});
