import { describe, expect, test } from 'vitest';
import { keepPartitions } from '../../src/db/retention/partitions.ts';
import { findChangedSchema } from '../../src/db/schema/changed-schema.ts';
import { readCases } from '../helpers/cases.ts';
import { examined } from '../helpers/cli.ts';
import { createTimedDatabase, secretKey } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';

const { pool, url, clock } = await createTimedDatabase('2026-02-01T00:00:00Z');
// With the partitions that a service has, which are no part of the schema.
await pool.query("SELECT archive_prepare('2026-01-01')");
await keepPartitions(pool, clock, { table: 'gateway_calls', since: 'at', keptDays: 90 });

const nothing = `CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`;
const restored = async () => {
  const { rows } = await pool.query<{ text: string }>(
    "SELECT pg_get_functiondef('public.refuse_change'::regproc) AS text",
  );
  return rows[0]!.text;
};

const findFaults = async () => (await findChangedSchema(pool)).faults;

const changes = readCases(`
disabled trigger audit_is_append_only on audit
  + ALTER TABLE audit DISABLE TRIGGER audit_is_append_only
  - ALTER TABLE audit ENABLE ALWAYS TRIGGER audit_is_append_only
disabled trigger audit_is_append_only on audit
  + ALTER TABLE audit ENABLE TRIGGER audit_is_append_only
  - ALTER TABLE audit ENABLE ALWAYS TRIGGER audit_is_append_only
missing trigger rates_are_append_only on rates
  + DROP TRIGGER rates_are_append_only ON rates
  - CREATE TRIGGER rates_are_append_only BEFORE UPDATE OR DELETE ON rates FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()
changed trigger rates_are_append_only on rates
  + CREATE OR REPLACE TRIGGER rates_are_append_only BEFORE UPDATE ON rates FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()
  - CREATE OR REPLACE TRIGGER rates_are_append_only BEFORE UPDATE OR DELETE ON rates FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()
foreign trigger mine on payments
  + CREATE TRIGGER mine AFTER UPDATE ON payments FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()
  - DROP TRIGGER mine ON payments
disabled trigger entries_archive_is_append_only on entries_archive_2026_01
  + ALTER TABLE entries_archive_2026_01 DISABLE TRIGGER entries_archive_is_append_only
  - ALTER TABLE entries_archive_2026_01 ENABLE ALWAYS TRIGGER entries_archive_is_append_only
missing trigger is_not_truncated on payments_archive_2026_01
  + DROP TRIGGER is_not_truncated ON payments_archive_2026_01
  - CREATE TRIGGER is_not_truncated BEFORE TRUNCATE ON payments_archive_2026_01 FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()
foreign trigger mine on gateway_calls_20260202
  + CREATE TRIGGER mine BEFORE INSERT ON gateway_calls_20260202 FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()
  - DROP TRIGGER mine ON gateway_calls_20260202
foreign keys of accounts are not checked
  + ALTER TABLE accounts DISABLE TRIGGER ALL
  - ALTER TABLE accounts ENABLE TRIGGER ALL
foreign rule mine on audit
  + CREATE RULE mine AS ON INSERT TO audit DO INSTEAD NOTHING
  - DROP RULE mine ON audit
row security on audit
  + ALTER TABLE audit ENABLE ROW LEVEL SECURITY
  - ALTER TABLE audit DISABLE ROW LEVEL SECURITY
changed function prune_test_data
  + ALTER FUNCTION prune_test_data SET search_path = pg_temp, public
  - ALTER FUNCTION prune_test_data SET search_path = public, pg_temp
changed function payments_open
  + ALTER FUNCTION payments_open SECURITY DEFINER
  - ALTER FUNCTION payments_open SECURITY INVOKER
foreign function is_pruned_entry
  + CREATE FUNCTION is_pruned_entry(uuid, int) RETURNS boolean LANGUAGE sql AS 'SELECT true'
  - DROP FUNCTION is_pruned_entry(uuid, int)
foreign function elsewhere.shell with the rights of its owner
  + CREATE SCHEMA elsewhere; CREATE FUNCTION elsewhere.shell() RETURNS void LANGUAGE sql SECURITY DEFINER AS 'SELECT'
  - DROP SCHEMA elsewhere CASCADE
newer functions on record, though the migrations are those of this version
  + UPDATE schema_functions SET revision = revision + 1
  - UPDATE schema_functions SET revision = revision - 1
outdated functions on record, though the migrations are those of this version
  + UPDATE schema_functions SET revision = revision - 1
  - UPDATE schema_functions SET revision = revision + 1
foreign function shell
  + CREATE FUNCTION shell() RETURNS void LANGUAGE sql SECURITY DEFINER AS 'SELECT'; ALTER EXTENSION plpgsql ADD FUNCTION shell()
  - ALTER EXTENSION plpgsql DROP FUNCTION shell(); DROP FUNCTION shell()
foreign function of_extension.shell with the rights of its owner
  + CREATE SCHEMA of_extension; CREATE FUNCTION of_extension.shell() RETURNS void LANGUAGE sql SECURITY DEFINER AS 'SELECT';
  + ALTER EXTENSION plpgsql ADD FUNCTION of_extension.shell()
  - ALTER EXTENSION plpgsql DROP FUNCTION of_extension.shell(); DROP SCHEMA of_extension CASCADE
changed function payments_finish
  + ALTER FUNCTION payments_finish SET search_path = pg_temp, public
  - ALTER FUNCTION payments_finish RESET search_path
changed function archive_entries
  + ALTER FUNCTION archive_entries SET TimeZone = 'Asia/Tokyo'
  - ALTER FUNCTION archive_entries SET TimeZone = 'UTC'
changed function refuse_change
  + ALTER FUNCTION refuse_change OWNER TO pg_monitor
  - ALTER FUNCTION refuse_change OWNER TO CURRENT_USER
foreign owner pg_monitor of audit_unchained
  + ALTER TABLE audit_unchained OWNER TO pg_monitor
  - ALTER TABLE audit_unchained OWNER TO CURRENT_USER
missing constraint accounts_never_below_zero on accounts
  + ALTER TABLE accounts DROP CONSTRAINT accounts_never_below_zero
  - ALTER TABLE accounts ADD CONSTRAINT accounts_never_below_zero CHECK (available >= 0 AND held >= 0 AND settled >= 0)
changed constraint accounts_never_below_zero on accounts
  + ALTER TABLE accounts DROP CONSTRAINT accounts_never_below_zero;
  + ALTER TABLE accounts ADD CONSTRAINT accounts_never_below_zero CHECK (available >= 0 OR held >= 0 OR settled >= 0)
  - ALTER TABLE accounts DROP CONSTRAINT accounts_never_below_zero;
  - ALTER TABLE accounts ADD CONSTRAINT accounts_never_below_zero CHECK (available >= 0 AND held >= 0 AND settled >= 0)
foreign constraint mine on payments
  + ALTER TABLE payments ADD CONSTRAINT mine CHECK (amount_kopecks <> 7)
  - ALTER TABLE payments DROP CONSTRAINT mine
missing unique index entries_once_per_reference on entries
  + DROP INDEX entries_once_per_reference
  - CREATE UNIQUE INDEX entries_once_per_reference ON entries (reference, partner_id, mode) WHERE reference IS NOT NULL
changed unique index entries_once_per_payment on entries
  + DROP INDEX entries_once_per_payment;
  + CREATE UNIQUE INDEX entries_once_per_payment ON entries (payment_id, from_account, partner_id, mode) WHERE false
  - DROP INDEX entries_once_per_payment;
  - CREATE UNIQUE INDEX entries_once_per_payment ON entries (payment_id, from_account, partner_id, mode) WHERE payment_id IS NOT NULL
foreign unique index mine on payments
  + CREATE UNIQUE INDEX mine ON payments (id, amount_kopecks)
  - DROP INDEX mine`);
changes.push(['changed function refuse_change', nothing, await restored(), []]);

describe('a changed schema', () => {
  test('is one that differs from that of the version', async () => {
    expect(await findFaults()).toEqual([]);
  });

  test.each(changes)('is found: %s', async (fault, change, undo) => {
    await pool.query(change);
    expect(await findFaults()).toEqual([fault]);
    await pool.query(undo);
    expect(await findFaults()).toEqual([]);
  });

  describe('for kopeck doctor', () => {
    const env = { DATABASE_URL: url, SECRET_KEY: secretKey, DATA_DIR: newFolder() };
    const check = () => examined(env, 'schema');
    const faults =
      'disabled trigger audit_chain_is_append_only on audit_chain, disabled trigger audit_chain_is_not_truncated on audit_chain';

    test('is bad', async () => {
      expect(await check()).toMatch(/^ok: /);
      await pool.query('ALTER TABLE audit_chain DISABLE TRIGGER ALL');
      expect(await check()).toBe(`bad: ${faults}: see docs/operations/audit.md, "A changed schema"`);
    });

    test('is bad whatever version the functions claim to be of', async () => {
      await pool.query('UPDATE schema_functions SET revision = revision + 1');
      expect(await check()).toMatch(new RegExp(`^bad: newer functions on record, .*, ${faults}: see`));
      await pool.query('UPDATE schema_functions SET revision = revision - 1');
    });

    test('is never ok while a newer release is on record', async () => {
      await pool.query(`INSERT INTO schema_migrations (version, name, sha256, oldest)
                          SELECT max(version) + 1, 'next', 'x', max(version) FROM schema_migrations`);
      expect(await check()).toMatch(new RegExp(`^warn: of a newer release, .*: ${faults}$`));
      await pool.query('ALTER TABLE audit_chain ENABLE TRIGGER ALL');
      for (const name of ['audit_chain_is_append_only', 'audit_chain_is_not_truncated'])
        await pool.query(`ALTER TABLE audit_chain ENABLE ALWAYS TRIGGER ${name}`);
      expect(await check()).toMatch(/^warn: .*: nothing$/);
    });
  });
});
