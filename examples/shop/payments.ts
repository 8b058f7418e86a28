import {
  InvalidRequestError,
  type Kopeck,
  KopeckError,
  type PaymentEvent,
  PaymentRefusedError,
} from '../../sdk/src/index.ts';
import type { Order, Orders, Source } from './orders.ts';

/** Of 403; others, such as `partner_suspended`, are decided before the service looks for a payment with the key. */
const refusedAfterTheKeyWasFree = [
  'recipient_blocked',
  'daily_limit_exceeded',
  'key_payment_limit_exceeded',
  'key_daily_limit_exceeded',
];

/**
 * With the key of the order these refusals are final: there is no payment. All other errors are temporary, or say nothing
 * about the payment: an earlier attempt may have been accepted.
 */
const meansNoPayment = (error: KopeckError) =>
  !error.retryable &&
  !error.code.startsWith('http_') &&
  (error instanceof InvalidRequestError ||
    error instanceof PaymentRefusedError ||
    refusedAfterTheKeyWasFree.includes(error.code));

/** Everything in this shop that deals with payments. */
export function createPayments(kopeck: Kopeck, orders: Orders) {
  const underWay = new Set<string>();

  /** Pays the order, or asks again for its outcome: with the same key it is the same payment. */
  async function pay(order: Order): Promise<void> {
    if (underWay.has(order.id)) return;
    underWay.add(order.id);
    try {
      const { qr_url, amount_rub, id: external_id } = order;
      // The library itself retries what can be retried, for about a minute.
      await orders.learn(order, await kopeck.payments.create({ qr_url, amount_rub, external_id }), 'answer');
    } catch (error) {
      if (!(error instanceof KopeckError)) throw error;
      if (meansNoPayment(error)) await orders.refuse(order, error.message);
      // The order stays open, and checkOpenOrders asks again.
      else console.error(`order ${order.id}: ${error.code} ${error.requestId ?? ''}`);
    } finally {
      underWay.delete(order.id);
    }
  }

  return {
    /** The customer has pressed the button; the page gets the rest as events. */
    async start(order: Order): Promise<void> {
      if (await orders.begin(order)) await pay(order);
    },

    /** At least once, from the webhook or the feed. An event may belong to an order of another system. */
    async onEvent({ data }: PaymentEvent, source: Source): Promise<void> {
      const order = orders.find(data.external_id ?? '');
      if (order) await orders.learn(order, data, source);
    },

    /** Asks again for orders that were open at start, or stay open because an event was lost. */
    async checkOpenOrders(): Promise<void> {
      for (const order of orders.unfinished()) {
        if (order.payment_id === undefined) await pay(order);
        else await orders.learn(order, await kopeck.payments.get(order.payment_id), 'look');
      }
    },
  };
}
