import { type Answer, ok, refusal } from './answer.ts';
import { type Bank, orderNow, type Refund } from './bank.ts';
import { type Route, route } from './http.ts';
import { boolean, fieldsOf, integer, optional, text } from './input.ts';

const maxShown = 100;

export const refundsOf = ({ state }: Bank, paymentId: string): Refund[] =>
  [...state.refunds.values()].filter(({ payment_id }) => payment_id === paymentId);

/** The control API of refunds: a shop returns money, all of it or a part, and may take that back. */
export function refundRoutes(bank: Bank): Route[] {
  return [
    route('GET', /^\/sim\/refunds$/, () =>
      ok({ refunds: [...bank.state.refunds.values()].slice(-maxShown).reverse() }),
    ),
    route('POST', /^\/sim\/orders\/([\w-]{1,128})\/refunds$/, ({ params: [paymentId = ''], body }) =>
      refund(bank, paymentId, body),
    ),
    route('POST', /^\/sim\/refunds\/([\w-]{1,128})\/revoke$/, ({ params: [refundId = ''] }) =>
      revoke(bank, refundId),
    ),
  ];
}

function refund(bank: Bank, paymentId: string, body: unknown): Answer {
  const fields = fieldsOf(body ?? {}, ['amount_kopecks', 'refund_id', 'unchecked']);
  const order = bank.state.orders.get(paymentId);
  if (!order) return refusal(404, 'ORDER_UNKNOWN', 'No order was accepted under this id.');
  const isUnchecked = optional(boolean, fields, 'unchecked') ?? false;
  const ownId = optional(text, fields, 'refund_id', /^[\w-]{1,128}$/);
  const known = ownId && bank.state.refunds.get(ownId);
  if (known) return ok(known);
  if (!isUnchecked && orderNow(order, Date.now()).state !== 'succeeded')
    return refusal(409, 'ORDER_NOT_PAID', 'Only a paid order can be refunded.');
  const returned = refundsOf(bank, paymentId)
    .filter(({ state }) => state === 'succeeded')
    .reduce((sum, { amount_kopecks }) => sum + amount_kopecks, 0);
  const rest = order.amount_kopecks - returned;
  const amount = optional(integer, fields, 'amount_kopecks', 1, 10 ** 14) ?? rest;
  if (!isUnchecked && (amount > rest || amount === 0))
    return refusal(409, 'REFUND_TOO_LARGE', `At most ${rest} kopecks of this order can be refunded.`);
  const made: Refund = {
    refund_id: ownId ?? `rfd_${String(bank.state.refunds.size + 1).padStart(9, '0')}`,
    payment_id: paymentId,
    amount_kopecks: amount,
    created_at: new Date().toISOString(),
    state: 'succeeded',
  };
  bank.record({ type: 'refund', refund: made });
  return { status: 201, body: made };
}

function revoke(bank: Bank, refundId: string): Answer {
  if (!bank.state.refunds.has(refundId))
    return refusal(404, 'REFUND_UNKNOWN', 'There is no refund with this id.');
  bank.record({ type: 'refund_revoked', refund_id: refundId });
  return ok(bank.state.refunds.get(refundId)!);
}
