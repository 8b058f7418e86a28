import type { Clock } from '../../base/clock.ts';
import type { errors } from '../../base/errors.ts';
import type { Id } from '../../base/ids.ts';
import type { Queryable } from '../../db/pool.ts';
import type { Gateway } from '../../gateway/index.ts';
import type { AccountKey } from '../../ledger/index.ts';
import { type EndDeps, endPayment } from '../end.ts';
import type { Payment } from '../payment.ts';
import type { LeaseRelease } from '../recovery/lease-release.ts';
import { scheduleNextPoll } from '../recovery/open-payments.ts';
import { firstPollMs } from '../recovery/recover.ts';
import type { Ending, Opening } from '../store.ts';
import { isReviewed, outcomeAfterMs, testOutcome } from './scenarios.ts';

interface Log {
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

/** What it takes to see a payment through once it is debited. */
export interface PayDeps extends EndDeps {
  db: Queryable;
  clock: Clock;
  gateway: Gateway;
  leaseRelease: LeaseRelease;
  /** How long a request waits for a final answer, from the creation of its payment. */
  answerWithinMs: number;
  log: Log;
}

export type ErrorCode = keyof typeof errors;

export type Creation = (
  | { outcome: 'payment'; payment: Payment; replayed: boolean }
  | {
      outcome: 'refused';
      code: ErrorCode;
      requiredMicroUsdt?: bigint;
      balanceMicroUsdt?: bigint;
      retryAfterSec?: number;
    }
) & {
  /** A test payment wants nobody to hear of it. */
  isAnswerLost?: true;
};

export const refused = (code: ErrorCode): Creation & { outcome: 'refused' } => ({ outcome: 'refused', code });

/**
 * A refusal of the gateway undoes the payment only while nobody can have been told that it stands: so long after it was
 * opened, and so long before its own request is answered. After that it is a payment that failed.
 */
const undoneWithinMs = 30_000;
const undoneBeforeAnswerMs = 20_000;

/** A reason of its own costs nothing; without one, an error with its stack is made for every payment. */
const isAnswered = 'answered';

/** What a request is about to do with the payment it has opened. */
interface Attempt {
  /** Until then a refusal may undo the payment. */
  undoUntilMs: number;
  isUndoing: boolean;
}

/**
 * Once debited, whatever breaks or hangs here is not a refusal: the payment stands, and the worker will find its
 * outcome. Only if it broke while the payment was being undone, nobody knows whether it stands, and the request fails.
 */
export async function payOpened(
  deps: PayDeps,
  opening: Opening,
  openedAt: Date,
  latestMs: number,
): Promise<Creation> {
  const unfinished: Creation = { outcome: 'payment', payment: asOpened(opening, openedAt), replayed: false };
  const answered = new AbortController();
  const { clock } = deps;
  const undoUntilMs = Math.min(openedAt.getTime() + undoneWithinMs, latestMs - undoneBeforeAnswerMs);
  const attempt: Attempt = { undoUntilMs, isUndoing: false };
  try {
    return await Promise.race([
      opening.mode === 'test'
        ? payInTestMode(deps, opening, openedAt)
        : payThroughGateway(deps, opening, openedAt, attempt),
      clock.sleep(latestMs - clock.nowMs(), answered.signal).then(() => unfinished),
    ]);
  } catch (err) {
    deps.log.error({ err, paymentId: opening.paymentId }, 'a payment was opened and then its request failed');
    deps.leaseRelease.releaseLease(opening.paymentId);
    if (attempt.isUndoing) throw err;
    return unfinished;
  } finally {
    answered.abort(isAnswered);
  }
}

/** The kopecks or the scenario choose the outcome. If only time brings it, it comes from the row that was just committed. */
async function payInTestMode(deps: PayDeps, opening: Opening, openedAt: Date): Promise<Creation> {
  if (outcomeAfterMs(opening) === undefined) return finishWith(deps, opening, openedAt, testOutcome(opening));
  const payment = asOpened(opening, openedAt);
  if (!isReviewed(opening)) return { outcome: 'payment', payment, replayed: false };
  await scheduleNextPoll(deps.db, opening, { at: opening.nextAt, review: true });
  return {
    outcome: 'payment',
    payment: { ...payment, statusDetail: 'manual_review' },
    replayed: false,
  };
}

async function payThroughGateway(
  deps: PayDeps,
  opening: Opening,
  openedAt: Date,
  attempt: Attempt,
): Promise<Creation> {
  const answer = await deps.gateway.pay(opening);
  const finish = (ending: Ending) => finishWith(deps, opening, openedAt, ending);
  switch (answer.outcome) {
    case 'succeeded':
      return finish({ outcome: 'succeeded', orderId: answer.orderId });
    case 'declined':
      return finish({ outcome: 'failed', code: answer.code, orderId: answer.orderId });
    case 'refused':
      if (answer.code === 'voided' || deps.clock.nowMs() >= attempt.undoUntilMs)
        return finish({ outcome: 'failed', code: 'not_executed' });
      attempt.isUndoing = true;
      return finish({ outcome: 'rejected', code: answer.code });
    case 'accepted':
    case 'unknown': {
      const { paymentId } = opening;
      const review = answer.outcome === 'unknown';
      if (review) deps.log.warn({ paymentId, why: answer.why }, 'the gateway gave no final answer');
      const orderId = answer.outcome === 'accepted' ? { orderId: answer.orderId } : {};
      if (review && answer.contradicts)
        await deps.alarms.raise({ kind: 'gateway_contradiction', subject: paymentId, detail: answer.why });
      await scheduleNextPoll(deps.db, opening, { at: firstPoll(deps), review, ...orderId });
      return waitFor(deps, opening, openedAt);
    }
  }
}

const firstPoll = ({ clock }: PayDeps) => new Date(clock.nowMs() + firstPollMs);

/** Ends the payment and answers with it; if somebody else was quicker, with what they made of it. */
async function finishWith(
  deps: PayDeps,
  opening: Opening,
  openedAt: Date,
  ending: Ending,
): Promise<Creation> {
  const { partnerId, mode, paymentId } = opening;
  const { changed, standing, at } = await endPayment(deps, { partnerId, mode, paymentId, ...ending });
  if (standing === 'processing')
    await scheduleNextPoll(deps.db, opening, { at: firstPoll(deps), review: true });
  if (!changed) return waitFor(deps, opening, openedAt);
  if (ending.outcome === 'rejected') return refused(ending.code);
  const payment: Payment = {
    ...asOpened(opening, openedAt),
    status: ending.outcome,
    statusDetail: ending.outcome === 'failed' ? 'gateway_declined' : null,
    errorCode: ending.outcome === 'failed' ? ending.code : null,
    settledAt: at,
  };
  return { outcome: 'payment', payment, replayed: false };
}

/** The row as it was just committed, without reading it back. */
const asOpened = (opening: Opening, openedAt: Date): Payment => ({
  ...opening,
  status: 'processing',
  statusDetail: 'awaiting_gateway',
  gatewayOrderId: null,
  errorCode: null,
  createdAt: openedAt,
  settledAt: null,
});

export async function waitFor(
  deps: PayDeps,
  payment: AccountKey & { paymentId: Id<'pay'> },
  openedAt: Date,
): Promise<Creation> {
  const outcome = await deps.waiting.forOutcome(payment, openedAt.getTime() + deps.answerWithinMs);
  if (outcome.status === 'rejected') return refused(outcome.errorCode as ErrorCode);
  return { outcome: 'payment', payment: outcome, replayed: false };
}
