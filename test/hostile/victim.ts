import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HostileWorld } from './world.ts';

export interface Measured {
  payments: number;
  medianMs: number;
  p99Ms: number;
  /** Answers other than a payment that succeeded, with how often each came. */
  refusals: Map<string, number>;
}

const everyMs = 50;
/** One in so many is live, through the bank side. */
const liveShare = 5;

/** Payments of the victim at a steady rate, whether or not earlier ones were answered. */
export async function measureVictim(world: HostileWorld, forMs: number): Promise<Measured> {
  const count = Math.round(forMs / everyMs);
  const liveQrs = await Promise.all(Array.from({ length: Math.ceil(count / liveShare) }, world.newLiveQr));
  const durations: number[] = [];
  const refusals = new Map<string, number>();
  const payments: Promise<void>[] = [];
  for (let nth = 0; nth < count; nth++) {
    payments.push(payOnce(nth));
    await sleep(everyMs);
  }
  await Promise.all(payments);

  async function payOnce(nth: number): Promise<void> {
    const isLive = nth % liveShare === 0;
    const code = randomUUID().replaceAll('-', '').toUpperCase().slice(0, 30);
    const startedMs = performance.now();
    const outcome = await fetch(`${world.target.address}/v1/payments`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${isLive ? world.victimKeys.live : world.victimKeys.test}`,
        'idempotency-key': randomUUID(),
      },
      body: JSON.stringify({
        qr_url: isLive ? liveQrs[nth / liveShare] : `https://qr.nspk.ru/AD${code}?type=02&sum=1000&cur=RUB`,
      }),
      signal: AbortSignal.timeout(30_000),
    }).then(
      async response => {
        const body = (await response.json()) as { status?: string; error?: string };
        return body.status ?? `${response.status} ${JSON.stringify(body.error)}`;
      },
      (error: Error) => error.name,
    );
    durations.push(performance.now() - startedMs);
    if (outcome !== 'succeeded') refusals.set(outcome, (refusals.get(outcome) ?? 0) + 1);
  }

  durations.sort((a, b) => a - b);
  const at = (share: number) =>
    durations[Math.min(durations.length - 1, Math.floor(durations.length * share))]!;
  return { payments: count, medianMs: at(0.5), p99Ms: at(0.99), refusals };
}
