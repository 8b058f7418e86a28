import type { Window } from '../driver/plan.ts';
import type { Baseline } from './baseline.ts';
import type { Context } from './context.ts';
import { driveWell, payTargets, perSecond, timing } from './drive.ts';
import { type Figure, latency, megabytes, rate } from './figures.ts';
import { type ProcessMemory, whileSampling } from './memory.ts';
import type { PayingPartner } from './partners.ts';
import type { Stage } from './stage.ts';

const connectionCounts = [16, 64, 256];
const sampleEveryMs = 500;

/** One measurement of payments over HTTP, from the request to the settled answer. */
export async function measurePayments(
  { service }: Stage,
  partners: PayingPartner[],
  connections: number,
  seconds: number,
): Promise<Window> {
  const { windows } = await driveWell({
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

/** Payments over HTTP beside the baseline, and what they cost in memory. */
export async function paymentsSection(context: Context): Promise<Figure[]> {
  const { progress, seconds } = context;
  const stage = await context.stage();
  const measured: { connections: number; window: Window }[] = [];
  const { samples } = await whileSampling(stage.service.pid, sampleEveryMs, async () => {
    for (const connections of connectionCounts) {
      progress(`Payments, ${connections} connections …`);
      measured.push({
        connections,
        window: await measurePayments(stage, stage.partners, connections, seconds),
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
      what: 'payments, the best of these',
      measured: rate(best),
      against: `${ratio.toFixed(2)} × one at a time, the best of those`,
      bar: { name: 'payments ÷ one at a time', value: ratio, limit: 2, rule: '≥' },
      values: { perSecond: best, baselinePerSecond: baseline.best, ratio },
    },
    ...memoryFigures(stage.memoryAtRest, samples),
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
