import type { errors } from '../base/errors.ts';
import { type Id, newId } from '../base/ids.ts';
import { stringifyJson } from '../base/json.ts';
import { kopecksToMicroUsdt } from '../base/money.ts';
import { isRecipientBlocked, isUnderMaintenance } from '../controls/index.ts';
import type { Queryable } from '../db/pool.ts';
import type { Presence } from '../db/presence.ts';
import type { Limits } from '../partners/index.ts';
import { type CurrentRate, isStale, readCurrentRate } from '../rates/index.ts';
import { type EndDeps, endPayment } from './end.ts';
import type { HandOver } from './hand-over.ts';
import type { Payment } from './payment.ts';
import { firstPollMs, testOutcome } from './recover.ts';
import { hashRequest, type PaymentRequest } from './request.ts';
import { type PayableQr, type ResolveDeps, resolveQr } from './resolve.ts';
import {
  type Ending,
  findPayment,
  findPaymentByKey,
  type Opening,
  type OpeningResult,
  type Owner,
} from './store.ts';
import { lookAgain } from './unfinished.ts';

export interface Log {
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

export interface CreateDeps extends ResolveDeps, EndDeps {
  db: Queryable;
  presence: Pick<Presence, 'instance'>;
  handOver: HandOver;
  rateMaxAgeSec: number;
  /** How long a request waits for a final answer, from the creation of its payment. */
  answerWithinMs: number;
  log: Log;
}

export interface Caller extends Owner {
  limits: Limits;
}

type ErrorCode = keyof typeof errors;

export type Creation =
  | { outcome: 'payment'; payment: Payment; replayed: boolean }
  | { outcome: 'refused'; code: ErrorCode; requiredMicroUsdt?: bigint; balanceMicroUsdt?: bigint };

const refused = (code: ErrorCode): Creation => ({ outcome: 'refused', code });

/** While the request that created a live payment may still be paying it, nobody else looks at it. */
const requestOwnsMs = 60_000;
const testUnknownOutcomeMs = 30_000;
/**
 * A refusal of the gateway undoes the payment only while nobody can have been told that it stands: so long after it was
 * opened, and so long before its own request is answered. After that it is a payment that failed.
 */
const undoneWithinMs = 30_000;
const undoneBeforeAnswerMs = 20_000;
/** From the arrival of a request. Whatever is slow, it has its answer by then, so that it gets there within 90 seconds. */
const answerAtLatestMs = 75_000;

/**
 * Pays a QR code, in phases with a committed row between them: check, resolve, open (which debits), pay, finish. No
 * transaction is open while the gateway is asked, and a crash after any phase leaves a row that says what to do next.
 */
export async function createPayment(
  deps: CreateDeps,
  caller: Caller,
  request: PaymentRequest,
): Promise<Creation> {
  const latestMs = deps.clock.nowMs() + answerAtLatestMs;
  const requestHash = hashRequest(request, deps.qrHosts);
  const [known, maintenance, rate] = await Promise.all([
    findPaymentByKey(deps.db, caller, request.idempotencyKey),
    isUnderMaintenance(deps.db),
    readCurrentRate(deps.db),
  ]);
  if (known) return replay(deps, known, requestHash);
  if (maintenance) return refused('maintenance');
  if (!rate || isStale(rate, deps.clock, deps.rateMaxAgeSec)) return refused('rate_unavailable');

  const resolution = await resolveQr(deps, caller.mode, request.qrUrl, request.amountKopecks);
  if (resolution.outcome === 'refused') return refused(resolution.code);
  const { qr } = resolution;
  const objection = await objectionTo(deps, caller, request, qr);
  if (objection) return refused(objection);

  const opening = prepare(deps, caller, request, requestHash, qr, rate);
  const opened = await openOrFind(deps, opening);
  switch (opened.verdict) {
    case 'opened':
      return payOpened(deps, opening, opened.at, latestMs);
    case 'known': {
      const payment = await findPayment(deps.db, caller, opened.paymentId!);
      return replay(deps, payment!, requestHash);
    }
    case 'insufficient_balance':
      return {
        outcome: 'refused',
        code: opened.verdict,
        requiredMicroUsdt: opening.microUsdt,
        balanceMicroUsdt: opened.balanceMicroUsdt,
      };
    case 'no_account':
      throw new Error(`partner ${caller.partnerId} has no ${caller.mode} account`);
    default:
      return refused(opened.verdict);
  }
}

/**
 * If the answer to the debit got lost, the key tells whether it was made. If it was, by this very request, the request
 * goes on with it: nobody else will. If that cannot be told, or not yet, whoever finds it may have it.
 */
async function openOrFind(deps: CreateDeps, opening: Opening): Promise<OpeningResult> {
  try {
    return await deps.writer.open(opening);
  } catch (error) {
    const found = await findPaymentByKey(deps.db, opening, opening.idempotencyKey).catch(() => undefined);
    if (!found) {
      deps.handOver.giveUp(opening.paymentId);
      throw error;
    }
    const { paymentId, createdAt: at } = found;
    const verdict = paymentId === opening.paymentId ? 'opened' : 'known';
    return { verdict, paymentId, balanceMicroUsdt: 0n, at };
  }
}

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
async function payOpened(
  deps: CreateDeps,
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
    deps.handOver.giveUp(opening.paymentId);
    if (attempt.isUndoing) throw err;
    return unfinished;
  } finally {
    answered.abort();
  }
}

/** The same key again: the same payment, or a conflict. A payment that is still running is waited for. */
async function replay(deps: CreateDeps, payment: Payment, requestHash: Buffer): Promise<Creation> {
  // Refused since it was found: a repeat shares its fate.
  if (payment.status === 'rejected') return refused(payment.errorCode as ErrorCode);
  if (!payment.requestHash.equals(requestHash)) return refused('idempotency_conflict');
  const deadlineMs = payment.createdAt.getTime() + deps.answerWithinMs;
  const running =
    payment.status === 'processing' && deps.clock.nowMs() < deadlineMs && !isTestUnknown(payment);
  if (!running) return { outcome: 'payment', payment, replayed: true };
  const creation = await waitFor(deps, payment, payment.createdAt);
  const isUndecided = creation.outcome === 'payment' && creation.payment.status === 'processing';
  // This process is leaving before the first request is answered, which may yet undo the payment: ask another process.
  return isUndecided && deps.clock.nowMs() < deadlineMs ? refused('gateway_unavailable') : creation;
}

async function objectionTo(
  deps: CreateDeps,
  { mode, limits }: Caller,
  request: PaymentRequest,
  qr: PayableQr,
): Promise<ErrorCode | undefined> {
  if (request.amountKopecks !== undefined && request.amountKopecks !== qr.amountKopecks)
    return 'amount_mismatch';
  if (qr.amountKopecks < limits.minKopecks) return 'invalid_request';
  if (qr.amountKopecks > limits.maxKopecks) return 'amount_limit_exceeded';
  if (await isRecipientBlocked(deps.db, [qr.recipient, qr.recipientId])) return 'recipient_blocked';
  if (mode === 'test' && qr.amountKopecks % 100n === 3n) return 'qr_changed';
  return undefined;
}

function prepare(
  deps: CreateDeps,
  { partnerId, mode }: Caller,
  request: PaymentRequest,
  requestHash: Buffer,
  qr: PayableQr,
  rate: CurrentRate,
): Opening {
  const { qrcId, qrUrl, fingerprint, recipient, amountKopecks } = qr;
  const onlyTimeTells = isTestUnknown({ mode, amountKopecks });
  const lookAgainMs = onlyTimeTells ? testUnknownOutcomeMs : requestOwnsMs;
  return {
    partnerId,
    mode,
    paymentId: newId('pay', deps.clock),
    idempotencyKey: request.idempotencyKey,
    requestHash,
    externalId: request.externalId,
    qrcId,
    qrUrl,
    fingerprint,
    recipient,
    amountKopecks,
    microUsdt: kopecksToMicroUsdt(amountKopecks, rate.rateE4),
    rateE4: rate.rateE4,
    rateId: rate.rateId,
    rateStaleAt: new Date(rate.asOf.getTime() + deps.rateMaxAgeSec * 1000),
    metadata: stringifyJson(request.metadata),
    nextAt: new Date(deps.clock.nowMs() + lookAgainMs),
    owner: onlyTimeTells ? null : deps.presence.instance,
  };
}

const isTestUnknown = ({ mode, amountKopecks }: Pick<Payment, 'mode' | 'amountKopecks'>) =>
  mode === 'test' && amountKopecks % 100n === 2n;

/** The kopecks choose the outcome; with ,02 it comes 30 seconds later, from the row that was just committed. */
async function payInTestMode(deps: CreateDeps, opening: Opening, openedAt: Date): Promise<Creation> {
  if (isTestUnknown(opening))
    return { outcome: 'payment', payment: asOpened(opening, openedAt), replayed: false };
  return finishWith(deps, opening, openedAt, testOutcome(opening));
}

async function payThroughGateway(
  deps: CreateDeps,
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
      await lookAgain(deps.db, opening, { at: firstPoll(deps), review, ...orderId });
      return waitFor(deps, opening, openedAt);
    }
  }
}

const firstPoll = ({ clock }: CreateDeps) => new Date(clock.nowMs() + firstPollMs);

/** Ends the payment and answers with it; if somebody else was quicker, with what they made of it. */
async function finishWith(
  deps: CreateDeps,
  opening: Opening,
  openedAt: Date,
  ending: Ending,
): Promise<Creation> {
  const { partnerId, mode, paymentId } = opening;
  const { changed, standing, at } = await endPayment(deps, { partnerId, mode, paymentId, ...ending });
  if (standing === 'processing') await lookAgain(deps.db, opening, { at: firstPoll(deps), review: true });
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

async function waitFor(
  deps: CreateDeps,
  payment: Owner & { paymentId: Id<'pay'> },
  openedAt: Date,
): Promise<Creation> {
  const outcome = await deps.waiting.forOutcome(payment, openedAt.getTime() + deps.answerWithinMs);
  if (outcome.status === 'rejected') return refused(outcome.errorCode as ErrorCode);
  return { outcome: 'payment', payment: outcome, replayed: false };
}
