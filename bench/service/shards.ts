import { uuidFromId } from '../../src/base/ids.ts';
import type { Pool } from '../../src/db/pool.ts';
import { citusArchive } from '../../test/citus/archive.ts';
import type { Window } from '../driver/plan.ts';
import type { Context } from './context.ts';
import { citusDatabase, type DatabaseKind, embeddedDatabase } from './databases.ts';
import { drivePayments, perSecond, warmUpKeys, warmUpPayments } from './drive.ts';
import { openEnvironment } from './environment.ts';
import { type Figure, latency, rate, whole } from './figures.ts';
import { createPartners, type PayingPartner } from './partners.ts';
import { readServerTimes } from './processes.ts';
import { timesYardstick, type Yardstick } from './yardstick.ts';

interface Form {
  name: string;
  kind: DatabaseKind;
  /** Whether partners of this shard take part. */
  pays(shard: number): boolean;
}

const onWorkers = (shard: number) => shard > 0;
const forms: Form[] = [
  { name: 'one shard', kind: embeddedDatabase(), pays: () => true },
  { name: 'four shards', kind: embeddedDatabase({ shards: 4 }), pays: () => true },
];
const citusForms: Form[] = [
  { name: 'Citus, a shard on one worker', kind: citusDatabase({ workers: 1 }), pays: onWorkers },
  { name: 'Citus, a shard on each of two workers', kind: citusDatabase({ workers: 2 }), pays: onWorkers },
];
const connections = 256;
/** Fewer than elsewhere: creating one is slow on Citus, where every shard confirms its limits. */
const count = 200;

/**
 * Shards of one PostgreSQL and of Citus, each in a service of its own. All nodes share the cores of this machine, so more of them
 * bring nothing here: the figures show what a payment costs the database, and whether two nodes share that evenly.
 */
export async function shardsSection(context: Context): Promise<Figure[]> {
  const yardstick = await context.yardstick();
  if (!citusArchive)
    context.progress('Citus is not measured: it is not there for this machine (CITUS_ARCHIVE).');
  const plain = new Map<string, number>();
  const figures: Figure[] = [];
  for (const form of citusArchive ? [...forms, ...citusForms] : forms)
    figures.push(...(await measureForm(form, { yardstick, plain, context })));
  return figures;
}

interface Comparison {
  yardstick: Yardstick;
  /** What a payment of the first form costs the database, in µs, by mode. */
  plain: Map<string, number>;
  context: Context;
}

async function measureForm({ name, kind, pays }: Form, comparison: Comparison): Promise<Figure[]> {
  const { progress, seconds } = comparison.context;
  const environment = await openEnvironment(name.replaceAll(/\W+/g, '-'), progress, { kind, count });
  try {
    const { audit, keyring, service, pool } = environment;
    // Before the first payment: later partners go to the shard with the fewest.
    const live = await createPartners(audit, keyring, count, { mode: 'live' });
    await warmUpPayments(environment, comparison.context);
    await warmUpKeys(service.address, live);
    const figures: Figure[] = [];
    for (const [mode, all] of Object.entries({ test: environment.partners, live })) {
      const partners = await partnersOf(pool, all, pays);
      progress(`${name}: payments in ${mode} mode, ${connections} connections …`);
      const before = await readServerTimes(pool);
      const { succeeded, windows } = await drivePayments(environment, partners, connections, seconds);
      const after = await readServerTimes(pool);
      const perPayment = after.map((ms, nth) => ((ms - before[nth]!) * 1_000) / succeeded);
      figures.push(...figuresOf({ name, mode, window: windows[0]!, perPayment }, comparison));
    }
    await environment.verify();
    return figures;
  } finally {
    await environment.close();
  }
}

async function partnersOf(
  pool: Pool,
  partners: PayingPartner[],
  pays: Form['pays'],
): Promise<PayingPartner[]> {
  const { rows } = await pool.query<{ id: string; shard: number }>({
    text: 'SELECT id, shard FROM partners',
  });
  const paying = new Set(rows.filter(({ shard }) => pays(shard)).map(({ id }) => id));
  return partners.filter(({ partnerId }) => paying.has(uuidFromId(partnerId)));
}

interface Measured {
  name: string;
  mode: string;
  window: Window;
  /** CPU time of each server for a payment, in µs. */
  perPayment: number[];
}

function figuresOf(
  { name, mode, window, perPayment }: Measured,
  { yardstick: { best }, plain }: Comparison,
): Figure[] {
  const microseconds = perPayment.reduce((sum, time) => sum + time, 0);
  if (!plain.has(mode)) plain.set(mode, microseconds);
  const overhead = microseconds / plain.get(mode)!;
  const ratio = perSecond(window) / best;
  const figure: Figure = {
    what: `${name}: ${mode} payments, ${connections} connections`,
    measured: `${rate(perSecond(window))}; ${latency(window)}`,
    against: `${timesYardstick(ratio)}; ${whole(microseconds)} µs of CPU of the database, ${overhead.toFixed(2)} × one shard`,
    values: { mode, perSecond: perSecond(window), yardstickPerSecond: best, ratio, perPayment, overhead },
  };
  const [, first, second] = perPayment;
  if (first === undefined || second === undefined) return [figure];
  const even = Math.min(first, second) / Math.max(first, second);
  const share: Figure = {
    what: `${name}: share of the nodes, ${mode} payments`,
    measured: `${whole(first)} and ${whole(second)} µs of a payment`,
    against: `${even.toFixed(2)}; the coordinator ${whole(perPayment[0]!)} µs`,
    bar: { name: `two nodes share ${mode} payments`, value: even, limit: 0.9, rule: '≥' },
    values: { even, perPayment },
  };
  return [figure, share];
}
