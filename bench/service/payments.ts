import { join } from 'node:path';
import type { Window } from '../driver/plan.ts';
import { start } from '../process.ts';
import type { Context } from './context.ts';
import { measurePayments, perSecond } from './drive.ts';
import { type Bar, type Figure, latency, ms, rate } from './figures.ts';
import type { PayingPartner } from './partners.ts';
import { timesYardstick, type Yardstick, yardstickFigures } from './yardstick.ts';

const testConnections = [16, 64, 256];
const liveConnections = [64, 256];
/** The number of connections of the bars. */
const many = 256;
const few = 16;

export const yardstickSection = async ({ yardstick }: Context): Promise<Figure[]> =>
  yardstickFigures(await yardstick());

/** Test payments over HTTP: no bank time is included. */
export async function paymentsSection(context: Context): Promise<Figure[]> {
  const yardstick = await context.yardstick();
  const environment = await context.environment();
  const measured = await measureAll('test', testConnections, context, environment.partners);
  return [
    ...measured.map(one => figureOf('test', one, yardstick, 1.5)),
    medianFigure(measured.find(({ connections }) => connections === few)!.window, yardstick),
  ];
}

/** Live payments over HTTP, through a gateway that answers at once. */
export async function liveSection(context: Context): Promise<Figure[]> {
  const yardstick = await context.yardstick();
  const measured = await measureAll('live', liveConnections, context, await context.livePartners());
  const figures = measured.map(one => figureOf('live', one, yardstick, 0.8));
  return [...figures, boundFigure(await measureBare(context), measured.at(-1)!, yardstick)];
}

const bareRoute = join(import.meta.dirname, '..', 'bare.process.ts');

/** The HTTP of a live payment without its database and its rules. */
async function measureBare(context: Context): Promise<Window> {
  const { bank } = await context.environment();
  context.progress(`A bare route with two calls, ${many} connections …`);
  const service = await start(bareRoute, [], { BANK: bank.address });
  return measurePayments({ service }, await context.livePartners(), many, context.seconds).finally(
    service.stop,
  );
}

/**
 * What no service in Node can exceed on these cores: a payment that costs only a lean database and a bare HTTP route. All
 * programs share the cores, so the times add up.
 */
function boundFigure(bare: Window, { window }: Measured, { best }: Yardstick): Figure {
  const bound = 1 / (1 / perSecond(bare) + 1 / best);
  const ratio = perSecond(window) / bound;
  return {
    what: `a bare Fastify route with the two calls of a live payment, ${many} connections`,
    measured: `${rate(perSecond(bare))}; ${latency(bare)}`,
    against: `${timesYardstick(perSecond(bare) / best)}; with the yardstick’s database ${rate(bound)}, of which live payments make ${ratio.toFixed(2)} ×`,
    values: { connections: many, perSecond: perSecond(bare), bound, ratio },
  };
}

interface Measured {
  connections: number;
  window: Window;
}

async function measureAll(
  mode: string,
  connectionCounts: number[],
  context: Context,
  partners: PayingPartner[],
): Promise<Measured[]> {
  const environment = await context.environment();
  const measured: Measured[] = [];
  for (const connections of connectionCounts) {
    context.progress(`Payments in ${mode} mode, ${connections} connections …`);
    measured.push({
      connections,
      window: await measurePayments(environment, partners, connections, context.seconds),
    });
  }
  return measured;
}

function figureOf(
  mode: string,
  { connections, window }: Measured,
  { best }: Yardstick,
  limit: number,
): Figure {
  const ratio = perSecond(window) / best;
  const { p50Ms, p99Ms } = window;
  const bar: Bar = { name: `${mode} payments ÷ yardstick`, value: ratio, limit, rule: '≥' };
  return {
    what: `${mode} payments, ${connections} connections`,
    measured: `${rate(perSecond(window))}; ${latency(window)}`,
    against: timesYardstick(ratio),
    ...(connections === many ? { bar } : {}),
    values: { connections, perSecond: perSecond(window), p50Ms, p99Ms, yardstickPerSecond: best, ratio },
  };
}

function medianFigure({ p50Ms }: Window, { rates }: Yardstick): Figure {
  const yardstickMs = rates.find(({ connections }) => connections === few)!.p50Ms;
  const ratio = p50Ms / yardstickMs;
  return {
    what: `median of a test payment, ${few} connections`,
    measured: ms(p50Ms),
    against: `${ratio.toFixed(2)} × the median of the yardstick, ${ms(yardstickMs)}`,
    bar: { name: `median at ${few} ÷ yardstick's`, value: ratio, limit: 2, rule: '≤' },
    values: { p50Ms, yardstickP50Ms: yardstickMs, ratio },
  };
}
