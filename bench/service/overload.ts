import { setTimeout as sleep } from 'node:timers/promises';
import type { Window } from '../driver/plan.ts';
import type { Context } from './context.ts';
import { drive, measurePayments, payTargets, perSecond } from './drive.ts';
import type { BenchEnvironment } from './environment.ts';
import { type Bar, type Figure, ms, rate } from './figures.ts';

const connectionsForCapacity = 256;
const multiples = [1, 2, 4];
const windowMs = 8_000;
const warmUpMs = 2_000;
/** Real callers wait for their answers too, so their number is limited. */
const maxConnections = 4_000;
const pauseMs = 2_000;
/** A caller that is refused must know it soon, so that it can go elsewhere. */
const maxRefusalMs = 250;

/** Open load: requests arrive at a fixed rate, whether or not the earlier ones were answered. */
export async function overloadSection(context: Context): Promise<Figure[]> {
  const environment = await context.environment();
  context.progress(`Capacity, ${connectionsForCapacity} connections …`);
  const atCapacity = await measurePayments(
    environment,
    environment.partners,
    connectionsForCapacity,
    context.seconds,
  );
  const capacity = perSecond(atCapacity);
  const figures: Figure[] = [];
  for (const multiple of multiples) {
    await sleep(pauseMs);
    context.progress(`${multiple} × capacity …`);
    figures.push(figureOf(multiple, capacity, await offer(environment, capacity * multiple)));
  }
  return figures;
}

async function offer({ service, partners }: BenchEnvironment, offeredPerSecond: number): Promise<Window> {
  const { windows } = await drive({
    address: service.address,
    targets: payTargets(partners),
    work: 'pay',
    load: { perSecond: offeredPerSecond, maxConnections },
    warmUpMs,
    windowMs,
    windows: 1,
  });
  return windows[0]!;
}

function figureOf(multiple: number, capacity: number, window: Window): Figure {
  const { seconds, unsent, refused, refusedP99Ms, p50Ms, p99Ms } = window;
  const offered = (window.sent + unsent) / seconds;
  const kept = perSecond(window) / capacity;
  const refusals = Object.entries(refused).map(([why, count]) => `${rate(count / seconds)} ${why}`);
  const bar: Bar = {
    name: `refusals at ${multiple} × capacity, 99th, ms`,
    value: refusedP99Ms,
    limit: maxRefusalMs,
    rule: '≤',
  };
  return {
    what: `overload: ${multiple} × capacity, ${rate(offered)} offered`,
    measured: `${rate(perSecond(window))} succeeded, 99th ${ms(p99Ms)}`,
    against: [
      `${kept.toFixed(2)} × capacity`,
      refusals.length > 0 ? `refused ${refusals.join(', ')}, 99th ${ms(refusedP99Ms)}` : 'nobody refused',
      ...(unsent > 0 ? [`${rate(unsent / seconds)} found no free connection of ${maxConnections}`] : []),
    ].join('; '),
    ...(multiple > 1 ? { bar } : {}),
    values: {
      multiple,
      capacityPerSecond: capacity,
      offeredPerSecond: offered,
      succeededPerSecond: perSecond(window),
      kept,
      p50Ms,
      p99Ms,
      refused,
      refusedP99Ms,
      unsentPerSecond: unsent / seconds,
    },
  };
}
