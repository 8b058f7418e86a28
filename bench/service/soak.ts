import type { Pool } from '../../src/db/postgres/index.ts';
import { median } from '../median.ts';
import type { Context } from './context.ts';
import { driveStrictly, payTargets, perSecond } from './drive.ts';
import { type Figure, megabytes, ms, rate } from './figures.ts';
import { type Memory, totalOf, whileSampling } from './memory.ts';

const connections = 64;
const sampleEveryMs = 1_000;
const minuteMs = 60_000;
/** Memory varies with every garbage collection, so the median of several samples is used. */
const samplesForOne = 15;

/** A steady load for a long time, to find leaks of memory and connections. */
export async function soakSection(context: Context): Promise<Figure[]> {
  const environment = await context.environment();
  context.progress(`A steady load for ${context.minutes} minutes, ${connections} connections …`);
  const connectionCounts: number[] = [];
  const timer = setInterval(async () => {
    connectionCounts.push(await countConnections(environment.pool));
    context.progress(`${connectionCounts.length} of ${context.minutes} minutes …`);
  }, minuteMs);
  const { result, samples } = await whileSampling(environment, sampleEveryMs, () =>
    driveStrictly({
      address: environment.service.address,
      targets: payTargets(environment.partners),
      work: 'pay',
      load: { connections },
      // Later minutes are compared with the first one, so it starts after the warm-up.
      warmUpMs: 5_000,
      windowMs: minuteMs,
      windows: context.minutes,
    }),
  ).finally(() => clearInterval(timer));
  const { windows } = result;
  const [first, last] = [windows[0]!, windows.at(-1)!];
  const afterOneMinute = middle(samples.slice(0, minuteMs / sampleEveryMs).slice(-samplesForOne));
  const atEnd = middle(samples.slice(-samplesForOne));
  const memoryRatio = atEnd / afterOneMinute;
  const p99Ratio = last.p99Ms / first.p99Ms;
  return [
    {
      what: `soak: memory after ${context.minutes} minutes, ${connections} connections`,
      measured: megabytes(atEnd),
      against: `${memoryRatio.toFixed(2)} × after the first minute`,
      bar: { name: 'memory after the soak', value: memoryRatio, limit: 1.2, rule: '≤' },
      values: { afterOneMinuteBytes: afterOneMinute, atEndBytes: atEnd, ratio: memoryRatio },
    },
    {
      what: 'soak: payments in the last minute',
      measured: `${rate(perSecond(last))}, 99th ${ms(last.p99Ms)}`,
      against: `${(perSecond(last) / perSecond(first)).toFixed(2)} × the first, 99th ${p99Ratio.toFixed(2)} ×`,
      values: { perSecond: windows.map(perSecond), p99Ms: windows.map(({ p99Ms }) => p99Ms), p99Ratio },
    },
    {
      what: 'soak: connections to the database',
      measured: `${connectionCounts.at(-1)} at the end`,
      against: `${connectionCounts[0]} after the first minute`,
      values: { connections: connectionCounts },
    },
  ];
}

async function countConnections(pool: Pool): Promise<number> {
  const { rows } = await pool.query(
    `SELECT count(*)::int AS count FROM pg_stat_activity
      WHERE backend_type = 'client backend' AND application_name <> 'kopeck bench'`,
  );
  return rows[0].count;
}

/** The median of the total over all processes. */
const middle = (samples: Memory[]) => median(samples.map(totalOf));
