import type { Context } from './context.ts';
import { measurePayments, perSecond } from './drive.ts';
import { type Figure, latency, rate } from './figures.ts';
import { measureYardstick, yardstickFigures } from './yardstick.ts';

const connections = 256;

/** All payments belong to one partner, so they lock the same balance row; so do those of its yardstick. */
export async function hotSection(context: Context): Promise<Figure[]> {
  const yardstick = await measureYardstick(1, context.seconds, line =>
    context.progress(`One partner: ${line}`),
  );
  const environment = await context.environment();
  const hot = environment.partners.slice(0, 1);
  context.progress(`Payments of one partner, ${connections} connections …`);
  const window = await measurePayments(environment, hot, connections, context.seconds);
  const ratio = perSecond(window) / yardstick.best;
  return [
    ...yardstickFigures(yardstick, ' of one partner'),
    {
      what: `test payments of one partner, ${connections} connections`,
      measured: `${rate(perSecond(window))}; ${latency(window)}`,
      against: `${ratio.toFixed(2)} × the yardstick of one partner`,
      bar: { name: 'one partner ÷ its yardstick', value: ratio, limit: 1.5, rule: '≥' },
      values: {
        perSecond: perSecond(window),
        p50Ms: window.p50Ms,
        p99Ms: window.p99Ms,
        yardstickPerSecond: yardstick.best,
        ratio,
      },
    },
  ];
}
