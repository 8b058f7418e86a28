import { type BenchEnvironment, countPayments } from './environment.ts';
import { measureOneByOne } from './one-by-one.ts';
import type { PayingPartner } from './partners.ts';
import { isPgbenchInstalled, openPgbench } from './pgbench.ts';

export interface Baseline {
  by: 'pgbench' | 'the raw driver';
  rates: { connections: number; perSecond: number }[];
  best: number;
}

const connectionCounts = [8, 16, 32];

/** The rate of the same statements with one payment each: what a service without batches could reach at best. */
export async function measureBaseline(
  environment: BenchEnvironment,
  partners: PayingPartner[],
  seconds: number,
  progress: (line: string) => void,
): Promise<Baseline> {
  const by = isPgbenchInstalled() ? 'pgbench' : 'the raw driver';
  const { rows } = await environment.pool.query('SELECT max(id) AS id FROM rates');
  const rateId: bigint = rows[0].id;
  const before = await countPayments(environment.pool);
  const rates: Baseline['rates'] = [];
  const pgbench = by === 'pgbench' ? await openPgbench(environment, partners, rateId) : undefined;
  try {
    for (const connections of connectionCounts) {
      progress(`One payment at a time (${by}), ${connections} connections …`);
      const perSecond = pgbench
        ? await pgbench.measure(connections, seconds)
        : await measureOneByOne(environment.connection, partners, rateId, connections, seconds);
      rates.push({ connections, perSecond });
    }
  } finally {
    await pgbench?.close();
  }
  await expectSettled(environment, before, rates, seconds);
  return { by, rates, best: Math.max(...rates.map(({ perSecond }) => perSecond)) };
}

/** A refusing statement is faster than a paying one, so the ledger must contain what was counted. */
async function expectSettled(
  environment: BenchEnvironment,
  before: number,
  rates: Baseline['rates'],
  seconds: number,
) {
  const settled = (await countPayments(environment.pool)) - before;
  const counted = rates.reduce((sum, { perSecond }) => sum + perSecond * seconds, 0);
  if (settled < counted * 0.95)
    throw new Error(`the baseline counted ${Math.round(counted)} payments and settled ${settled}`);
}
