import { join } from 'node:path';
import type { Pool } from '../../src/db/postgres/pool.ts';
import { afterFile } from '../helpers/after-file.ts';
import { secretKey } from '../helpers/api.ts';
import { startService } from '../helpers/cli.ts';
import { startSimulator } from '../helpers/simulator.ts';

const preload = join(import.meta.dirname, 'machine-clock.process.ts');

/** The environment of a process on a machine whose clock is wrong. */
export const machineEnv = ({ offsetMs = 0, jumpMs = 0 }) => ({
  NODE_OPTIONS: `--import ${preload}`,
  CLOCK_OFFSET_MS: `${offsetMs}`,
  CLOCK_JUMP_MS: `${jumpMs}`,
});

/** A bank side, and services on machines with right and wrong clocks. */
export async function createMachines(url: string) {
  const token = 'a-token-of-the-gateway';
  const bank = await startSimulator({ GATEWAY_TOKEN: token });
  const env = {
    DATABASE_URL: url,
    GATEWAY_URL: bank.address,
    GATEWAY_TOKEN: token,
    RATE_SOURCES: 'fixed:92.50',
    SECRET_KEY: secretKey,
    ROLES: 'api,worker',
    WEBHOOK_ALLOW_PRIVATE: 'true',
  };
  return {
    bank,
    start: async (clock: { offsetMs?: number; jumpMs?: number }) => {
      const service = await startService({ ...env, ...machineEnv(clock) });
      afterFile(() => service.stop());
      return service;
    },
  };
}

export async function databaseTime(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ at: Date }>('SELECT clock_timestamp() AS at');
  return rows[0]!.at.getTime();
}

/** Every column with a time on record, and its least and greatest value; not where a period starts, or what migrations wrote. */
export async function readStoredTimes(pool: Pool): Promise<{ column: string; min: Date; max: Date }[]> {
  const { rows: columns } = await pool.query<{ table: string; column: string }>(
    `SELECT c.table_name AS table, c.column_name AS column FROM information_schema.columns c
       JOIN information_schema.tables t USING (table_schema, table_name)
      WHERE c.table_schema = 'public' AND c.data_type = 'timestamp with time zone' AND t.table_type = 'BASE TABLE'
        AND c.table_name NOT LIKE 'schema_%' AND c.column_name <> 'from_at'
        AND (c.table_name, c.column_name) NOT IN (('service', 'refunds_from'))`,
  );
  const times = [];
  for (const { table, column } of columns) {
    const { rows } = await pool.query<{ min: Date | null; max: Date | null }>(
      `SELECT min(${column}), max(${column}) FROM ${table} WHERE isfinite(${column})`,
    );
    const { min, max } = rows[0]!;
    if (min && max) times.push({ column: `${table}.${column}`, min, max });
  }
  return times;
}
