import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { uuidFromId } from '../../src/base/ids.ts';
import { joinIncarnation } from '../../src/db/incarnation/join.ts';
import { createShard } from '../../src/db/shards/create.ts';
import { sessionOf } from '../../src/db/shards/sessions.ts';
import { openingArray, openingValues } from '../../src/payments/openings.ts';
import { createCodeGuard } from '../../src/payments/shards/code-guard.ts';
import { createPaymentWriter } from '../../src/payments/store.ts';
import { auditContextOf } from '../helpers/database.ts';
import { startShardsWorld } from './shards-world.ts';

type World = Awaited<ReturnType<typeof startShardsWorld>>;

/** Until a session of this database waits for a lock; `asked` is evaluated for it in the same statement. */
const untilWaiting = ({ pool }: World, asked = 'pid') => {
  const text = `SELECT ${asked} FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  return expect.poll(async () => (await pool.query(text)).rowCount, { timeout: 30_000 }).toBe(1);
};

const schemasOf = async ({ pool }: World) =>
  (
    await pool.query("SELECT nspname FROM pg_namespace WHERE nspname ~ '^(shard_|every)' ORDER BY 1")
  ).rows.map(({ nspname }) => nspname);

const reservationsIn = async ({ pool }: World, schema: string) =>
  (await pool.query(`SELECT qrc_id, partner_id, payment_ids FROM ${schema}.code_reservations ORDER BY 1`))
    .rows;

/** Opens a payment in a transaction that has not ended yet. */
async function openHalfWay(world: World) {
  const partnerId = await world.newPartner(0);
  const payment = world.opening(partnerId);
  const session = await world.pool.connect();
  await session.query('BEGIN');
  // On a slow machine it is idle for longer than the server allows the service.
  await session.query('SET LOCAL idle_in_transaction_session_timeout = 0');
  const values = openingValues([payment]);
  const { rows } = await session.query(
    `SELECT verdict FROM payments_open(${openingArray(1)}, $${values.length + 1}, NULL)`,
    [...values, new Date(world.clock.nowMs())],
  );
  expect(rows).toEqual([{ verdict: 'opened' }]);
  const end = async (how: 'COMMIT' | 'ROLLBACK') => {
    await session.query(how);
    session.release();
  };
  return { payment, end };
}

describe('payments under way', () => {
  test('an opening that has not committed is waited for, and its code is reserved', async () => {
    const world = await startShardsWorld(1);
    const { payment, end } = await openHalfWay(world);
    const created = createShard(auditContextOf(world.pool));
    await untilWaiting(world);
    await end('COMMIT');
    expect(await created).toEqual({ outcome: 'created', shard: 1, reservedCodes: 1 });
    const reserved = [
      ...(await reservationsIn(world, 'public')),
      ...(await reservationsIn(world, 'shard_1')),
    ];
    expect(reserved).toEqual([
      {
        qrc_id: payment.qrcId,
        partner_id: uuidFromId(payment.partnerId),
        payment_ids: [uuidFromId(payment.paymentId)],
      },
    ]);
  });

  test('if they keep an account locked, the creation gives up for a moment and tries again', async () => {
    const world = await startShardsWorld(1);
    const { end } = await openHalfWay(world);
    const busy: number[] = [];
    const creation = createShard(auditContextOf(world.pool), {
      onBusy: tries => {
        busy.push(tries);
        if (tries === 1) void end('ROLLBACK');
      },
    });
    expect(await creation).toMatchObject({ outcome: 'created', reservedCodes: 0 });
    expect(busy.length).toBeGreaterThan(0);
  });
});

describe('a creation that dies', () => {
  test('before its commit leaves nothing, and the next one succeeds', async () => {
    const world = await startShardsWorld(1);
    const { end } = await openHalfWay(world);
    const created = createShard(auditContextOf(world.pool));
    const failed = expect(created).rejects.toThrow(/terminat/i);
    // In one statement: it waits for half a second only, and would not notice the end of its session in the pause after it.
    await untilWaiting(world, 'pg_terminate_backend(pid)');
    await failed;
    await end('ROLLBACK');
    expect(await schemasOf(world)).toEqual([]);
    expect(await createShard(auditContextOf(world.pool), { number: 1 })).toMatchObject({
      outcome: 'created',
    });
  });

  test('after its commit, without an answer: a repeat with the number makes no second shard', async () => {
    const world = await startShardsWorld(2);
    const audit = auditContextOf(world.pool);
    expect(await createShard(audit, { number: 1 })).toEqual({ outcome: 'exists', shard: 1 });
    expect(await createShard(audit, { number: 3 })).toEqual({ outcome: 'not_next', next: 2 });
    expect(await schemasOf(world)).toEqual(['every_shard', 'shard_1']);
  });

  test('of two at the same time each makes a shard', async () => {
    const world = await startShardsWorld(1);
    const audit = auditContextOf(world.pool);
    const results = await Promise.all([createShard(audit), createShard(audit)]);
    expect(results.map(result => 'shard' in result && result.shard).sort()).toEqual([1, 2]);
  });
});

test('it waits for a migration, and refuses a schema of another version', async () => {
  const world = await startShardsWorld(1);
  const audit = { ...auditContextOf(world.pool), clock: { ...systemClock, sleep: async () => {} } };
  const migration = await world.pool.connect();
  await migration.query('BEGIN');
  await migration.query('SELECT pg_advisory_xact_lock(718000001)');
  expect(await createShard(audit)).toEqual({ outcome: 'busy' });
  await migration.query('COMMIT');
  migration.release();
  await world.pool.query('UPDATE schema_functions SET revision = revision + 1');
  expect(await createShard(audit)).toEqual({ outcome: 'other_schema' });
  expect(await schemasOf(world)).toEqual([]);
});

test('a code that was reserved at a place of fewer shards is not taken for a reservation', async () => {
  const world = await startShardsWorld(2);
  const one = await world.newPartner(0);
  const other = await world.newPartner(1);
  const { writers } = world.newProcess();
  // The same code at both places: at its own, with a payment; and where a process that knew one shard looked for it.
  let payment = world.opening(one);
  await writers[0]!.open(payment);
  while ((await reservationsIn(world, 'public')).some(({ qrc_id }) => qrc_id === payment.qrcId)) {
    payment = world.opening(one);
    await writers[0]!.open(payment);
  }
  await world.pool.query(
    'INSERT INTO public.code_reservations (qrc_id, partner_id, payment_ids) VALUES ($1, $2, ARRAY[gen_random_uuid()])',
    [payment.qrcId, uuidFromId(other)],
  );
  expect(await createShard(auditContextOf(world.pool))).toMatchObject({ outcome: 'created', shard: 2 });
  const knowing = [0, 1, 2].map(shard => world.openSessions(sessionOf(shard, 3)));
  const guard = createCodeGuard(knowing, world.clock);
  const { qrcId } = payment;
  expect(await guard.reserve(world.opening(other, { qrcId }))).toBe(false);
  expect(await guard.reserve(world.opening(one, { qrcId }))).toBe(true);
});

test('a process that does not know the new shard rebuilds no lost payment', async () => {
  const world = await startShardsWorld(1);
  const partnerId = await world.newPartner(0);
  await createShard(auditContextOf(world.pool));
  const values = openingValues([world.opening(partnerId)]);
  const next = (nth: number) => `$${values.length + nth}`;
  const rebuild = (db: typeof world.pool) =>
    db.query(
      `SELECT verdict FROM payments_recover(${openingArray(1)}, ${next(1)}, '{o}', '{accepted}', 1, ${next(2)})`,
      [...values, [new Date(world.clock.nowMs())], new Date(world.clock.nowMs())],
    );
  await joinIncarnation({ pool: world.pool, clock: systemClock }, { place: undefined, isRestored: false });
  await expect(rebuild(world.pool)).rejects.toThrow(/the shards have changed/);
  expect((await rebuild(world.openSessions(sessionOf(0, 2)))).rows).toEqual([{ verdict: 'recovered' }]);
});

test('after a loss, event numbers begin where the shard of the lost history cannot have come', async () => {
  const world = await startShardsWorld(1);
  const join = (isRestored: boolean) =>
    joinIncarnation({ pool: world.pool, clock: systemClock }, { place: undefined, isRestored });
  const firstOf = async (schema: string) =>
    (await world.pool.query(`SELECT nextval(pg_get_serial_sequence('${schema}.events', 'id')) AS id`)).rows[0]
      .id;
  await join(false);
  await createShard(auditContextOf(world.pool));
  expect(await firstOf('shard_1')).toBe(10n ** 15n + 1n);
  await join(true);
  await createShard(auditContextOf(world.pool));
  const first = await firstOf('shard_2');
  expect(first).toBeGreaterThan(2n * 10n ** 15n + 1_000_000n);
  expect(first / 10n ** 15n).toBe(2n);
});

test('it is on record', async () => {
  const world = await startShardsWorld(2);
  const { rows } = await world.pool.query(
    "SELECT actor, subject, after FROM audit WHERE action = 'shard.create'",
  );
  expect(rows).toEqual([{ actor: 'test', subject: 'shard_1', after: { shards: 2, reserved_codes: 0 } }]);
  const writer = createPaymentWriter(world.pool, world.clock);
  await expect(writer.open(world.opening(await world.newPartner(0)))).rejects.toThrow(
    /the shards have changed/,
  );
});
