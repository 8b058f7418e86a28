import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { openEmbedded } from '../../src/db/embedded/index.ts';
import { openPool, type Pool } from '../../src/db/postgres/index.ts';
import { closeOnce, newFolder } from './cleanup.ts';
import { type Figure, ms, rate } from './figures.ts';
import { payOneByOne } from './yardstick-driver.ts';
import { isPgbenchInstalled, type Measure, openPgbench, yardstickFolder } from './yardstick-pgbench.ts';

/** What one number of connections reached, with the median time of a payment. */
interface YardstickRate {
  connections: number;
  perSecond: number;
  p50Ms: number;
}

export interface Yardstick {
  by: string;
  rates: YardstickRate[];
  /** Payments per second with the best number of connections. */
  best: number;
}

const connectionCounts = [8, 16, 32];
const funds = 9n * 10n ** 17n;

/**
 * What PostgreSQL does with a lean ledger when every payment comes alone. It has its own server, with the binaries and the
 * settings of the service's server, and it is closed afterwards: its checkpoints must not fall into other measurements.
 */
export async function measureYardstick(
  accounts: number,
  seconds: number,
  progress: (line: string) => void,
): Promise<Yardstick> {
  const folder = newFolder('yardstick');
  const server = await openEmbedded(folder.dir, () => {}, 'create');
  const pool = openPool({ ...server.connection, application_name: 'kopeck bench' });
  const close = closeOnce(async () => {
    await pool.end();
    await server.close();
  });
  try {
    await createLedger(pool, accounts);
    return await measureAll(pool, server.connection, { accounts, seconds, progress });
  } finally {
    await close();
    await folder.remove();
  }
}

async function createLedger(pool: Pool, accounts: number): Promise<void> {
  await pool.query(readFileSync(join(yardstickFolder, 'schema.sql'), 'utf8'));
  await pool.query(
    `INSERT INTO accounts (partner, mode, available) SELECT partner, 0, ${funds} FROM generate_series(1, ${accounts}) AS partner`,
  );
  await pool.query('VACUUM ANALYZE accounts');
  await pool.query('CHECKPOINT');
}

async function measureAll(
  pool: Pool,
  connection: pg.ClientConfig,
  { accounts, seconds, progress }: { accounts: number; seconds: number; progress(line: string): void },
): Promise<Yardstick> {
  const by = isPgbenchInstalled() ? 'pgbench' : 'the database driver, as pgbench is not installed';
  const pgbench = by === 'pgbench' ? openPgbench(connection, accounts) : undefined;
  const measure: Measure = pgbench?.measure ?? payOneByOne(connection, accounts);
  const rates: YardstickRate[] = [];
  try {
    progress(`Yardstick (${by}), to warm up …`);
    await measure(16, Math.ceil(seconds / 2));
    for (const connections of connectionCounts) {
      progress(`Yardstick (${by}), ${connections} connections …`);
      const settledBefore = await countSettled(pool);
      const { payments, ...measured } = await measure(connections, seconds);
      await expectSettled(pool, settledBefore, payments);
      rates.push({ connections, ...measured });
    }
  } finally {
    await pgbench?.close();
  }
  return { by, rates, best: Math.max(...rates.map(({ perSecond }) => perSecond)) };
}

async function countSettled(pool: Pool): Promise<number> {
  const { rows } = await pool.query('SELECT count(*)::int AS settled FROM payments WHERE status = 1');
  return rows[0].settled;
}

/** A call that changes nothing is faster than a payment, so the ledger must contain what was counted. */
async function expectSettled(pool: Pool, before: number, counted: number): Promise<void> {
  const settled = (await countSettled(pool)) - before;
  if (settled < counted) throw new Error(`the yardstick counted ${counted} payments and settled ${settled}`);
}

export const timesYardstick = (ratio: number) => `${ratio.toFixed(2)} × the yardstick`;

export const yardstickFigures = ({ rates, by, best }: Yardstick, whose = ''): Figure[] =>
  rates.map(({ connections, perSecond, p50Ms }) => ({
    what: `yardstick${whose} (${by}), ${connections} connections`,
    measured: rate(perSecond),
    against: `50th ${ms(p50Ms)}${perSecond === best ? '; the best' : ''}`,
    values: { by, connections, perSecond, p50Ms },
  }));
