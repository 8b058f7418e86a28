import { measureOneByOne } from './one-by-one.ts';
import type { PayingPartner } from './partners.ts';
import { isPgbenchThere, openPgbench } from './pgbench.ts';
import { countPayments, type Stage } from './stage.ts';

export interface Baseline {
  by: 'pgbench' | 'the raw driver';
  rates: { connections: number; perSecond: number }[];
  best: number;
}

const connectionCounts = [8, 16, 32];

/** What the same statements give with one payment in each of them: the rate that a service without batches could reach. */
export async function measureBaseline(
  stage: Stage,
  partners: PayingPartner[],
  seconds: number,
  progress: (line: string) => void,
): Promise<Baseline> {
  const by = isPgbenchThere() ? 'pgbench' : 'the raw driver';
  const { rows } = await stage.pool.query('SELECT max(id) AS id FROM rates');
  const rateId: bigint = rows[0].id;
  const before = await countPayments(stage.pool);
  const rates: Baseline['rates'] = [];
  const pgbench = by === 'pgbench' ? await openPgbench(stage, partners, rateId) : undefined;
  try {
    for (const connections of connectionCounts) {
      progress(`One payment at a time (${by}), ${connections} connections …`);
      const perSecond = pgbench
        ? await pgbench.measure(connections, seconds)
        : await measureOneByOne(stage.connection, partners, rateId, connections, seconds);
      rates.push({ connections, perSecond });
    }
  } finally {
    await pgbench?.close();
  }
  await expectSettled(stage, before, rates, seconds);
  return { by, rates, best: Math.max(...rates.map(({ perSecond }) => perSecond)) };
}

/** A statement that refuses is quicker than one that pays: the books must show what was counted. */
async function expectSettled(stage: Stage, before: number, rates: Baseline['rates'], seconds: number) {
  const settled = (await countPayments(stage.pool)) - before;
  const counted = rates.reduce((sum, { perSecond }) => sum + perSecond * seconds, 0);
  if (settled < counted * 0.95)
    throw new Error(`the baseline counted ${Math.round(counted)} payments and settled ${settled}`);
}
