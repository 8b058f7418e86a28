/** A service is killed before, while and after it books a refund of the bank side. The next one books what is left, once. */
import { expect, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import { paidAt, startAdditionsWorld, untilHeld } from './additions-world.ts';
import { callBank, until } from './world.ts';

const world = await startAdditionsWorld();
const { pool } = world;
const timeout = 180_000;
/** Two rounds of the reader: on a busy machine the first may fail. */
const roundsMs = 60_000;

/** One worker reads the list every half minute; the test does not wait for that. */
const readAtOnce = () => pool.query('UPDATE service SET refunds_asked_at = NULL');

test('killed before and after it books a refund, and before it stores its position: each refund is booked once', {
  timeout,
}, async () => {
  const first = await world.start();
  const { attempt, paymentId } = await paidAt(world, first);
  const [customer] = world.customers;
  const balance = async () => {
    const headers = { authorization: `Bearer ${customer!.liveKey}` };
    const response = await fetch(`${next.address}/v1/balance`, { headers });
    return ((await response.json()) as { balance_usdt: string }).balance_usdt;
  };
  await first.stop('SIGKILL');
  for (const amount_kopecks of [1_000, 2_345])
    await callBank(world, 'POST', `/sim/orders/${paymentId}/refunds`, { amount_kopecks });
  for (const point of ['before book refund', 'after book refund', 'before store refund position']) {
    await readAtOnce();
    const reader = await world.start(new Map([[attempt, point]]));
    await untilHeld(reader);
    await reader.stop('SIGKILL');
  }

  await readAtOnce();
  const next = await world.start();
  const booked = async () =>
    (
      await pool.query(
        `SELECT r.amount_kopecks::int AS kopecks, count(e.reference)::int AS entries
           FROM refunds r LEFT JOIN entries e
             ON e.partner_id = r.partner_id AND e.mode = r.mode AND e.reference = 'refund:' || r.refund_id
          WHERE r.payment_id = $1 GROUP BY r.refund_id, r.amount_kopecks ORDER BY 1`,
        [uuidFromId(paymentId)],
      )
    ).rows;
  await until(
    async () => (await pool.query('SELECT FROM service WHERE refunds_read_to IS NOT NULL')).rowCount === 1,
    roundsMs,
    () => 'the list of refunds was not read to its end',
  );
  expect(await booked()).toEqual([
    { kopecks: 1_000, entries: 1 },
    { kopecks: 2_345, entries: 1 },
  ]);
  const { rows } = await pool.query<{ available: string }>(
    `SELECT (available / 1e6)::numeric(20, 6)::text AS available FROM accounts WHERE partner_id = $1 AND mode = 'live'`,
    [uuidFromId(customer!.partnerId)],
  );
  expect(await balance()).toBe(rows[0]!.available);
  expect((await verifyLedger(pool)).findings).toEqual([]);
});
