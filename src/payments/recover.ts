import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';
import type { Queryable } from '../db/pool.ts';
import type { Gateway } from '../gateway/index.ts';
import type { FailureCode } from './payment.ts';
import { claimDue, type DuePayment, lookAgain, type PaymentWriter } from './store.ts';
import type { Waiting } from './wait.ts';

export interface RecoverDeps {
  db: Queryable;
  clock: Clock;
  gateway: Gateway;
  writer: PaymentWriter;
  waiting: Waiting;
}

/** Pauses between looks at an unfinished payment; the last one repeats. */
const pausesMs = [2_000, 5_000, 10_000, 30_000, 60_000];
export const firstPollMs = pausesMs[0]!;
const pauseAfter = (tries: number) => pausesMs[Math.min(tries, pausesMs.length - 1)]!;

/** If this process dies while it looks, another one looks again after so long. */
const claimMs = 30_000;
const claimAtOnce = 50;

/** How a payment in test mode ends, whether its request says so or, after a crash, somebody else. */
export const testOutcome = ({ amountKopecks }: { amountKopecks: bigint }) =>
  amountKopecks % 100n === 1n
    ? ({ outcome: 'failed', code: 'gateway_declined' } as const)
    : ({ outcome: 'succeeded' } as const);

/** Looks at every payment whose time has come. Returns how many there were. */
export async function recoverDuePayments(deps: RecoverDeps): Promise<number> {
  const looks = await startLooks(deps, claimAtOnce);
  await Promise.all(looks);
  return looks.length;
}

async function startLooks(deps: RecoverDeps, atMost: number): Promise<Promise<void>[]> {
  const until = new Date(deps.clock.nowMs() + claimMs);
  const due = await claimDue(deps.db, deps.clock, until, atMost);
  return due.map(payment => lookAt(deps, payment));
}

async function lookAt(deps: RecoverDeps, payment: DuePayment): Promise<void> {
  const { gateway, writer, waiting } = deps;
  const finish = async (outcome: Parameters<PaymentWriter['finish']>[0]) => {
    await writer.finish(outcome);
    waiting.wake(payment.paymentId);
  };
  if (payment.mode === 'test') return finish({ ...payment, ...testOutcome(payment) });

  const polled = await gateway.poll(payment);
  // That the order is unknown proves nothing while the request for it may still be on its way; voiding it does.
  const answer = polled.outcome === 'order_unknown' ? await gateway.void(payment) : polled;
  switch (answer.outcome) {
    case 'succeeded':
      return finish({ ...payment, outcome: 'succeeded', orderId: answer.orderId });
    case 'declined':
      return finish({
        ...payment,
        outcome: 'failed',
        code: answer.code as FailureCode,
        orderId: answer.orderId,
      });
    case 'voided':
      return finish({ ...payment, outcome: 'failed', code: 'not_executed' });
    case 'accepted':
    case 'unknown': {
      const at = new Date(deps.clock.nowMs() + pauseAfter(payment.tries));
      const orderId = answer.outcome === 'accepted' ? { orderId: answer.orderId } : {};
      return lookAgain(deps.db, payment, { at, review: answer.outcome === 'unknown', ...orderId });
    }
  }
}

const lookEveryMs = 500;

/**
 * Looks for due payments until told to stop, and then finishes what it has begun. One that the gateway is slow about
 * holds up no other.
 */
export function startRecovery(
  deps: RecoverDeps & { log: { error(details: object, message: string): void } },
) {
  const stop = new AbortController();
  const underWay = new Set<Promise<void>>();
  const report = (err: unknown) => deps.log.error({ err }, 'an unfinished payment could not be looked at');

  const finished = (async () => {
    while (!stop.signal.aborted) {
      const looks = await startLooks(deps, claimAtOnce - underWay.size).catch(err => {
        report(err);
        return [];
      });
      for (const look of looks) {
        const guarded = look.catch(report).finally(() => underWay.delete(guarded));
        underWay.add(guarded);
      }
      await sleep(lookEveryMs, undefined, { signal: stop.signal }).catch(() => {});
    }
    await Promise.all(underWay);
  })();
  return async () => {
    stop.abort();
    await finished;
  };
}
