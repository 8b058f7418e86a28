import type { Clock } from '../../base/clock.ts';
import { NotAnsweringError, type Queryable } from '../../db/postgres/index.ts';
import type { Sealer } from '../../db/secrets/index.ts';
import type { Gateway, Unknown } from '../../gateway/index.ts';
import type { AccountKey } from '../../ledger/index.ts';
import { type FinishDeps, finishPayment } from '../finish.ts';
import type { Ending, NewPayment } from '../openings.ts';
import { sealReference } from '../order-reference.ts';
import type { Payment } from '../payment.ts';
import { inPhase, type PhaseDeps } from '../phases.ts';
import type { LeaseRelease } from '../recovery/lease-release.ts';
import { scheduleNextPoll } from '../recovery/open-payments.ts';
import { firstPollMs } from '../recovery/poll-payment.ts';
import { type Creation, type ErrorCode, type PaymentOutcome, refused, succeeded } from '../results.ts';
import type { OutcomeWaiters } from './outcome-waiters.ts';
import { hasReviewScenario } from './scenarios.ts';

/** What paying an opened payment needs. */
export interface PayDeps extends FinishDeps, PhaseDeps {
  db: Queryable;
  clock: Clock;
  gateway: Gateway;
  /** Seals what an order carries, from which a lost payment can be rebuilt. */
  references: Sealer;
  leaseRelease: LeaseRelease;
  outcomeWaiters: OutcomeWaiters;
  /** How long a request waits for a final answer, from the creation of its payment. */
  answerWithinMs: number;
}

/**
 * A refusal of the gateway undoes the payment only while no answer can have shown it to the partner: at most this long
 * after it was opened, and at least this long before its own request is answered. Later it is a failed payment. If this
 * process hangs in between, `payments_finish` refuses to undo it.
 */
const undoWithinMs = 30_000;
const undoBeforeAnswerMs = 20_000;

const undoHangs = 'the database has not answered whether the payment was undone';

/** The state of the request that pays. */
interface Attempt {
  /** Until then a refusal may undo the payment. */
  undoUntilMs: number;
  isUndoing: boolean;
}

/**
 * Pays a payment whose money is held. An error or a time-out here is no refusal: the payment exists, and recovery will
 * find its outcome. Only an error or a time-out while the payment is being undone leaves open whether it exists: then the
 * request fails, and shows nothing that may be gone in a moment.
 */
export async function payOpened(
  deps: PayDeps,
  opened: NewPayment,
  openedAt: Date,
  answerByMs: number,
): Promise<Creation> {
  const { clock } = deps;
  const payment = asCommitted(opened, openedAt);
  if (payment.ending) {
    deps.signals.eventWritten.emit(payment.paymentId);
    return ended(payment, payment.ending, payment.createdAt);
  }
  const unfinished: Creation = { outcome: 'payment', payment, replayed: false };
  const undoUntilMs = Math.min(openedAt.getTime() + undoWithinMs, answerByMs - undoBeforeAnswerMs);
  const attempt: Attempt = { undoUntilMs, isUndoing: false };
  const late = Promise.withResolvers<Creation>();
  const cancel = clock.timer(answerByMs - clock.nowMs(), () =>
    attempt.isUndoing ? late.reject(new NotAnsweringError(undoHangs)) : late.resolve(unfinished),
  );
  try {
    return await Promise.race([
      payment.mode === 'test' ? payInTestMode(deps, payment) : payThroughGateway(deps, payment, attempt),
      late.promise,
    ]);
  } catch (err) {
    deps.log.error({ err, ...logged(payment) }, 'a payment was opened and then its request failed');
    deps.leaseRelease.releaseLease(payment.paymentId);
    if (attempt.isUndoing) throw err;
    return unfinished;
  } finally {
    cancel();
  }
}

type OpenedPayment = NewPayment & Payment;

const logged = ({ paymentId, trace }: OpenedPayment) => ({
  paymentId,
  ...(trace ? { trace_id: trace.traceId } : {}),
});

/** The row that was just committed, without reading it back. */
const asCommitted = (payment: NewPayment, openedAt: Date): OpenedPayment => ({
  ...payment,
  status: 'processing',
  statusDetail: 'awaiting_gateway',
  gatewayOrderId: null,
  errorCode: null,
  createdAt: openedAt,
  settledAt: null,
});

/** The outcome of a test payment that did not end when it was opened comes with time, and is left to recovery. */
async function payInTestMode(deps: PayDeps, payment: OpenedPayment): Promise<Creation> {
  if (!hasReviewScenario(payment)) return { outcome: 'payment', payment, replayed: false };
  await scheduleNextPoll(deps.db, payment, { at: payment.nextAt, review: true });
  return {
    outcome: 'payment',
    payment: { ...payment, statusDetail: 'manual_review' },
    replayed: false,
  };
}

/**
 * An order is sent soon after its debit or never: if this process hung in between, the database may have lost the debit in a
 * fail-over, and the partner may have repeated the request since. Recovery asks the gateway and voids the order.
 */
const sendWithinMs = 10_000;
const isTooLateToSend = ({ clock }: PayDeps, { createdAt }: OpenedPayment) =>
  clock.nowMs() - createdAt.getTime() > sendWithinMs;
const tooLate: Unknown = { outcome: 'unknown', why: 'the order was not sent in time' };

const send = (deps: PayDeps, payment: OpenedPayment) =>
  inPhase(deps, payment, 'gateway', trace =>
    deps.gateway.pay({ ...payment, trace, reference: sealReference(payment, deps.references) }),
  );

async function payThroughGateway(deps: PayDeps, payment: OpenedPayment, attempt: Attempt): Promise<Creation> {
  const answer = isTooLateToSend(deps, payment) ? tooLate : await send(deps, payment);
  const finish = (outcome: PaymentOutcome) => finishWith(deps, payment, outcome);
  switch (answer.outcome) {
    case 'succeeded':
      return finish(succeeded(answer));
    case 'declined':
      return finish({ outcome: 'failed', code: answer.code, orderId: answer.orderId });
    case 'refused':
      if (answer.code === 'voided' || deps.clock.nowMs() >= attempt.undoUntilMs)
        return finish({ outcome: 'failed', code: 'not_executed' });
      attempt.isUndoing = true;
      return finish({ outcome: 'rejected', code: answer.code });
    case 'accepted':
    case 'unknown': {
      // Recovery polls it from here on; this request waits for what recovery finds.
      const { paymentId } = payment;
      const review = answer.outcome === 'unknown';
      if (review) deps.log.warn({ ...logged(payment), why: answer.why }, 'the gateway gave no final answer');
      const orderId = answer.outcome === 'accepted' ? { orderId: answer.orderId } : {};
      if (review && answer.contradicts)
        await deps.alarms.raise({ kind: 'gateway_contradiction', subject: paymentId, detail: answer.why });
      await scheduleNextPoll(deps.db, payment, { at: firstPollAt(deps), review, ...orderId });
      return waitForOutcome(deps, payment);
    }
  }
}

const firstPollAt = ({ clock }: PayDeps) => new Date(clock.nowMs() + firstPollMs);

/** Finishes the payment and answers with it; if another process was quicker, with that result. */
async function finishWith(deps: PayDeps, payment: OpenedPayment, outcome: PaymentOutcome): Promise<Creation> {
  const { partnerId, mode, paymentId } = payment;
  const { changed, status, at } = await inPhase(deps, payment, 'finish', trace =>
    finishPayment(deps, { partnerId, mode, paymentId, trace, ...outcome }),
  );
  if (status === 'processing')
    await scheduleNextPoll(deps.db, payment, { at: firstPollAt(deps), review: true });
  if (!changed) return waitForOutcome(deps, payment);
  return outcome.outcome === 'rejected' ? refused(outcome.code) : ended(payment, outcome, at);
}

/** The answer about a payment that has just ended. */
const ended = (payment: OpenedPayment, ending: Ending, settledAt: Date): Creation => ({
  outcome: 'payment',
  payment: {
    ...payment,
    status: ending.outcome,
    statusDetail: ending.outcome === 'failed' ? 'gateway_declined' : null,
    errorCode: ending.outcome === 'failed' ? ending.code : null,
    settledAt,
  },
  replayed: false,
});

/** Waits until another part of the service has finished the payment, or until the request must be answered. */
export async function waitForOutcome(
  deps: PayDeps,
  payment: AccountKey & Pick<Payment, 'paymentId' | 'createdAt'>,
): Promise<Creation> {
  const deadlineMs = payment.createdAt.getTime() + deps.answerWithinMs;
  const latest = await deps.outcomeWaiters.waitForOutcome(payment, deadlineMs);
  if (latest.status === 'rejected') return refused(latest.errorCode as ErrorCode);
  return { outcome: 'payment', payment: latest, replayed: false };
}
