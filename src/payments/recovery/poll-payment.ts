import type { Clock } from '../../base/clock.ts';
import { readPaymentStops } from '../../controls/index.ts';
import type { Queryable } from '../../db/postgres/index.ts';
import type { Gateway } from '../../gateway/index.ts';
import type { TraceContext } from '../../telemetry/index.ts';
import { testOutcome } from '../create/scenarios.ts';
import { type FinishDeps, finishPayment } from '../finish.ts';
import { findSupersession } from '../lost-history/superseded.ts';
import type { PhaseDeps } from '../phases.ts';
import { type PaymentOutcome, succeeded } from '../results.ts';
import { type DuePayment, scheduleNextPoll } from './open-payments.ts';

export interface PollDeps extends FinishDeps, PhaseDeps {
  db: Queryable;
  clock: Clock;
  gateway: Gateway;
}

/** The retry schedule (backoff) of an unfinished payment: pauses between two polls; the last one repeats. */
const pollPausesMs = [2_000, 5_000, 10_000, 30_000, 60_000];
export const firstPollMs = pollPausesMs[0]!;
const pauseAfter = (tries: number) => pollPausesMs[Math.min(tries, pollPausesMs.length - 1)]!;

/** After this long without an outcome a payment is a matter for support; polling continues. */
const overdueAfterMs = 2 * 3_600_000;
const overdueAlarm = 'payment_overdue';

/** Asks the gateway for the outcome of a payment; finishes it, or schedules the next poll. */
export async function pollPayment(deps: PollDeps, payment: DuePayment): Promise<void> {
  if (payment.mode === 'test') return finishPolled(deps, payment, testOutcome(payment));

  const span = await deps.paymentTraces?.startSpan(payment.paymentId, 'payment poll');
  const answer = await askGateway(deps, { ...payment, trace: span?.context }).finally(() => span?.end());
  switch (answer.outcome) {
    case 'succeeded':
      return finishPolled(deps, payment, succeeded(answer));
    case 'declined':
      return finishPolled(deps, payment, { outcome: 'failed', code: answer.code, orderId: answer.orderId });
    case 'voided':
      return finishVoided(deps, payment);
    case 'accepted':
      return pollLater(deps, payment, { review: false, orderId: answer.orderId });
    case 'unknown': {
      const { paymentId: subject } = payment;
      if (answer.contradicts)
        await deps.alarms.raise({ kind: 'gateway_contradiction', subject, detail: answer.why });
      return pollLater(deps, payment, { review: true });
    }
  }
}

/** An unknown order proves nothing while the request for it may still be on its way; a voided one does. */
async function askGateway(deps: PollDeps, payment: DuePayment & { trace: TraceContext | undefined }) {
  const polled = await deps.gateway.poll(payment);
  return polled.outcome === 'order_unknown' ? await deps.gateway.void(payment) : polled;
}

/** While it is not known whether a lost history has undone it, it does not end. */
async function finishVoided(deps: PollDeps, payment: DuePayment): Promise<void> {
  const supersession = await findSupersession(deps.db, payment, await readPaymentStops(deps.db, deps.clock));
  if (supersession === 'perhaps') return pollLater(deps, payment, { review: false });
  if (supersession === 'superseded')
    return finishPolled(deps, payment, { outcome: 'rejected', code: 'gateway_unavailable' });
  return finishPolled(deps, payment, { outcome: 'failed', code: 'not_executed' });
}

async function finishPolled(deps: PollDeps, payment: DuePayment, outcome: PaymentOutcome): Promise<void> {
  const { partnerId, mode, paymentId } = payment;
  const { changed, status } = await finishPayment(deps, { partnerId, mode, paymentId, ...outcome });
  if (status === 'processing') return pollLater(deps, payment, { review: true });
  if (changed && isOverdue(deps, payment)) await deps.alarms.clear(overdueAlarm, paymentId);
}

/** The overdue alarm is raised with every poll until it is stored; `supportSince` then marks the payment for good. */
async function pollLater(
  deps: PollDeps,
  payment: DuePayment,
  known: { review: boolean; orderId?: string },
): Promise<void> {
  const { clock, db } = deps;
  const at = new Date(clock.nowMs() + pauseAfter(payment.tries));
  if (!isOverdue(deps, payment)) return void (await scheduleNextPoll(db, payment, { at, ...known }));
  const isAlarmStored = payment.supportSince !== null || (await raiseOverdue(deps, payment));
  const mark = isAlarmStored ? { supportSince: new Date(clock.nowMs()) } : {};
  const isUnfinished = await scheduleNextPoll(db, payment, { at, ...known, review: true, ...mark });
  if (!isUnfinished) await deps.alarms.clear(overdueAlarm, payment.paymentId);
}

const isOverdue = ({ clock }: PollDeps, { createdAt }: DuePayment) =>
  clock.nowMs() - createdAt.getTime() >= overdueAfterMs;

const raiseOverdue = ({ alarms }: PollDeps, { paymentId, createdAt }: DuePayment): Promise<boolean> =>
  alarms.raise({
    kind: overdueAlarm,
    subject: paymentId,
    detail: `Not completed since ${createdAt.toISOString().slice(0, 16).replace('T', ' ')} UTC. Find out its status at the payment gateway, then resolve it in the console or with kopeck payment resolve.`,
  });
