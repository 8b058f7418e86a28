import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { start } from '../process.ts';
import type { Context } from './context.ts';
import { driveStrictly, payTargets, warmUpKeys } from './drive.ts';
import type { BenchEnvironment } from './environment.ts';
import { type Figure, rate, whole } from './figures.ts';
import { createPartners, type PayingPartner } from './partners.ts';
import { timesYardstick } from './yardstick.ts';

const sink = join(import.meta.dirname, '..', 'sink.process.ts');
const connections = 256;
const pollEveryMs = 100;
/** Deliveries that take longer than this after the last payment fail the bench. */
const maxWaitMs = 120_000;

interface Arrivals {
  /** Distinct events, repeats, and the time of the last new event. */
  events: number;
  repeated: number;
  lastAtMs: number;
}

/** Payments of partners with webhooks, measured until the last event has arrived. */
export async function deliveredSection(context: Context): Promise<Figure[]> {
  const { best } = await context.yardstick();
  const environment = await context.environment();
  const receiver = await start(sink, [], {});
  try {
    context.progress(`${environment.partners.length} partners with a webhook …`);
    const { audit, keyring } = environment;
    const partners = await createPartners(audit, keyring, environment.partners.length, {
      mode: 'test',
      receiver: receiver.address,
    });
    await warmUpKeys(environment.service.address, partners);
    context.progress('Payments with webhooks, to warm up …');
    await payUntilDelivered(environment, partners, receiver.address, context.seconds / 2);
    context.progress('Payments with webhooks …');
    const { payments, seconds, lagMs, repeated } = await payUntilDelivered(
      environment,
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
        against: timesYardstick(ratio),
        bar: { name: 'with webhooks ÷ yardstick', value: ratio, limit: 0.6, rule: '≥' },
        values: { perSecond, payments, seconds, lagMs, repeated, yardstickPerSecond: best, ratio },
      },
    ];
  } finally {
    await receiver.stop();
  }
}

async function payUntilDelivered(
  { service }: BenchEnvironment,
  partners: PayingPartner[],
  receiver: string,
  seconds: number,
) {
  await fetch(`${receiver}/reset`);
  const { startedAtMs, succeeded: payments } = await driveStrictly({
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
  for (const deadline = Date.now() + maxWaitMs; ; await sleep(pollEveryMs)) {
    const arrivals = (await (await fetch(`${receiver}/arrivals`)).json()) as Arrivals;
    if (arrivals.events >= events) return arrivals;
    if (Date.now() > deadline) throw new Error(`${arrivals.events} of ${events} events were delivered`);
  }
}
