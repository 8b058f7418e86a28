import { beforeEach, describe, expect, test } from 'vitest';
import { createAlarms } from '../../src/alarms/index.ts';
import { createServiceStatus, overallState } from '../../src/api/status/service-status.ts';
import { uuidFromId } from '../../src/base/ids.ts';
import { cancelMaintenance, planMaintenance, setMaintenance } from '../../src/controls/index.ts';
import type { Queryable } from '../../src/db/postgres/pool.ts';
import { auditContextOf, createDatabase, setRate } from '../helpers/database.ts';
import { createPast } from '../payments/archive-world.ts';

const { pool, sql } = await createDatabase();
const { clock, newPartner, open, finish, addEndpoint } = await createPast(pool);
const audit = auditContextOf(pool, clock);
const alarms = createAlarms({ db: pool, clock, log: { warn: () => {} } });
const [one, other] = [await newPartner(), await newPartner()];

let silence: string | undefined;
const heartbeat = {
  isDatabaseAnswering: () => true,
  whyNone: () => silence,
} as Parameters<typeof createServiceStatus>[0]['heartbeat'];
const readStatus = createServiceStatus({ reads: { byKey: pool }, clock, heartbeat, rateMaxAgeSec: 300 });
const minuteMs = 60_000;

/** After what was read before is too old. */
async function now() {
  await clock.advance(5_000);
  const { payments, webhooks, rate } = await readStatus();
  return `payments ${payments}, webhooks ${webhooks}, rate ${rate}`;
}
const fine = 'payments operational, webhooks operational, rate operational';

beforeEach(async () => {
  await setRate(pool, clock);
  expect(await now()).toBe(fine);
});

test('all works, and many who ask get one answer', async () => {
  await clock.advance(5_000);
  const asked = await Promise.all([readStatus(), readStatus(), readStatus()]);
  expect(new Set(asked).size).toBe(1);
  await clock.advance(2_000);
  expect(await readStatus()).toBe(asked[0]);
  await clock.advance(2_000);
  expect(await readStatus()).not.toBe(asked[0]);
  expect(overallState(asked[0]!)).toBe('operational');
});

test('a rate that is not refreshed is degraded, and once it is stale there are no payments', async () => {
  await clock.advance(2.6 * minuteMs);
  expect(await now()).toBe('payments operational, webhooks operational, rate degraded');
  await clock.advance(2.5 * minuteMs);
  expect(await now()).toBe('payments down, webhooks operational, rate down');
});

test('maintenance stops payments, with the windows but not with who planned them', async () => {
  await setMaintenance(audit, true);
  expect(await now()).toBe('payments down, webhooks operational, rate operational');
  expect((await readStatus()).maintenance).toEqual({ isOn: true, windows: [] });
  await setMaintenance(audit, false);
  const from = new Date(clock.nowMs() + 60 * minuteMs);
  const until = new Date(clock.nowMs() + 120 * minuteMs);
  const planned = await planMaintenance(audit, { from, until });
  expect(await now()).toBe(fine);
  expect((await readStatus()).maintenance).toEqual({ isOn: false, windows: [{ from, until }] });
  if (planned.outcome === 'planned') await cancelMaintenance(audit, planned.windowId);
});

test('while the circuit breaker is open, payments are down', async () => {
  await alarms.raise({ kind: 'gateway_unreachable', subject: 'gateway', detail: 'secret' });
  expect(await now()).toBe('payments down, webhooks operational, rate operational');
  await alarms.clear('gateway_unreachable', 'gateway');
  expect(await now()).toBe(fine);
});

describe('delays', () => {
  test('of live payments of two partners degrade payments, those of one partner are no business of others', async () => {
    const mine = [await open(one), await open(one)];
    await clock.advance(11 * minuteMs);
    await setRate(pool, clock);
    expect(await now()).toBe(fine);
    const theirs = await open(other);
    expect(await now()).toBe(fine);
    await clock.advance(11 * minuteMs);
    await setRate(pool, clock);
    expect(await now()).toBe('payments degraded, webhooks operational, rate operational');
    await sql`UPDATE open_payments SET support_since = now() WHERE payment_id = ${uuidFromId(theirs.paymentId)}`;
    expect(await now()).toBe(fine);
    for (const payment of [...mine, theirs]) await finish(payment);
  });

  test('of webhooks of two partners degrade them, but not those of an endpoint that hangs or is suspended', async () => {
    const addDue = async (partnerId: typeof one) => {
      await addEndpoint(partnerId);
      await sql`INSERT INTO deliveries (endpoint_id, partner_id, event_id, mode, payment_id, next_at)
                VALUES (${uuidFromId(partnerId)}, ${uuidFromId(partnerId)}, 1, 'live', gen_random_uuid(), ${new Date(clock.nowMs())})`;
    };
    await addDue(one);
    await clock.advance(11 * minuteMs);
    await setRate(pool, clock);
    expect(await now()).toBe(fine);
    await addDue(other);
    expect(await now()).toBe(fine);
    await clock.advance(2 * minuteMs);
    expect(await now()).toBe('payments operational, webhooks degraded, rate operational');
    await clock.advance(9 * minuteMs);
    await setRate(pool, clock);
    expect(await now()).toBe('payments operational, webhooks down, rate operational');
    await sql`UPDATE endpoints SET hanging = true`;
    expect(await now()).toBe(fine);
    await sql`UPDATE endpoints SET hanging = false, suspended_at = now()`;
    expect(await now()).toBe(fine);
  });
});

describe('a database', () => {
  test('that does not commit: nothing is paid or sent', async () => {
    silence = 'no commits';
    expect(await now()).toBe('payments down, webhooks down, rate operational');
    silence = undefined;
  });

  const down = { payments: 'down', webhooks: 'down', rate: 'down', maintenance: undefined };
  const silent: Queryable = { query: () => new Promise<never>(() => {}) };

  test.each([
    ['is known not to answer', () => false, pool],
    ['does not answer now', () => true, silent],
  ])('that %s: all is down, within a second', async (_name, isDatabaseAnswering, db) => {
    const read = createServiceStatus({
      ...{ reads: { byKey: db }, clock, rateMaxAgeSec: 300 },
      heartbeat: { ...heartbeat, isDatabaseAnswering },
    });
    const asked = Promise.all([read(), read()]);
    await clock.advance(999);
    for (const answer of await asked) expect(answer).toMatchObject(down);
  });
});
