import {
  InvalidRequestError,
  type Kopeck,
  KopeckError,
  type LockedQuote,
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

/** The locked quote cannot be used. The service decides this only if there is no payment with the key of the order. */
const meansNewPrice = (error: KopeckError) =>
  error instanceof PaymentRefusedError && ['quote_expired', 'quote_used'].includes(error.code);

/** A price shown now holds at least this long. */
const decisionMs = 20_000;
const isHeld = ({ quote }: Order) =>
  quote !== undefined && Date.parse(quote.expires_at) > Date.now() + decisionMs;

/** Everything in this shop that deals with payments. */
export function createPayments(kopeck: Kopeck, orders: Orders) {
  const underWay = new Set<string>();

  /** Without a price the page shows none, and the payment gets the current one. */
  async function lockPrice({ id, amount_rub }: Order): Promise<LockedQuote | undefined> {
    try {
      return await kopeck.quote({ amount_rub, lock: true });
    } catch (error) {
      if (!(error instanceof KopeckError)) throw error;
      console.error(`order ${id}: no price, ${error.code}`);
      return undefined;
    }
  }

  /** Pays the order, or asks again for its outcome: with the same key it is the same payment. */
  async function pay(order: Order): Promise<void> {
    if (underWay.has(order.id)) return;
    underWay.add(order.id);
    try {
      const { qr_url, amount_rub, id: external_id, quote } = order;
      const params = { qr_url, amount_rub, external_id, ...(quote && { quote_id: quote.quote_id }) };
      // The library itself retries what can be retried, for about a minute.
      await orders.learn(order, await kopeck.payments.create(params), 'answer');
    } catch (error) {
      if (!(error instanceof KopeckError)) throw error;
      if (meansNewPrice(error)) await orders.changePrice(order, await lockPrice(order));
      else if (meansNoPayment(error)) await orders.refuse(order, error.message);
      // The order stays open, and checkOpenOrders asks again.
      else console.error(`order ${order.id}: ${error.code} ${error.requestId ?? ''}`);
    } finally {
      underWay.delete(order.id);
    }
  }

  return {
    /** The price that the page shows is the one that will be debited. */
    async holdPrice(order: Order): Promise<void> {
      if (order.state !== 'new' || isHeld(order)) return;
      const price = await lockPrice(order);
      if (price) await orders.setPrice(order, price);
    },

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
