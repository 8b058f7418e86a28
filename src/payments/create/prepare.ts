import { newId } from '../../base/ids.ts';
import { stringifyJson } from '../../base/json.ts';
import { kopecksToMicroUsdt } from '../../base/money.ts';
import { foldRecipient } from '../../controls/index.ts';
import type { Heartbeat } from '../../db/processes/index.ts';
import type { AccountKey } from '../../ledger/index.ts';
import type { LimitedRights, Limits } from '../../partners/index.ts';
import type { TraceContext } from '../../telemetry/index.ts';
import type { NewPayment } from '../openings.ts';
import { type ErrorCode, refused } from '../results.ts';
import { findRefusal, type Refusal } from './refusal.ts';
import { hashRequest, type PaymentRequest } from './request.ts';
import type { PayableQr, QrResolution, ResolveDeps } from './resolve-qr.ts';
import { countRefusal, outcomeAfterMs, scenarioIn, testOutcome } from './scenarios.ts';
import { findTerms, type Terms, type TermsDeps } from './terms.ts';

export interface PrepareDeps extends ResolveDeps, TermsDeps {
  heartbeat: Pick<Heartbeat, 'instance'>;
}

export interface Caller extends AccountKey {
  limits: Limits;
  /** Set for a key that may not do everything. */
  rights?: LimitedRights | undefined;
  /** The trace of the request, where traces are exported. */
  trace?: TraceContext | undefined;
  /** Called once the money is held: from here on the request only waits for others. */
  onDebited?: () => void;
}

export type Preparation = { outcome: 'prepared'; payment: NewPayment } | Refusal;

/** The lease of the request on its live payment: until then no other process polls it. */
const requestLeaseMs = 60_000;
/** After a refusal that a test payment asked for. */
const retryAfterSec = 1;

/**
 * The payment that this request asks for, or what refuses it. Nothing is written, but for a test scenario's counter and the end of an
 * expired quote. What the database knows is asked again when the payment is opened.
 */
export async function preparePayment(
  deps: PrepareDeps,
  caller: Caller,
  request: PaymentRequest,
  resolve: () => Promise<QrResolution>,
): Promise<Preparation> {
  // What the database refuses comes before what is found out here.
  const refuse = async (code: ErrorCode, qr?: PayableQr) =>
    (await findRefusal(deps, caller, request, qr)) ?? refused(code);

  // The gateway is asked neither about a repeat nor about a payment that will be refused anyway; and a quote that has expired is ended.
  const isAskedFirst = caller.mode === 'live' || request.quoteId !== undefined;
  const early = isAskedFirst ? await findRefusal(deps, caller, request) : undefined;
  if (early) return early;
  const terms = await findTerms(deps, caller, request);
  if (typeof terms === 'string') return refuse(terms);
  const resolution = await resolve();
  if (resolution.outcome === 'refused') return refuse(resolution.code);
  const { qr } = resolution;
  const refusal = amountRefusal(caller, request, qr) ?? quoteRefusal(terms, qr);
  if (refusal) return refuse(refusal);
  if (isChangedInTest(caller, qr)) return refuse('qr_changed', qr);
  if (scenarioIn(caller.mode, request.metadata) === 'unavailable_twice') {
    const earlier = await findRefusal(deps, caller, request, qr);
    if (earlier) return earlier;
    if (await countRefusal(deps.db, deps.clock, caller.partnerId, request.idempotencyKey))
      return { ...refused('gateway_unavailable'), retryAfterSec };
  }
  return { outcome: 'prepared', payment: newPayment(deps, caller, request, qr, terms) };
}

function amountRefusal(
  caller: Caller,
  request: PaymentRequest,
  { amountKopecks }: PayableQr,
): ErrorCode | undefined {
  if (request.amountKopecks !== undefined && request.amountKopecks !== amountKopecks)
    return 'amount_mismatch';
  return limitRefusal(caller, amountKopecks);
}

/** What the limits on a single payment refuse. */
export function limitRefusal({ limits, rights }: Caller, amountKopecks: bigint): ErrorCode | undefined {
  if (amountKopecks < limits.minKopecks) return 'invalid_request';
  if (amountKopecks > limits.maxKopecks) return 'amount_limit_exceeded';
  const keyLimit = rights?.maxKopecks ?? null;
  return keyLimit !== null && amountKopecks > keyLimit ? 'key_payment_limit_exceeded' : undefined;
}

const quoteRefusal = ({ quote }: Terms, { amountKopecks }: PayableQr) =>
  quote && quote.amountKopecks !== amountKopecks ? 'quote_amount_mismatch' : undefined;

const isChangedInTest = ({ mode }: Caller, { amountKopecks }: PayableQr) =>
  mode === 'test' && amountKopecks % 100n === 3n;

function newPayment(
  deps: PrepareDeps,
  { partnerId, mode, rights }: Caller,
  request: PaymentRequest,
  qr: PayableQr,
  terms: Terms,
): NewPayment {
  const { qrcId, qrUrl, fingerprint, recipient, amountKopecks } = qr;
  const metadata = stringifyJson(request.metadata);
  const delayMs = outcomeAfterMs({ mode, amountKopecks, metadata });
  const endsAtOnce = mode === 'test' && delayMs === undefined;
  return {
    partnerId,
    mode,
    paymentId: newId('pay', deps.clock),
    idempotencyKey: request.idempotencyKey,
    requestHash: hashRequest(request),
    externalId: request.externalId,
    qrcId,
    qrUrl,
    fingerprint,
    recipient,
    amountKopecks,
    ...pricesOf(amountKopecks, terms),
    metadata,
    nextAt: new Date(deps.clock.nowMs() + (delayMs ?? requestLeaseMs)),
    leaseHolder: delayMs === undefined ? deps.heartbeat.instance : null,
    ...(rights && rights.dailyKopecks !== null
      ? { keyLimit: { keyId: rights.turnoverKey, dailyKopecks: rights.dailyKopecks } }
      : {}),
    ...(terms.quote ? { quoteId: terms.quote.quoteId } : {}),
    folded: foldRecipient(qr),
    ...(endsAtOnce ? { ending: testOutcome({ mode, amountKopecks, metadata }) } : {}),
  };
}

/** What a payment of this amount costs at these terms. */
export const pricesOf = (amountKopecks: bigint, { rateE4, rateId, rateStaleAt }: Terms) => ({
  microUsdt: kopecksToMicroUsdt(amountKopecks, rateE4),
  rateE4,
  rateId,
  rateStaleAt,
});
