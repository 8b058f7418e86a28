import type { Window } from '../driver/plan.ts';
import type { Baseline } from './baseline.ts';
import type { Context } from './context.ts';
import { driveStrictly, payTargets, perSecond, timing } from './drive.ts';
import type { BenchEnvironment } from './environment.ts';
import { type Figure, latency, megabytes, rate } from './figures.ts';
import { type ProcessMemory, whileSampling } from './memory.ts';
import type { PayingPartner } from './partners.ts';

const connectionCounts = [16, 64, 256];
const sampleEveryMs = 500;

/** Measures payments over HTTP, from the request to the final answer. */
export async function measurePayments(
  { service }: BenchEnvironment,
  partners: PayingPartner[],
  connections: number,
  seconds: number,
): Promise<Window> {
  const { windows } = await driveStrictly({
    address: service.address,
    targets: payTargets(partners),
    work: 'pay',
    load: { connections },
    ...timing(seconds),
  });
  return windows[0]!;
}

export const baselineFigures = ({ rates, by }: Baseline, whose = ''): Figure[] =>
  rates.map(({ connections, perSecond: perSecondOfThese }) => ({
    what: `${whose}one payment at a time (${by}), ${connections} connections`,
    measured: rate(perSecondOfThese),
    values: { connections, perSecond: perSecondOfThese },
  }));

/** Payments over HTTP with their baseline, and the memory of each process. */
export async function paymentsSection(context: Context): Promise<Figure[]> {
  const { progress, seconds } = context;
  const environment = await context.environment();
  const measured: { connections: number; window: Window }[] = [];
  const { samples } = await whileSampling(environment.service.pid, sampleEveryMs, async () => {
    for (const connections of connectionCounts) {
      progress(`Payments, ${connections} connections …`);
      measured.push({
        connections,
        window: await measurePayments(environment, environment.partners, connections, seconds),
      });
    }
  });
  const baseline = await context.baseline();
  const best = Math.max(...measured.map(({ window }) => perSecond(window)));
  const ratio = best / baseline.best;
  return [
    ...measured.map(({ connections, window }) => ({
      what: `payments, ${connections} connections`,
      measured: rate(perSecond(window)),
      against: latency(window),
      values: { connections, perSecond: perSecond(window), p50Ms: window.p50Ms, p99Ms: window.p99Ms },
    })),
    ...baselineFigures(baseline),
    {
      what: 'payments, best of 16, 64 and 256 connections',
      measured: rate(best),
      against: `${ratio.toFixed(2)} × one at a time, best of 8, 16 and 32 connections`,
      bar: { name: 'payments ÷ one at a time', value: ratio, limit: 2, rule: '≥' },
      values: { perSecond: best, baselinePerSecond: baseline.best, ratio },
    },
    ...memoryFigures(environment.memoryAtRest, samples),
  ];
}

const memoryFigures = (atRest: ProcessMemory[], samples: ProcessMemory[][]): Figure[] =>
  atRest.map(({ pid, role, bytes }) => {
    const most = Math.max(
      ...samples.flat().flatMap(sample => (sample.pid === pid ? [sample.bytes] : [])),
      bytes,
    );
    return {
      what: `memory: ${role}`,
      measured: `${megabytes(bytes)} at rest`,
      against: `${megabytes(most)} under load`,
      values: { role, atRestBytes: bytes, underLoadBytes: most },
    };
  });
