import { newId } from '../../base/ids.ts';
import { stringifyJson } from '../../base/json.ts';
import { kopecksToMicroUsdt } from '../../base/money.ts';
import { isRecipientBlocked, type PaymentStops, readPaymentStops } from '../../controls/index.ts';
import type { Heartbeat } from '../../db/heartbeat.ts';
import type { Queryable } from '../../db/pool.ts';
import type { AccountKey } from '../../ledger/index.ts';
import type { Limits } from '../../partners/index.ts';
import { type CurrentRate, isStale, readCurrentRate } from '../../rates/index.ts';
import { isBlockedCode, isBlockedRequest } from '../lost-history/stray-orders.ts';
import type { NewPayment } from '../openings.ts';
import type { Payment } from '../payment.ts';
import { findPaymentByKey } from '../store.ts';
import { type Creation, type ErrorCode, refused } from './creation.ts';
import { hashRequest, type PaymentRequest } from './request.ts';
import { type PayableQr, type ResolveDeps, resolveQr, testRecipient } from './resolve-qr.ts';
import { countRefusal, outcomeAfterMs, scenarioIn, testOutcome } from './scenarios.ts';

export interface PrepareDeps extends ResolveDeps {
  db: Queryable;
  heartbeat: Pick<Heartbeat, 'instance'>;
  rateMaxAgeSec: number;
}

export interface Caller extends AccountKey {
  limits: Limits;
  /** Called once the money is held: from here on the request only waits for others. */
  onDebited?: () => void;
}

type Preparation =
  | { outcome: 'prepared'; payment: NewPayment }
  /** The idempotency key was used before. */
  | { outcome: 'known'; payment: Payment }
  | (Creation & { outcome: 'refused' });

/** The lease of the request on its live payment: until then no other process polls it. */
const requestLeaseMs = 60_000;
/** After a refusal that a test payment asked for. */
const retryAfterSec = 1;

/** Everything that can refuse a payment before money moves. Nothing is written, but for a test scenario's counter. */
export async function preparePayment(
  deps: PrepareDeps,
  caller: Caller,
  request: PaymentRequest,
): Promise<Preparation> {
  const [known, stops, rate, isTestBlocked] = await Promise.all([
    findPaymentByKey(deps.db, caller, request.idempotencyKey),
    readPaymentStops(deps.db, deps.clock),
    readCurrentRate(deps.db),
    // Of a live payment it is known only once its code is resolved.
    caller.mode === 'test' && isBlocked(deps, testRecipient),
  ]);
  if (known) return { outcome: 'known', payment: known };
  if (stops.isUnderMaintenance || stops.isRecovering) return refused('maintenance');
  // Before anything else can refuse it: the partner may have seen its payment.
  if (caller.mode === 'live' && stops.hasStrayOrders && (await isBlockedRequest(deps.db, caller, request)))
    return refused('maintenance');
  const scenario = scenarioIn(caller.mode, request.metadata);
  if (!rate || isStale(rate, deps.clock, deps.rateMaxAgeSec) || scenario === 'rate_stale')
    return refused('rate_unavailable');

  const resolution = await resolveQr(deps, caller, request.qrUrl, request.amountKopecks);
  if (resolution.outcome === 'refused') return refused(resolution.code);
  const { qr } = resolution;
  const objection = await findRefusal(deps, caller, { request, qr, stops, isTestBlocked });
  if (objection) return refused(objection);
  if (
    scenario === 'unavailable_twice' &&
    (await countRefusal(deps.db, deps.clock, caller.partnerId, request.idempotencyKey))
  )
    return { ...refused('gateway_unavailable'), retryAfterSec };
  return { outcome: 'prepared', payment: newPayment(deps, { caller, request, qr, rate }) };
}

interface Checked {
  request: PaymentRequest;
  qr: PayableQr;
  stops: PaymentStops;
  isTestBlocked: boolean;
}

const isBlocked = (
  { db }: PrepareDeps,
  { recipient, recipientId }: Pick<PayableQr, 'recipient' | 'recipientId'>,
) => isRecipientBlocked(db, [recipient, recipientId]);

async function findRefusal(
  deps: PrepareDeps,
  caller: Caller,
  { request, qr, stops, isTestBlocked }: Checked,
): Promise<ErrorCode | undefined> {
  const { mode, limits } = caller;
  if (request.amountKopecks !== undefined && request.amountKopecks !== qr.amountKopecks)
    return 'amount_mismatch';
  if (qr.amountKopecks < limits.minKopecks) return 'invalid_request';
  if (qr.amountKopecks > limits.maxKopecks) return 'amount_limit_exceeded';
  if (mode === 'test' ? isTestBlocked : await isBlocked(deps, qr)) return 'recipient_blocked';
  if (mode === 'test' && qr.amountKopecks % 100n === 3n) return 'qr_changed';
  if (mode === 'live' && stops.hasStrayOrders && (await isBlockedCode(deps.db, qr.qrcId)))
    return 'duplicate_qr_in_flight';
  return undefined;
}

interface PreparedParts {
  caller: Caller;
  request: PaymentRequest;
  qr: PayableQr;
  rate: CurrentRate;
}

function newPayment(
  deps: PrepareDeps,
  { caller: { partnerId, mode }, request, qr, rate }: PreparedParts,
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
    microUsdt: kopecksToMicroUsdt(amountKopecks, rate.rateE4),
    rateE4: rate.rateE4,
    rateId: rate.rateId,
    rateStaleAt: new Date(rate.asOf.getTime() + deps.rateMaxAgeSec * 1000),
    metadata,
    nextAt: new Date(deps.clock.nowMs() + (delayMs ?? requestLeaseMs)),
    leaseHolder: delayMs === undefined ? deps.heartbeat.instance : null,
    ...(endsAtOnce ? { ending: testOutcome({ mode, amountKopecks, metadata }) } : {}),
  };
}
