import { newId } from '../../base/ids.ts';
import { stringifyJson } from '../../base/json.ts';
import { kopecksToMicroUsdt } from '../../base/money.ts';
import { isRecipientBlocked, isUnderMaintenance } from '../../controls/index.ts';
import type { Presence } from '../../db/presence.ts';
import type { AccountKey } from '../../ledger/index.ts';
import type { Limits } from '../../partners/index.ts';
import { type CurrentRate, isStale, readCurrentRate } from '../../rates/index.ts';
import type { Payment } from '../payment.ts';
import { findPayment, findPaymentByKey, type Opening, type OpeningResult } from '../store.ts';
import { type Creation, type ErrorCode, type PayDeps, payOpened, refused, waitFor } from './pay.ts';
import { hashRequest, type PaymentRequest } from './request.ts';
import { type PayableQr, type ResolveDeps, resolveQr } from './resolve-qr.ts';
import { outcomeAfterMs, refusesOnceMore, scenarioIn } from './scenarios.ts';

export interface CreateDeps extends ResolveDeps, PayDeps {
  presence: Pick<Presence, 'instance'>;
  rateMaxAgeSec: number;
}

export interface Caller extends AccountKey {
  limits: Limits;
  /** From here on the request only waits for others. */
  onDebited?: () => void;
}

/** While the request that created a live payment may still be paying it, nobody else looks at it. */
const requestOwnsMs = 60_000;
/** After a refusal that a test payment asked for. */
const retryAfterSec = 1;
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
    isUnderMaintenance(deps.db, deps.clock),
    readCurrentRate(deps.db),
  ]);
  if (known) return replay(deps, caller, known, requestHash);
  if (maintenance) return refused('maintenance');
  const scenario = scenarioIn(caller.mode, request.metadata);
  if (!rate || isStale(rate, deps.clock, deps.rateMaxAgeSec) || scenario === 'rate_stale')
    return refused('rate_unavailable');

  const resolution = await resolveQr(deps, caller.mode, request.qrUrl, request.amountKopecks);
  if (resolution.outcome === 'refused') return refused(resolution.code);
  const { qr } = resolution;
  const objection = await objectionTo(deps, caller, request, qr);
  if (objection) return refused(objection);
  if (
    scenario === 'unavailable_twice' &&
    (await refusesOnceMore(deps.db, deps.clock, caller.partnerId, request.idempotencyKey))
  )
    return { ...refused('gateway_unavailable'), retryAfterSec };

  const opening = prepare(deps, caller, request, requestHash, qr, rate);
  const opened = await openOrFind(deps, opening);
  switch (opened.verdict) {
    case 'opened': {
      caller.onDebited?.();
      const creation = await payOpened(deps, opening, opened.at, latestMs);
      return scenario === 'answer_lost' ? { ...creation, isAnswerLost: true } : creation;
    }
    case 'known': {
      const payment = await findPayment(deps.db, caller, opened.paymentId!);
      return replay(deps, caller, payment!, requestHash);
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
      deps.leaseRelease.releaseLease(opening.paymentId);
      throw error;
    }
    const { paymentId, createdAt: at } = found;
    const verdict = paymentId === opening.paymentId ? 'opened' : 'known';
    return { verdict, paymentId, balanceMicroUsdt: 0n, at };
  }
}

/** The same key again: the same payment, or a conflict. A payment that is still running is waited for. */
async function replay(
  deps: CreateDeps,
  caller: Caller,
  payment: Payment,
  requestHash: Buffer,
): Promise<Creation> {
  // Refused since it was found: a repeat shares its fate.
  if (payment.status === 'rejected') return refused(payment.errorCode as ErrorCode);
  if (!payment.requestHash.equals(requestHash)) return refused('idempotency_conflict');
  const deadlineMs = payment.createdAt.getTime() + deps.answerWithinMs;
  const running =
    payment.status === 'processing' &&
    deps.clock.nowMs() < deadlineMs &&
    outcomeAfterMs(payment) === undefined;
  if (!running) return { outcome: 'payment', payment, replayed: true };
  caller.onDebited?.();
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
  const metadata = stringifyJson(request.metadata);
  const onlyTimeTellsMs = outcomeAfterMs({ mode, amountKopecks, metadata });
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
    metadata,
    nextAt: new Date(deps.clock.nowMs() + (onlyTimeTellsMs ?? requestOwnsMs)),
    leaseHolder: onlyTimeTellsMs === undefined ? deps.presence.instance : null,
  };
}
