import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { heartbeatLockClass } from '../../src/db/heartbeat.ts';
import { openPool } from '../../src/db/pool.ts';
import { grantRoles } from '../../src/db/roles.ts';
import { createPartner } from '../../src/partners/index.ts';
import { kopeck } from '../helpers/cli.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';
import { secretKey } from '../helpers/partners.ts';

async function newInstallation() {
  const { pool, url } = await createDatabase();
  const env = { DATABASE_URL: url, SECRET_KEY: secretKey, DATA_DIR: newFolder() };
  return { pool, url, env, shard: (...args: string[]) => kopeck(env, 'shard', ...args) };
}

describe('kopeck shard create', () => {
  test('creates the next shard; with its number a repeat creates no other', async () => {
    const { shard, pool } = await newInstallation();
    const first = await shard('create', '1');
    expect(first.code).toBe(0);
    expect(first.stdout).toBe('Shard 1 is created. New partners go to the shard with the fewest payments.\n');
    expect(await shard('create', '1')).toMatchObject({
      code: 0,
      stdout: 'There is a shard 1 already. Nothing was changed.\n',
    });
    const second = await shard('create', '--json');
    expect(JSON.parse(second.stdout)).toEqual({ shard: 2, created: true, processes: 0, processes_left: 0 });
    expect((await pool.query('SELECT count(*)::int AS n FROM shards')).rows).toEqual([{ n: 3 }]);
  });

  test.each([
    ['7', 1, 'The next shard is 1: shards are numbered without gaps.'],
    ['0', 2, 'the number of a shard, from 1 to 998'],
    ['999', 2, 'the number of a shard, from 1 to 998'],
  ])('refuses the number %s', async (number, code, line) => {
    const { shard } = await newInstallation();
    const refused = await shard('create', number);
    expect(refused.code).toBe(code);
    expect(refused.stderr).toContain(line);
  });

  test('refuses what the running processes would have no connections for', async () => {
    const { shard, url } = await newInstallation();
    const processes = openPool({ connectionString: url }, 1);
    // Each holds the lock on its number.
    await processes.query('SELECT pg_advisory_lock($1, n) FROM generate_series(1, 40) AS n', [
      heartbeatLockClass,
    ]);
    const refused = await shard('create');
    await processes.end();
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(
      /With 2 shards the 40 running processes may open 1760 connections, and PostgreSQL allows \d+: raise max_connections/,
    );
  });

  test('refuses the role of the service, which may not create a schema', async () => {
    const { pool, url, env } = await newInstallation();
    const run = `shard_run_${randomBytes(4).toString('hex')}`;
    await pool.query(`CREATE ROLE ${run} LOGIN`);
    await grantRoles(pool, { run });
    await kopeck(env, 'shard', 'list');
    const asRun = new URL(url);
    asRun.searchParams.set('options', `-c role=${run}`);
    const refused = await kopeck({ ...env, DATABASE_URL: asRun.href }, 'shard', 'create');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(
      "run this with the DATABASE_URL of the schema's owner. Nothing was changed.",
    );
  });
});

describe('kopeck shard list', () => {
  test('shows partners, size and payments of each shard', async () => {
    const { shard, pool } = await newInstallation();
    await shard('create');
    await createPartner(auditContextOf(pool, systemClock), 'Shop');
    const { code, stdout } = await shard('list', '--json');
    expect(code).toBe(0);
    const { shards } = JSON.parse(stdout);
    expect(shards).toHaveLength(2);
    expect(shards[0].partners + shards[1].partners).toBe(1);
    for (const [number, found] of shards.entries())
      expect(found).toMatchObject({ shard: number, node: null, payments_per_minute: 0 });
    expect(shards[1].bytes).toBeGreaterThan(100_000);
    expect((await shard('list')).stdout).toMatch(
      /^shard +node +partners +rows \(about\) +MB +payments a minute/,
    );
  });

  test('says which shard cannot be read', async () => {
    const { shard, pool } = await newInstallation();
    await shard('create');
    await pool.query('ALTER TABLE shard_1.payments RENAME TO lost');
    const { code, stdout } = await shard('list');
    expect(code).toBe(1);
    expect(stdout).toMatch(/1 +this server .*cannot be read/);
  });
});
