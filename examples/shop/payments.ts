import {
  InvalidRequestError,
  type Kopeck,
  KopeckError,
  type PaymentEvent,
  PaymentRefusedError,
} from '../../sdk/src/index.ts';
import type { Order, Orders, Source } from './orders.ts';

/**
 * Sent with the key of its order, such a refusal means that there is no payment. All others may pass, or are about us or
 * somebody in between and not about the payment, of which an earlier attempt may have been accepted.
 */
const meansNoPayment = (error: KopeckError) =>
  !error.retryable &&
  !error.code.startsWith('http_') &&
  (error instanceof InvalidRequestError ||
    error instanceof PaymentRefusedError ||
    ['recipient_blocked', 'daily_limit_exceeded'].includes(error.code));

/** All that this shop has to do with payments. */
export function createPayments(kopeck: Kopeck, orders: Orders) {
  const underWay = new Set<string>();

  /** Pays the order, or asks again what became of it: with the same key, so it is the same payment. */
  async function pay(order: Order): Promise<void> {
    if (underWay.has(order.id)) return;
    underWay.add(order.id);
    try {
      const { qr_url, amount_rub, id: external_id } = order;
      // The library repeats what is worth repeating by itself, for about a minute.
      await orders.learn(order, await kopeck.payments.create({ qr_url, amount_rub, external_id }), 'answer');
    } catch (error) {
      if (!(error instanceof KopeckError)) throw error;
      if (meansNoPayment(error)) await orders.refuse(order, error.message);
      // The order stays open, and lookAfter asks again.
      else console.error(`order ${order.id}: ${error.code} ${error.requestId ?? ''}`);
    } finally {
      underWay.delete(order.id);
    }
  }

  return {
    /** The customer has pressed the button; the page hears of the rest as it happens. */
    async start(order: Order): Promise<void> {
      if (await orders.begin(order)) await pay(order);
    },

    /** Comes at least once: from the webhook, or from the feed. An event may be of an order that is not ours. */
    async onEvent({ data }: PaymentEvent, source: Source): Promise<void> {
      const order = orders.find(data.external_id ?? '');
      if (order) await orders.learn(order, data, source);
    },

    /** What is open when a process starts, or stays open because an event got lost. */
    async lookAfter(): Promise<void> {
      for (const order of orders.unfinished()) {
        if (order.payment_id === undefined) await pay(order);
        else await orders.learn(order, await kopeck.payments.get(order.payment_id), 'look');
      }
    },
  };
}
