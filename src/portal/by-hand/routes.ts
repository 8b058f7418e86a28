import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { allErrors } from '../../base/errors.ts';
import { parseKopecks } from '../../base/money.ts';
import { recordChange } from '../../db/audit/index.ts';
import { transaction } from '../../db/postgres/index.ts';
import { byHandObject, rightsByHand, setByHandLimits } from '../../partners/index.ts';
import { type Caller, createPayment, findPaymentByKey, keyOfPaymentByHand } from '../../payments/index.ts';
import { done, Mode, paymentRow, Rubles, refuse, throttled } from '../../web/index.ts';
import type { RouteDeps } from '../deps.ts';
import { QrLink } from '../qr/routes.ts';
import { auditContextOf, get, post } from '../route.ts';

const PaymentByHand = Type.Object({
  mode: Mode,
  qr_url: QrLink,
  // What the person has confirmed: a QR code with another amount is not paid.
  amount_rub: Rubles,
  // Made by the page, once per confirmation: whatever is sent again with it, one payment comes of it.
  confirmation: Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' }),
});

type PayRequest = FastifyRequest<{ Body: Type.Static<typeof PaymentByHand> }>;

/**
 * The one way to open a payment, as for a key of the API with limits: those of payments by hand. The guard has just read the session,
 * the membership and the partner.
 */
export const payByHand = post('/pay', 'pay', { body: PaymentByHand.properties }, async (request, deps) => {
  const { partner } = request.member;
  const { mode, qr_url, amount_rub, confirmation } = request.body;
  const { admission, rateLimiter, ...creating } = deps.payments;
  if (!creating.heartbeat.canCommit()) return refuseWith('gateway_unavailable');
  if (partner.suspended) return refuseWith('partner_suspended');
  if (mode === 'live' && !partner.liveApproved)
    return refuse(409, 'not_approved', 'Live mode is not approved yet.');
  const { partnerId, limits } = partner;
  const caller: Caller = { partnerId, mode, limits, rights: rightsByHand(partner, mode) };
  const retryAfterSec = await rateLimiter.take(caller, 'create');
  if (retryAfterSec !== undefined) return throttled(retryAfterSec);
  if (admission.isFull()) return refuseWith('gateway_busy');
  const idempotencyKey = keyOfPaymentByHand(request.person.userId, confirmation);
  await recordConfirmation(request, deps, idempotencyKey);
  const leave = admission.enter();
  const creation = await createPayment(
    creating,
    { ...caller, onDebited: leave },
    {
      qrUrl: qr_url.trim(),
      amountKopecks: parseKopecks(amount_rub),
      externalId: null,
      metadata: new Map(),
      idempotencyKey,
    },
  ).finally(leave);
  return creation.outcome === 'payment' ? paymentRow(creation.payment) : refuseWith(creation.code);
});

/** Before anything is opened, so that no payment by hand is missing in the audit log. What came of it is the payment. */
async function recordConfirmation(request: PayRequest, deps: RouteDeps, idempotencyKey: string) {
  const { partnerId } = request.member.partner;
  const { mode, qr_url, amount_rub } = request.body;
  if (await findPaymentByKey(deps.db, { partnerId, mode }, idempotencyKey)) return;
  const after = { mode, amount_rub, qr_url: qr_url.trim(), idempotency_key: idempotencyKey };
  const change = {
    action: 'payment.by_hand',
    subject: partnerId,
    after,
    countedAs: 'payments by hand',
  } as const;
  await transaction(deps.pool, tx => recordChange(tx, auditContextOf(deps, request), change));
}

/** What is refused because of the limits of payments by hand has names of its own. */
const ownCodes: Partial<Record<keyof typeof allErrors, string>> = {
  invalid_request: 'below_minimum',
  key_payment_limit_exceeded: 'by_hand_payment_limit_exceeded',
  key_daily_limit_exceeded: 'by_hand_daily_limit_exceeded',
};

const refuseWith = (code: keyof typeof allErrors) =>
  refuse(allErrors[code].status, ownCodes[code] ?? code, allErrors[code].message);

export const showLimits = get('/pay/limits', 'money', {}, request =>
  byHandObject(request.member.partner.byHand),
);

const limitFields = { max_payment_rub: Rubles, max_day_rub: Rubles };
const changeLimits = post('/pay/limits', 'own', { body: limitFields }, async (request, deps) => {
  const { partnerId } = request.member.partner;
  const { max_payment_rub, max_day_rub } = request.body;
  const wanted = { maxKopecks: parseKopecks(max_payment_rub)!, dailyKopecks: parseKopecks(max_day_rub)! };
  await setByHandLimits(auditContextOf(deps, request), partnerId, wanted);
  return done;
});

/** People of a partner pay a QR code themselves, within limits that owners set. */
export const byHandRoutes = [payByHand, showLimits, changeLimits];
