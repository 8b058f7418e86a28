import { measureBaseline } from './baseline.ts';
import type { Context } from './context.ts';
import { perSecond } from './drive.ts';
import { type Figure, latency, rate } from './figures.ts';
import { baselineFigures, measurePayments } from './payments.ts';

const connections = 256;

/** All payments belong to one partner, so they lock the same balance row. */
export async function hotSection(context: Context): Promise<Figure[]> {
  const environment = await context.environment();
  const hot = environment.partners.slice(0, 1);
  context.progress(`Payments of one partner, ${connections} connections …`);
  const window = await measurePayments(environment, hot, connections, context.seconds);
  const baseline = await measureBaseline(environment, hot, context.seconds, line =>
    context.progress(`One partner: ${line}`),
  );
  const ratio = perSecond(window) / baseline.best;
  return [
    ...baselineFigures(baseline, 'one partner, '),
    {
      what: `payments of one partner, ${connections} connections`,
      measured: `${rate(perSecond(window))}; ${latency(window)}`,
      against: `${ratio.toFixed(2)} × its own one at a time`,
      bar: { name: 'one partner ÷ its own baseline', value: ratio, limit: 3, rule: '≥' },
      values: {
        perSecond: perSecond(window),
        p50Ms: window.p50Ms,
        p99Ms: window.p99Ms,
        baselinePerSecond: baseline.best,
        ratio,
      },
    },
  ];
}
