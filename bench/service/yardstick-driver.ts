import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { openPool, type Queryable } from '../../src/db/postgres/index.ts';
import { median } from '../median.ts';
import type { Measure } from './yardstick-pgbench.ts';

/** Where pgbench is not installed: the same two calls as prepared statements of the database driver. */
export const payOneByOne =
  (connection: pg.ClientConfig, accounts: number): Measure =>
  async (connections, seconds) => {
    const pool = openPool(connection, connections);
    const clients = await Promise.all(Array.from({ length: connections }, () => pool.connect()));
    const times: number[] = [];
    let isStopped = false;
    const loops = clients.map(async client => {
      try {
        while (!isStopped) {
          const startedAt = performance.now();
          await payAlone(client, randomInt(1, accounts + 1));
          times.push(performance.now() - startedAt);
        }
      } finally {
        client.release();
      }
    });
    const startedAt = performance.now();
    try {
      await Promise.race([sleep(seconds * 1_000), Promise.all(loops)]);
      const perSecond = (times.length * 1_000) / (performance.now() - startedAt);
      return { payments: times.length, perSecond, p50Ms: median(times) };
    } finally {
      isStopped = true;
      await Promise.allSettled(loops);
      await pool.end();
    }
  };

async function payAlone(db: Queryable, partner: number): Promise<void> {
  const number = randomInt(2 ** 47);
  const kopecks = randomInt(1_000, 10_000_000);
  const { rows } = await db.query<{ payment: string }>({
    name: 'reserve',
    text: `SELECT reserve($1, $2, $3, $4, $5, '91.575', '{"order":"1"}') AS payment`,
    values: [partner, `key-${number}`, `AD${number}`, kopecks, kopecks * 109],
  });
  await db.query({ name: 'settle', text: 'SELECT settle($1)', values: [rows[0]!.payment] });
}
