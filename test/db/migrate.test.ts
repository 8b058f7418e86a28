import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { OperatorError } from '../../src/base/operator-error.ts';
import { migrate } from '../../src/db/migrate.ts';
import { openPool, transaction } from '../../src/db/pool.ts';
import { createDatabase } from '../helpers/database.ts';

const files = readdirSync(new URL('../../migrations/', import.meta.url)).sort();

/** One for each test, as each breaks its own. */
const databases = {
  race: await createDatabase({ migrated: false }),
  locked: await createDatabase({ migrated: false }),
  changed: await createDatabase(),
  newer: await createDatabase(),
  failing: await createDatabase({ migrated: false }),
};

describe('migrations', () => {
  test('run once each, in order, when many processes start at the same time', async () => {
    const { pool } = databases.race;
    const others = Array.from({ length: 8 }, () => openPool({ ...pool.options }, 2));
    await Promise.all(others.map(migrate));
    await Promise.all(others.map(other => other.end()));
    const { rows } = await pool.query('SELECT name FROM schema_migrations ORDER BY applied_at, version');
    expect(rows.map(({ name }) => name)).toEqual(files);
  });

  test('wait briefly for a lock, give way, and try again', async () => {
    const { pool } = databases.locked;
    // Stops it half way: the partners are there, and what refers to them is still to come.
    await pool.query('CREATE TABLE accounts (in_the_way int)');
    await expect(migrate(pool)).rejects.toThrow(/already exists/);
    await pool.query('DROP TABLE accounts');
    let migrated: Promise<void> | undefined;
    await transaction(pool, async tx => {
      await tx.query({ text: 'LOCK TABLE partners' });
      migrated = migrate(pool, 50);
      // Two transactions that waited: the first gave way, the second is another try.
      const tries = new Set<number>();
      while (tries.size < 2) {
        const { rows } = await pool.query(
          `SELECT xact_start FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        for (const { xact_start } of rows) tries.add(xact_start.getTime());
      }
    });
    await migrated;
    expect((await pool.query('SELECT count(*) FROM accounts')).rows).toEqual([{ count: 0n }]);
  });

  test('that were changed after they were applied stop the start', async () => {
    const { pool } = databases.changed;
    await pool.query("UPDATE schema_migrations SET sha256 = 'something else' WHERE version = 2");
    await expect(migrate(pool)).rejects.toThrow(OperatorError);
    await expect(migrate(pool)).rejects.toThrow(/0002_partners\.sql was changed after it was applied/);
  });

  test('of a newer version stop the start', async () => {
    const { pool } = databases.newer;
    await pool.query("INSERT INTO schema_migrations VALUES (9999, '9999_future.sql', 'x')");
    await expect(migrate(pool)).rejects.toThrow(/9999_future\.sql, which this version does not know/);
  });

  test('that fail leave nothing half done', async () => {
    const { pool } = databases.failing;
    await pool.query('CREATE TABLE partners (in_the_way int)');
    await expect(migrate(pool)).rejects.toThrow(/already exists/);
    const { rows } = await pool.query('SELECT version FROM schema_migrations');
    expect(rows).toEqual([{ version: 1 }]);
    await pool.query('DROP TABLE partners');
    await migrate(pool);
    expect((await pool.query('SELECT count(*) FROM accounts')).rows).toEqual([{ count: 0n }]);
  });
});
