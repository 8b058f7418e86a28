import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { applyMigration } from '../../src/db/migrations.ts';
import { transaction } from '../../src/db/pool.ts';
import { shardRelations } from '../../src/db/shards/layout.ts';
import { takeNotices } from '../../src/db/shards/notices.ts';
import { applyFunctions, loadFunctions } from '../../src/db/sql-functions.ts';
import { isCitusAvailable } from './available.ts';
import { startCitusWorld } from './world.ts';

/** What Citus does otherwise than PostgreSQL, by the numbers of docs/internals/shards.md. */
describe.runIf(isCitusAvailable)('on Citus', async () => {
  if (!isCitusAvailable) return;
  const { pool, shards, all, opening, unguarded, newPartner, serversOf, connect, citus } =
    await startCitusWorld(1);
  const node = shards[1]!;

  async function pay() {
    const partnerId = await newPartner(1);
    const { paymentId, ...payment } = opening(partnerId);
    await unguarded(1).open({ ...payment, paymentId });
    await unguarded(1).finish({ partnerId, mode: 'live', paymentId, outcome: 'succeeded' });
    return { partnerId, paymentId };
  }

  /** A session that sees the tables of the node as they are. */
  async function insideNode() {
    const session = await connect(serversOf(1).own);
    await session.query('SET citus.override_table_visibility = off');
    return session;
  }

  describe('1. triggers reach the node', () => {
    test('an UPDATE of entries is refused, on the node and from the coordinator', async () => {
      await pay();
      for (const db of [node, pool])
        await expect(db.query('UPDATE shard_1.entries SET micro_usdt = 1')).rejects.toThrow(/is refused/);
    });

    test('TRUNCATE is refused', async () => {
      for (const db of [node, pool])
        await expect(db.query('TRUNCATE shard_1.entries')).rejects.toThrow(/TRUNCATE of entries is refused/);
    });

    test('every trigger of shard 0 is on the table of the node, and as strict', async () => {
      const triggers = `SELECT regexp_replace(t.tgname, '_[0-9]{6}$', '') || ' ' || t.tgenabled::text AS trigger
                          FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
                         WHERE NOT t.tgisinternal AND t.tgparentid = 0 AND c.relnamespace = $1::text::regnamespace
                           AND (t.tgtype & 32) = 0 AND c.relname ~ $2 ORDER BY 1`;
      const ofShard = `^(${shardRelations.join('|')})`;
      const { rows: wanted } = await pool.query(triggers, ['public', `${ofShard}$`]);
      const { rows: found } = await (await insideNode()).query(triggers, ['shard_1', `${ofShard}_[0-9]{6}$`]);
      const ofOneServer = wanted.filter(({ trigger }) => !trigger.startsWith('events_are_delivered'));
      expect(ofOneServer.length).toBeGreaterThan(10);
      const ofCitus = ['accounts_number_their_events O', 'entries_belong_to_the_history O'];
      expect(found).toEqual(
        [...ofOneServer, ...ofCitus.map(trigger => ({ trigger }))].sort((a, b) =>
          a.trigger < b.trigger ? -1 : 1,
        ),
      );
    });
  });

  test('2. and 3. a migration for each shard adds a column, then its check, then a trigger', async () => {
    const sql = `-- each shard
      ALTER TABLE webhooks ADD COLUMN tried int;
      ALTER TABLE webhooks ADD CONSTRAINT webhooks_are_tried CHECK (tried > 0);
      CREATE TRIGGER webhooks_are_not_truncated BEFORE TRUNCATE ON webhooks
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();`;
    await transaction(pool, tx => applyMigration(tx, { name: '9999_try.sql', sql, sha256: 'x' }, 1));
    const row = [randomUUID(), 'u', Buffer.alloc(1), new Date(), 0];
    const insert = `INSERT INTO shard_1.webhooks (partner_id, url, secret, created_at, changed_at, tried)
                      VALUES ($1, $2, $3, $4, $4, $5)`;
    await expect(node.query(insert, row)).rejects.toThrow(/webhooks_are_tried/);
    await expect(
      pool.query('ALTER TABLE shard_1.webhooks ADD COLUMN a int, ADD CONSTRAINT b CHECK (a > 0)'),
    ).rejects.toThrow(/cannot execute ADD CONSTRAINT command with other subcommands/);
  });

  test('an upgrade replaces the functions of every shard, and payments go on', async () => {
    const set = loadFunctions(new URL('../../database/', import.meta.url));
    await transaction(pool, tx => applyFunctions(tx, { ...set, revision: set.revision + 1 }));
    await pay();
  });

  describe('4. transition tables', () => {
    test('a payment leaves the live tables only with its copy in the archive', async () => {
      const { paymentId } = await pay();
      for (const db of [node, pool]) {
        await expect(
          db.query('DELETE FROM shard_1.payments WHERE id = $1', [uuidFromId(paymentId)]),
        ).rejects.toThrow(/DELETE of payments is refused: 1 rows are not in the archive/);
        await expect(db.query('DELETE FROM shard_1.entries')).rejects.toThrow(/DELETE of entries is refused/);
        await expect(db.query('DELETE FROM shard_1.events')).rejects.toThrow(/DELETE of events is refused/);
      }
    });

    test('the end of a payment writes its delivery', async () => {
      const partnerId = await newPartner(1);
      await node.query(
        `INSERT INTO webhooks (partner_id, url, secret, created_at, changed_at) VALUES ($1, 'u', '', now(), now())`,
        [uuidFromId(partnerId)],
      );
      const payment = opening(partnerId);
      const { paymentId } = payment;
      await unguarded(1).open(payment);
      await unguarded(1).finish({
        partnerId,
        mode: 'live',
        paymentId,
        outcome: 'failed',
        code: 'gateway_declined',
      });
      const { rows } = await all.query(
        `SELECT d.event_id = e.id AS same FROM deliveries d JOIN events e ON e.payment_id = d.payment_id
          WHERE d.payment_id = $1`,
        [uuidFromId(paymentId)],
      );
      expect(rows).toEqual([{ same: true }]);
    });
  });

  test('6. no function of the shard has generic plans, and each is bound to its schema', async () => {
    const { rows } = await (await insideNode()).query(
      `SELECT p.proname AS name FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
        WHERE p.pronamespace = 'shard_1'::regnamespace AND l.lanname = 'plpgsql'
          AND ('plan_cache_mode=force_generic_plan' = ANY (p.proconfig)
               OR ('search_path=shard_1, shard_1_copies, public, pg_temp' = ANY (p.proconfig)) IS NOT TRUE)`,
    );
    expect(rows).toEqual([]);
  });

  test('7. and 8. no table of the shard is unlogged, and all types are in public', async () => {
    const session = await insideNode();
    const { rows: unlogged } = await session.query(
      `SELECT relname FROM pg_class WHERE relnamespace = 'shard_1'::regnamespace AND relpersistence = 'u'`,
    );
    expect(unlogged).toEqual([]);
    const { rows: types } = await session.query(
      `SELECT DISTINCT n.nspname AS schema FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
         JOIN pg_type t ON t.oid = a.atttypid JOIN pg_namespace n ON n.oid = t.typnamespace
        WHERE c.relnamespace = 'shard_1'::regnamespace AND c.relkind IN ('r', 'p') ORDER BY 1`,
    );
    expect(types.map(({ schema }) => schema)).toEqual(['pg_catalog', 'public']);
  });

  test('9. there is no reference table, and a change of shard and keys in one transaction announces itself', async () => {
    const { rows } = await pool.query(`SELECT FROM citus_tables WHERE citus_table_type <> 'schema'`);
    expect(rows).toEqual([]);
    const partnerId = await newPartner(1);
    const listener = await connect(citus.coordinator);
    const announced = new Promise(resolve => listener.once('notification', resolve));
    await listener.query('LISTEN tried');
    await transaction(pool, async tx => {
      await tx.query({ text: "SELECT pg_notify('tried', '')" });
      await tx.query({
        text: 'UPDATE shard_1.accounts SET turnover_day = NULL WHERE partner_id = $1',
        values: [uuidFromId(partnerId)],
      });
    });
    await announced;
  });

  test('notices of webhooks that wait in the shard reach the people, once', async () => {
    const partnerId = await newPartner(1);
    await node.query(
      `INSERT INTO pending_notices (partner_id, kind, details, at, alarm_subject, alarm_detail)
         VALUES ($1, 'sending_suspended', '{}', now(), 'Shop', 'three events')`,
      [uuidFromId(partnerId)],
    );
    expect(await takeNotices(pool, node, 1)).toBe(1);
    expect(await takeNotices(pool, node, 1)).toBe(0);
    const { rows } = await pool.query(
      `SELECT (SELECT count(*)::int FROM partner_notices WHERE partner_id = $1) AS notices,
              (SELECT count(*)::int FROM alarms WHERE kind = 'webhook_suspended' AND subject = 'Shop') AS alarms`,
      [uuidFromId(partnerId)],
    );
    expect(rows).toEqual([{ notices: 1, alarms: 1 }]);
  });
});
