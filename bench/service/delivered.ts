import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { start } from '../process.ts';
import type { Context } from './context.ts';
import { driveWell, greet, payTargets } from './drive.ts';
import { type Figure, rate, whole } from './figures.ts';
import { createPartners, type PayingPartner } from './partners.ts';
import type { Stage } from './stage.ts';

const sink = join(import.meta.dirname, '..', 'sink.process.ts');
const connections = 256;
const lookEveryMs = 100;
/** Deliveries may take this long after the last payment; then something is wrong with them. */
const patienceMs = 120_000;

interface Arrivals {
  /** Different events; how often one came more than once; when the last new one came. */
  events: number;
  repeated: number;
  lastAtMs: number;
}

/** Payments of partners that all have a webhook, until the last event has arrived. */
export async function deliveredSection(context: Context): Promise<Figure[]> {
  const stage = await context.stage();
  const { best } = await context.baseline();
  const receiver = await start(sink, [], {});
  try {
    context.progress(`${stage.partners.length} partners with a webhook …`);
    const { audit, secretKey } = stage;
    const partners = await createPartners(audit, secretKey, stage.partners.length, receiver.address);
    await greet(stage.service.address, partners);
    context.progress('Payments with webhooks, to warm up …');
    await payUntilDelivered(stage, partners, receiver.address, context.seconds / 2);
    context.progress('Payments with webhooks …');
    const { payments, seconds, lagMs, repeated } = await payUntilDelivered(
      stage,
      partners,
      receiver.address,
      context.seconds * 1.5,
    );
    const perSecond = payments / seconds;
    const ratio = perSecond / best;
    return [
      {
        what: `payments with webhooks, ${connections} connections, until the last delivery`,
        measured: `${rate(perSecond)}; the last ${whole(lagMs)} ms after its payment`,
        against: `${ratio.toFixed(2)} × one at a time, the best of those`,
        bar: { name: 'with webhooks ÷ one at a time', value: ratio, limit: 1, rule: '≥' },
        values: { perSecond, payments, seconds, lagMs, repeated, baselinePerSecond: best, ratio },
      },
    ];
  } finally {
    await receiver.stop();
  }
}

async function payUntilDelivered(
  { service }: Stage,
  partners: PayingPartner[],
  receiver: string,
  seconds: number,
) {
  await fetch(`${receiver}/forget`);
  const { startedAtMs, succeeded: payments } = await driveWell({
    address: service.address,
    targets: payTargets(partners),
    work: 'pay',
    load: { connections },
    warmUpMs: 0,
    windowMs: seconds * 1_000,
    windows: 1,
  });
  const paidAtMs = Date.now();
  const { lastAtMs, repeated } = await arrivalOf(payments, receiver);
  return {
    payments,
    repeated,
    seconds: (lastAtMs - startedAtMs) / 1_000,
    lagMs: Math.max(0, lastAtMs - paidAtMs),
  };
}

async function arrivalOf(events: number, receiver: string): Promise<Arrivals> {
  for (const giveUpAt = Date.now() + patienceMs; ; await sleep(lookEveryMs)) {
    const arrivals = (await (await fetch(`${receiver}/arrivals`)).json()) as Arrivals;
    if (arrivals.events >= events) return arrivals;
    if (Date.now() > giveUpAt) throw new Error(`${arrivals.events} of ${events} events were delivered`);
  }
}
