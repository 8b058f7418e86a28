import type { Pool } from '../../src/db/postgres/index.ts';
import type { Context } from './context.ts';
import { measurePayments, perSecond, warmUpPayments } from './drive.ts';
import { type BenchEnvironment, countPayments, openEnvironment } from './environment.ts';
import { type Figure, latency, rate, whole } from './figures.ts';
import { fill } from './fill.ts';

const connections = 256;
const small = 10_000;
const large = 1_000_000;
const huge = 10_000_000;

/** Speed and disk usage with many stored payments, in its own folder that starts empty. */
export async function growthSection(context: Context): Promise<Figure[]> {
  const environment = await openEnvironment('growth', context.progress);
  try {
    // A cold service would be slower with few payments, which flatters the ratio.
    await warmUpPayments(environment, context);
    const first = await measureWith(environment, small, context);
    const sizeBefore = await sizeOf(environment.pool);
    const figures = [figureOf(first)];
    const targets = context.big ? [large, huge] : [large];
    for (const target of targets) {
      const measured = await measureWith(environment, target, context);
      figures.push(figureOf(measured, { first, hasBar: target === targets.at(-1) }));
    }
    const { bytes, payments } = await sizeOf(environment.pool);
    const perPayment = (bytes - sizeBefore.bytes) / (payments - sizeBefore.payments);
    context.progress('Verifying the ledger of all these …');
    const entries = await environment.verify();
    return [
      ...figures,
      {
        what: 'on disk, with all indexes',
        measured: `${whole(perPayment)} bytes a payment`,
        against: `the ledger is in order, ${whole(entries)} entries`,
        values: { bytesPerPayment: perPayment, entries },
      },
    ];
  } finally {
    await environment.close();
  }
}

type Measured = Awaited<ReturnType<typeof measureWith>>;

async function measureWith(environment: BenchEnvironment, stored: number, { progress, seconds }: Context) {
  await fill(environment, stored, progress);
  progress(`Payments with ${whole(stored)} stored, ${connections} connections …`);
  return { stored, window: await measurePayments(environment, environment.partners, connections, seconds) };
}

async function sizeOf(pool: Pool): Promise<{ bytes: number; payments: number }> {
  const { rows } = await pool.query(
    `SELECT sum(pg_total_relation_size(name))::float8 AS bytes
       FROM unnest('{payments, entries, events, accounts, open_payments}'::regclass[]) AS name`,
  );
  return { bytes: rows[0].bytes, payments: await countPayments(pool) };
}

function figureOf({ stored, window }: Measured, compared?: { first: Measured; hasBar: boolean }): Figure {
  const { p50Ms, p99Ms } = window;
  const figure = {
    what: `payments with ${whole(stored)} stored, ${connections} connections`,
    measured: `${rate(perSecond(window))}; ${latency(window)}`,
    values: { stored, perSecond: perSecond(window), p50Ms, p99Ms },
  };
  if (!compared) return figure;
  const { first, hasBar } = compared;
  const ratio = perSecond(window) / perSecond(first.window);
  return {
    ...figure,
    against: `${ratio.toFixed(2)} × with ${whole(first.stored)} stored`,
    values: { ...figure.values, ratio },
    ...(hasBar
      ? { bar: { name: `${stored / 1e6} million stored ÷ 10 thousand`, value: ratio, limit: 0.9, rule: '≥' } }
      : {}),
  };
}
