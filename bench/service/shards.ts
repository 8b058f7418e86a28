import type { Context } from './context.ts';
import { measurePayments, perSecond, warmUpKeys, warmUpPayments } from './drive.ts';
import { openEnvironment, partnerCount } from './environment.ts';
import { type Figure, latency, rate } from './figures.ts';
import { createPartners } from './partners.ts';
import { timesYardstick, type Yardstick } from './yardstick.ts';

const shardCounts = [1, 4];
const connections = 256;

/**
 * One shard and four shards of one PostgreSQL, each in a service of its own, compared with the yardstick of the same run. On one
 * machine more shards bring nothing: the figures show what they cost.
 */
export async function shardsSection(context: Context): Promise<Figure[]> {
  const yardstick = await context.yardstick();
  const figures: Figure[] = [];
  for (const shards of shardCounts) figures.push(...(await measureWith(shards, yardstick, context)));
  return figures;
}

async function measureWith(shards: number, { best }: Yardstick, context: Context): Promise<Figure[]> {
  const { progress, seconds } = context;
  const name = shards === 1 ? '1 shard' : `${shards} shards`;
  const environment = await openEnvironment(`${shards}-shards`, progress, { shards });
  try {
    const { audit, keyring, service, partners } = environment;
    await warmUpPayments(environment, context);
    const live = await createPartners(audit, keyring, partnerCount, { mode: 'live' });
    await warmUpKeys(service.address, live);
    const figures: Figure[] = [];
    for (const [mode, paying] of Object.entries({ test: partners, live })) {
      progress(`${name}: payments in ${mode} mode, ${connections} connections …`);
      const window = await measurePayments(environment, paying, connections, seconds);
      const ratio = perSecond(window) / best;
      figures.push({
        what: `${name}: ${mode} payments, ${connections} connections`,
        measured: `${rate(perSecond(window))}; ${latency(window)}`,
        against: timesYardstick(ratio),
        values: { shards, mode, perSecond: perSecond(window), yardstickPerSecond: best, ratio },
      });
    }
    await environment.verify();
    return figures;
  } finally {
    await environment.close();
  }
}
