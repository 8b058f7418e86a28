import type { errors } from '../base/errors.ts';
import { type Id, newId } from '../base/ids.ts';
import { stringifyJson } from '../base/json.ts';
import { kopecksToMicroUsdt } from '../base/money.ts';
import { isRecipientBlocked, isUnderMaintenance } from '../controls/index.ts';
import type { Queryable } from '../db/pool.ts';
import type { Limits } from '../partners/index.ts';
import { type CurrentRate, isStale, readCurrentRate } from '../rates/index.ts';
import type { FailureCode, Payment } from './payment.ts';
import { firstPollMs } from './recover.ts';
import { hashRequest, type PaymentRequest } from './request.ts';
import { type PayableQr, type ResolveDeps, resolveQr } from './resolve.ts';
import {
  findPayment,
  findPaymentByKey,
  lookAgain,
  type Opening,
  type Owner,
  type PaymentWriter,
} from './store.ts';
import type { Waiting } from './wait.ts';

export interface CreateDeps extends ResolveDeps {
  db: Queryable;
  writer: PaymentWriter;
  waiting: Waiting;
  rateMaxAgeSec: number;
  /** How long a request waits for a final answer, from the creation of its payment. */
  answerWithinMs: number;
  log: { warn(details: object, message: string): void };
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
 * Pays a QR code, in phases with a committed row between them: check, resolve, open (which debits), pay, finish. No
 * transaction is open while the gateway is asked, and a crash after any phase leaves a row that says what to do next.
 */
export async function createPayment(
  deps: CreateDeps,
  caller: Caller,
  request: PaymentRequest,
): Promise<Creation> {
  const requestHash = hashRequest(request, deps.qrHosts);
  const known = await findPaymentByKey(deps.db, caller, request.idempotencyKey);
  if (known) return replay(deps, known, requestHash);

  if (await isUnderMaintenance(deps.db)) return refused('maintenance');
  const rate = await readCurrentRate(deps.db);
  if (!rate || isStale(rate, deps.clock, deps.rateMaxAgeSec)) return refused('rate_unavailable');

  const resolution = await resolveQr(deps, caller.mode, request.qrUrl, request.amountKopecks);
  if (resolution.outcome === 'refused') return refused(resolution.code);
  const { qr } = resolution;
  const objection = await objectionTo(deps, caller, request, qr);
  if (objection) return refused(objection);

  const opening = prepare(deps, caller, request, requestHash, qr, rate);
  const opened = await deps.writer.open(opening);
  switch (opened.verdict) {
    case 'opened':
      return caller.mode === 'test' ? payInTestMode(deps, opening) : payThroughGateway(deps, opening);
    case 'known': {
      const payment = await findPayment(deps.db, caller, opened.paymentId);
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

/** The same key again: the same payment, or a conflict. A payment that is still running is waited for. */
async function replay(deps: CreateDeps, payment: Payment, requestHash: Buffer): Promise<Creation> {
  if (!payment.requestHash.equals(requestHash)) return refused('idempotency_conflict');
  const deadlineMs = payment.createdAt.getTime() + deps.answerWithinMs;
  const running =
    payment.status === 'processing' && deps.clock.nowMs() < deadlineMs && !isTestUnknown(payment);
  if (!running) return { outcome: 'payment', payment, replayed: true };
  const outcome = await deps.waiting.forOutcome(payment, deadlineMs);
  if (outcome.status === 'rejected') return refused(outcome.errorCode as ErrorCode);
  return { outcome: 'payment', payment: outcome, replayed: false };
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
  const lookAgainMs = mode === 'test' ? testUnknownOutcomeMs : requestOwnsMs;
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
  };
}

const isTestUnknown = ({ mode, amountKopecks }: Pick<Payment, 'mode' | 'amountKopecks'>) =>
  mode === 'test' && amountKopecks % 100n === 2n;

/** The kopecks choose the outcome; with ,02 it comes 30 seconds later, from the row that was just committed. */
async function payInTestMode(deps: CreateDeps, opening: Opening): Promise<Creation> {
  if (!isTestUnknown(opening)) {
    const declined = opening.amountKopecks % 100n === 1n;
    await deps.writer.finish(
      declined
        ? { ...opening, outcome: 'failed', code: 'gateway_declined' }
        : { ...opening, outcome: 'succeeded' },
    );
  }
  return answerWith(deps, opening);
}

async function payThroughGateway(deps: CreateDeps, opening: Opening): Promise<Creation> {
  const startedMs = deps.clock.nowMs();
  const answer = await deps.gateway.pay(opening);
  const finish = async (outcome: Parameters<PaymentWriter['finish']>[0]) => {
    await deps.writer.finish(outcome);
    deps.waiting.wake(opening.paymentId);
    return answerWith(deps, opening);
  };
  switch (answer.outcome) {
    case 'succeeded':
      return finish({ ...opening, outcome: 'succeeded', orderId: answer.orderId });
    case 'declined':
      return finish({
        ...opening,
        outcome: 'failed',
        code: answer.code as FailureCode,
        orderId: answer.orderId,
      });
    case 'refused':
      if (answer.code === 'voided') return finish({ ...opening, outcome: 'failed', code: 'not_executed' });
      await finish({ ...opening, outcome: 'rejected', code: answer.code });
      return refused(answer.code);
    case 'accepted':
    case 'unknown': {
      const review = answer.outcome === 'unknown';
      if (review)
        deps.log.warn({ paymentId: opening.paymentId, why: answer.why }, 'the gateway gave no final answer');
      const orderId = answer.outcome === 'accepted' ? { orderId: answer.orderId } : {};
      const at = new Date(deps.clock.nowMs() + firstPollMs);
      await lookAgain(deps.db, opening, { at, review, ...orderId });
      const deadlineMs = startedMs + deps.answerWithinMs;
      return {
        outcome: 'payment',
        payment: await deps.waiting.forOutcome(opening, deadlineMs),
        replayed: false,
      };
    }
  }
}

async function answerWith(deps: CreateDeps, opening: Owner & { paymentId: Id<'pay'> }): Promise<Creation> {
  const payment = await findPayment(deps.db, opening, opening.paymentId);
  return { outcome: 'payment', payment: payment!, replayed: false };
}
