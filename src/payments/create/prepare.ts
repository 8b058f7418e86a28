import { newId } from '../../base/ids.ts';
import { stringifyJson } from '../../base/json.ts';
import { kopecksToMicroUsdt } from '../../base/money.ts';
import {
  foldRecipient,
  isRecipientBlocked,
  type PaymentStops,
  readPaymentStops,
} from '../../controls/index.ts';
import type { Heartbeat } from '../../db/heartbeat.ts';
import type { Queryable } from '../../db/pool.ts';
import type { AccountKey } from '../../ledger/index.ts';
import type { LimitedRights, Limits } from '../../partners/index.ts';
import { type CurrentRate, isStale } from '../../rates/index.ts';
import type { TraceContext } from '../../telemetry/index.ts';
import { isBlockedCode, isBlockedRequest } from '../lost-history/stray-orders.ts';
import { findSupersession } from '../lost-history/superseded.ts';
import type { NewPayment } from '../openings.ts';
import type { Payment } from '../payment.ts';
import { endExpired } from '../quotes/quote.ts';
import { findPaymentByKey } from '../store.ts';
import { type Creation, type ErrorCode, refused } from './creation.ts';
import { hashRequest, type PaymentRequest } from './request.ts';
import type { PayableQr, QrResolution, ResolveDeps } from './resolve-qr.ts';
import { countRefusal, outcomeAfterMs, scenarioIn, testOutcome } from './scenarios.ts';
import { findTerms, type Terms, termsOf } from './terms.ts';

export interface PrepareDeps extends ResolveDeps {
  db: Queryable;
  heartbeat: Pick<Heartbeat, 'instance'>;
  rateMaxAgeSec: number;
}

export interface Caller extends AccountKey {
  limits: Limits;
  /** Of a key that may not do everything. */
  rights?: LimitedRights | undefined;
  /** Of the request, where traces are exported. */
  trace?: TraceContext | undefined;
  /** Called once the money is held: from here on the request only waits for others. */
  onDebited?: () => void;
}

export type Preparation =
  | { outcome: 'prepared'; payment: NewPayment }
  /** The idempotency key was used before. */
  | { outcome: 'known'; payment: Payment }
  | (Creation & { outcome: 'refused' });

/** The lease of the request on its live payment: until then no other process polls it. */
const requestLeaseMs = 60_000;
/** After a refusal that a test payment asked for. */
const retryAfterSec = 1;

/** What the gateway says about the code of the request. It is asked once, when it is needed. */
export type Resolve = () => Promise<QrResolution>;

/**
 * Everything that can refuse a payment before money moves. Nothing is written, but for a test scenario's counter and the end of an
 * expired quote.
 */
export async function preparePayment(
  deps: PrepareDeps,
  caller: Caller,
  request: PaymentRequest,
  resolve: Resolve,
): Promise<Preparation> {
  const findKnown = () => findPaymentByKey(deps.db, caller, request.idempotencyKey);
  const [known, stops, terms] = await Promise.all([
    findKnown(),
    readPaymentStops(deps.db, deps.clock),
    findTerms(deps, caller, request),
  ]);
  if (known) return replayable(deps, known, stops);
  const prepared = await prepareNew(deps, caller, request, { stops, terms, resolve });
  if (prepared.outcome !== 'refused') return prepared;
  if (terms === 'quote_expired') await endExpired(deps.db, caller, request.quoteId!);
  // The same request may arrive twice at once, and its own payment has used the quote or paid the code that refuses this one.
  const [opened, stopsNow] = await Promise.all([findKnown(), readPaymentStops(deps.db, deps.clock)]);
  return opened ? replayable(deps, opened, stopsNow) : prepared;
}

/** A payment that may still be undone must not be shown. */
async function replayable({ db }: PrepareDeps, known: Payment, stops: PaymentStops): Promise<Preparation> {
  const mayBeUndone = known.status === 'processing' && (await findSupersession(db, known, stops)) !== 'no';
  return mayBeUndone ? refused('maintenance') : { outcome: 'known', payment: known };
}

interface PrepareInputs {
  stops: PaymentStops;
  terms: Awaited<ReturnType<typeof findTerms>>;
  resolve: Resolve;
}

async function prepareNew(
  deps: PrepareDeps,
  caller: Caller,
  request: PaymentRequest,
  { stops, terms, resolve }: PrepareInputs,
): Promise<Preparation> {
  if (stops.isUnderMaintenance || stops.isRecovering) return refused('maintenance');
  // Before anything else can refuse it: the partner may have seen its payment.
  if (caller.mode === 'live' && stops.hasStrayOrders && (await isBlockedRequest(deps.db, caller, request)))
    return refused('maintenance');
  if (typeof terms === 'string') return refused(terms);

  const resolution = await resolve();
  if (resolution.outcome === 'refused') return refused(resolution.code);
  const { qr } = resolution;
  const refusal =
    amountRefusal(caller, request, qr) ??
    quoteRefusal(terms, qr) ??
    (await findRefusal(deps, caller, qr, stops));
  if (refusal) return refused(refusal);
  if (
    scenarioIn(caller.mode, request.metadata) === 'unavailable_twice' &&
    (await countRefusal(deps.db, deps.clock, caller.partnerId, request.idempotencyKey))
  )
    return { ...refused('gateway_unavailable'), retryAfterSec };
  if ('rate' in terms.from) lastRates.set(deps.db, terms.from.rate);
  return { outcome: 'prepared', payment: newPayment(deps, { caller, request, qr, terms }) };
}

/** Of the last payment that was checked here and not refused, while none meets an objection. */
const lastRates = new WeakMap<Queryable, CurrentRate>();

/** After an objection the next payments are checked one by one, until one is not refused. */
export const checkAll = ({ db }: PrepareDeps) => lastRates.delete(db);

/**
 * The same without the reads that almost never refuse a payment: the statement that opens it makes these checks, and checks that
 * the rate is still the newest. Undefined, or the verdict `objection`, if something is not as usual: then `preparePayment`
 * finds out what it is, in the order in which refusals are promised. A payment with a locked quote does not have the newest rate.
 */
export async function prepareUnchecked(
  deps: PrepareDeps,
  caller: Caller,
  request: PaymentRequest,
  resolve: Resolve,
): Promise<Preparation | undefined> {
  const rate = lastRates.get(deps.db);
  if (request.quoteId !== undefined) return undefined;
  if (!rate || isStale(rate, deps.clock, deps.rateMaxAgeSec) || scenarioIn(caller.mode, request.metadata))
    return undefined;
  if (caller.mode === 'live') {
    // The gateway is asked neither about a repeat nor about a payment that will be refused anyway.
    const [known, stops] = await Promise.all([
      findPaymentByKey(deps.db, caller, request.idempotencyKey),
      readPaymentStops(deps.db, deps.clock),
    ]);
    if (stops.isUnderMaintenance || stops.isRecovering || stops.hasStrayOrders) return undefined;
    if (known) return { outcome: 'known', payment: known };
  }
  const resolution = await resolve();
  if (resolution.outcome === 'refused') return undefined;
  const { qr } = resolution;
  if (amountRefusal(caller, request, qr) || isChangedInTest(caller, qr)) return undefined;
  const payment = newPayment(deps, { caller, request, qr, terms: termsOf(deps, rate) });
  return { outcome: 'prepared', payment: { ...payment, unchecked: foldRecipient(qr) } };
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

/** Of a single payment. */
export function limitRefusal({ limits, rights }: Caller, amountKopecks: bigint): ErrorCode | undefined {
  if (amountKopecks < limits.minKopecks) return 'invalid_request';
  if (amountKopecks > limits.maxKopecks) return 'amount_limit_exceeded';
  const keyLimit = rights?.maxKopecks ?? null;
  return keyLimit !== null && amountKopecks > keyLimit ? 'key_payment_limit_exceeded' : undefined;
}

const quoteRefusal = ({ from }: Terms, { amountKopecks }: PayableQr) =>
  'quote' in from && from.quote.amountKopecks !== amountKopecks ? 'quote_amount_mismatch' : undefined;

const isChangedInTest = ({ mode }: Caller, { amountKopecks }: PayableQr) =>
  mode === 'test' && amountKopecks % 100n === 3n;

async function findRefusal(
  { db }: PrepareDeps,
  caller: Caller,
  qr: PayableQr,
  stops: PaymentStops,
): Promise<ErrorCode | undefined> {
  if (await isRecipientBlocked(db, [qr.recipient, qr.recipientId])) return 'recipient_blocked';
  if (isChangedInTest(caller, qr)) return 'qr_changed';
  if (caller.mode === 'live' && stops.hasStrayOrders && (await isBlockedCode(db, qr.qrcId)))
    return 'duplicate_qr_in_flight';
  return undefined;
}

interface PreparedParts {
  caller: Caller;
  request: PaymentRequest;
  qr: PayableQr;
  terms: Terms;
}

function newPayment(
  deps: PrepareDeps,
  { caller: { partnerId, mode, rights }, request, qr, terms }: PreparedParts,
): NewPayment {
  const { rateE4, rateId, rateStaleAt, from } = terms;
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
    microUsdt: kopecksToMicroUsdt(amountKopecks, rateE4),
    rateE4,
    rateId,
    rateStaleAt,
    metadata,
    nextAt: new Date(deps.clock.nowMs() + (delayMs ?? requestLeaseMs)),
    leaseHolder: delayMs === undefined ? deps.heartbeat.instance : null,
    ...(rights && rights.dailyKopecks !== null
      ? { keyLimit: { keyId: rights.turnoverKey, dailyKopecks: rights.dailyKopecks } }
      : {}),
    ...('quote' in from ? { quoteId: from.quote.quoteId } : {}),
    ...(endsAtOnce ? { ending: testOutcome({ mode, amountKopecks, metadata }) } : {}),
  };
}
