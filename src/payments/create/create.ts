import type { TraceContext } from '../../telemetry/index.ts';
import type { NewPayment } from '../openings.ts';
import type { Payment } from '../payment.ts';
import { inPhase } from '../phases.ts';
import { type Creation, type ErrorCode, type OpenResult, refused } from '../results.ts';
import { findPaymentByKey } from '../store.ts';
import { type PayDeps, payOpened, waitForOutcome } from './pay.ts';
import { type Caller, type PrepareDeps, preparePayment, pricesOf } from './prepare.ts';
import { knownPayment, type Refusal } from './refusal.ts';
import { isSameRequest, type PaymentRequest } from './request.ts';
import { resolveQr } from './resolve-qr.ts';
import { outcomeAfterMs, scenarioIn } from './scenarios.ts';
import { findTerms } from './terms.ts';

export interface CreateDeps extends PrepareDeps, PayDeps {}

/** From the arrival of a request. It is answered by then whatever is slow, so that the answer arrives within 90 seconds. */
const answerAtLatestMs = 75_000;

/**
 * Pays a QR code: prepare, open (which debits), pay, finish. Between the steps a row is committed and no transaction is
 * open while the gateway is called, so after a crash at any point the row says what recovery has to do.
 */
export async function createPayment(
  deps: CreateDeps,
  caller: Caller,
  request: PaymentRequest,
): Promise<Creation> {
  const answerByMs = deps.clock.nowMs() + answerAtLatestMs;
  const prepared = await preparePayment(deps, caller, request, () => resolveInPhase(deps, caller, request));
  const creation =
    prepared.outcome === 'prepared'
      ? await openAndPay(deps, caller, request, prepared.payment, answerByMs)
      : await refuseOrReplay(deps, caller, request, prepared);
  if (creation.outcome === 'refused')
    deps.paymentMetrics?.countOutcome(caller.mode, 'refused', creation.code);
  return creation;
}

const refuseOrReplay = async (deps: CreateDeps, caller: Caller, request: PaymentRequest, refusal: Refusal) =>
  refusal.outcome === 'refused' ? refusal : replay(deps, caller, refusal.payment, request);

/** Only of a live payment: in test mode the gateway is not asked. */
const resolveInPhase = (deps: CreateDeps, caller: Caller, { qrUrl, amountKopecks }: PaymentRequest) => {
  const resolve = (trace?: TraceContext) =>
    resolveQr(deps, trace ? { ...caller, trace } : caller, qrUrl, amountKopecks);
  return caller.mode === 'live' ? inPhase(deps, caller, 'resolve', resolve) : resolve();
};

async function openAndPay(
  deps: CreateDeps,
  caller: Caller,
  request: PaymentRequest,
  prepared: NewPayment,
  answerByMs: number,
): Promise<Creation> {
  let payment = prepared;
  let opened = await openPayment(deps, caller, payment);
  // A rate came since it was read, at most one in some seconds.
  while (opened.verdict === 'rate_changed') {
    deps.rateMemo.forget();
    const terms = await findTerms(deps, caller, request);
    if (typeof terms === 'string') return refused(terms);
    payment = { ...payment, ...pricesOf(payment.amountKopecks, terms) };
    opened = await openPayment(deps, caller, payment);
  }
  switch (opened.verdict) {
    case 'opened': {
      caller.onDebited?.();
      const creation = await payOpened(deps, inTrace(payment, caller), opened.at, answerByMs);
      const isAnswerLost = scenarioIn(caller.mode, request.metadata) === 'answer_lost';
      return isAnswerLost ? { ...creation, isAnswerLost } : creation;
    }
    case 'known':
      return refuseOrReplay(deps, caller, request, await knownPayment(deps, caller, opened.paymentId!));
    case 'insufficient_balance':
      return {
        outcome: 'refused',
        code: opened.verdict,
        requiredMicroUsdt: payment.microUsdt,
        balanceMicroUsdt: opened.balanceMicroUsdt,
      };
    case 'no_account':
      throw new Error(`partner ${caller.partnerId} has no ${caller.mode} account`);
    default:
      return refused(opened.verdict);
  }
}

const inTrace = (payment: NewPayment, { trace }: Caller) => (trace ? { ...payment, trace } : payment);

const openPayment = (deps: CreateDeps, caller: Caller, payment: NewPayment) =>
  inPhase(deps, caller, 'open', async trace => {
    if (!trace) return openOrFind(deps, payment);
    const saved = deps.paymentTraces?.save(payment.paymentId, caller.trace!);
    // Its event may be sent as soon as it is open, by a process that looks for the trace.
    if (payment.ending) await saved;
    const [result] = await Promise.all([openOrFind(deps, { ...payment, trace }), saved]);
    return result;
  });

/**
 * Inserts the payment and holds its money. If the database's answer is lost, the idempotency key shows whether that
 * happened: if so, the request continues with its payment. If it cannot be found out, or not yet, the lease is released,
 * so that recovery may take the payment from any process.
 */
async function openOrFind(deps: CreateDeps, payment: NewPayment): Promise<OpenResult> {
  try {
    return await deps.writer.open(payment);
  } catch (error) {
    const found = await findPaymentByKey(deps.db, payment, payment.idempotencyKey).catch(() => undefined);
    if (!found) {
      deps.leaseRelease.releaseLease(payment.paymentId);
      throw error;
    }
    const { paymentId, createdAt: at } = found;
    const verdict = paymentId === payment.paymentId ? 'opened' : 'known';
    return { verdict, paymentId, balanceMicroUsdt: 0n, at };
  }
}

/** The idempotency key was used before: the same payment, or a conflict. A payment still processing is waited for. */
async function replay(
  deps: CreateDeps,
  caller: Caller,
  payment: Payment,
  request: PaymentRequest,
): Promise<Creation> {
  // It was rejected after it was found; the repeated request gets the same answer as the first.
  if (payment.status === 'rejected') return refused(payment.errorCode as ErrorCode);
  if (!isSameRequest(request, payment)) return refused('idempotency_conflict');
  if (payment.status !== 'processing' || outcomeAfterMs(payment) !== undefined)
    return { outcome: 'payment', payment, replayed: true };
  const deadlineMs = payment.createdAt.getTime() + deps.answerWithinMs;
  const isRunning = deps.clock.nowMs() < deadlineMs;
  caller.onDebited?.();
  // Read again also after the deadline: this process may have hung since it read the payment, which was undone meanwhile.
  const creation = await waitForOutcome(deps, payment);
  if (!isRunning && creation.outcome === 'payment') return { ...creation, replayed: true };
  const isUndecided = creation.outcome === 'payment' && creation.payment.status === 'processing';
  // This process shuts down before the first request is answered, which may still undo the payment: the partner must
  // repeat the request, and another process answers it.
  return isUndecided && deps.clock.nowMs() < deadlineMs ? refused('gateway_unavailable') : creation;
}
