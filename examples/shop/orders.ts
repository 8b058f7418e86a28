import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { readFile, rename, writeFile } from 'node:fs/promises';
import type { KeyStore, LockedQuote, Payment } from '../../sdk/src/index.ts';

/**
 * `new`: no payment was requested. `paying`: requested, without an answer so far; it may have been lost. `processing`:
 * debited, and the outcome is not known yet. `refused`: there is no payment. `paid` and `declined`: the payment is finished.
 */
export type State = 'new' | 'paying' | 'processing' | 'paid' | 'declined' | 'refused';

/** Where a state was learned from. */
export type Source = 'customer' | 'answer' | 'webhook' | 'feed' | 'look';

export interface Order {
  id: string;
  product: string;
  amount_rub: string;
  qr_url: string;
  state: State;
  /** The idempotency key. Stored before the request is sent and used for this order only, so a repeat never pays twice. */
  idempotency_key?: string;
  /** The price that the customer sees, held by the service for a while. */
  quote?: Pick<LockedQuote, 'quote_id' | 'amount_usdt' | 'expires_at'>;
  payment_id?: string;
  amount_usdt?: string;
  /** Why it was not paid, or has to be confirmed again. */
  reason?: string;
  history: { state: State; at: string; source: Source }[];
}

export type Orders = Awaited<ReturnType<typeof openOrders>>;

/** The payment is finished; this never changes again. */
const isSettled = ({ state }: Order) => state === 'paid' || state === 'declined';

const quoteOf = ({ quote_id, amount_usdt, expires_at }: LockedQuote) => ({
  quote_id,
  amount_usdt,
  expires_at,
});

/** All orders in one JSON file, written before a change is published. A real shop uses a database. */
export async function openOrders(path: string) {
  const text = await readFile(path, 'utf8').catch(() => '[]');
  const orders = new Map<string, Order>((JSON.parse(text) as Order[]).map(order => [order.id, order]));
  const changes = new EventEmitter().setMaxListeners(0);

  let writing = Promise.resolve();
  /** Writes run one at a time, and each replaces the file atomically. */
  function save(): Promise<void> {
    const write = async () => {
      await writeFile(`${path}.new`, JSON.stringify([...orders.values()], null, 2), { mode: 0o600 });
      await rename(`${path}.new`, path);
    };
    writing = writing.then(write, write);
    return writing;
  }

  async function change(order: Order, state: State, source: Source, facts: Partial<Order> = {}) {
    Object.assign(order, facts, { state });
    order.history.push({ state, at: new Date().toISOString(), source });
    await save();
    changes.emit(order.id, order);
  }

  const keys: KeyStore = {
    get: id => orders.get(id)?.idempotency_key,
    set: async (id, key) => {
      orders.get(id)!.idempotency_key = key;
      await save();
    },
  };

  return {
    /** For the library: one key per order, also after a restart. */
    keys,
    find: (id: string) => orders.get(id),
    unfinished: () =>
      [...orders.values()].filter(({ state }) => state === 'paying' || state === 'processing'),
    newest: (count: number) => [...orders.values()].slice(-count).reverse(),

    async create(facts: Pick<Order, 'product' | 'amount_rub' | 'qr_url'>): Promise<Order> {
      const order: Order = { ...facts, id: randomUUID(), state: 'new', history: [] };
      orders.set(order.id, order);
      await change(order, 'new', 'customer');
      return order;
    },

    /** Stored before the customer sees it, so that a payment has the price that was shown, also after a restart. */
    async setPrice(order: Order, price: LockedQuote): Promise<void> {
      if (order.state !== 'new') return;
      order.quote = quoteOf(price);
      await save();
      changes.emit(order.id, order);
    },

    /** The price is no longer held, and there is no payment: the customer has to agree to another one, if there is one now. */
    async changePrice(order: Order, price: LockedQuote | undefined): Promise<void> {
      if (order.state !== 'paying') return;
      delete order.quote;
      await change(order, 'new', 'answer', {
        ...(price ? { quote: quoteOf(price) } : {}),
        reason: 'The price has changed: please confirm the new one.',
      });
    },

    /** False if a payment was already requested: two clicks are one payment. */
    async begin(order: Order): Promise<boolean> {
      if (order.state !== 'new') return false;
      delete order.reason;
      await change(order, 'paying', 'customer');
      return true;
    },

    /** The request was refused: there is no payment. */
    async refuse(order: Order, reason: string): Promise<void> {
      if (order.state === 'paying') await change(order, 'refused', 'answer', { reason });
    },

    /**
     * Stores the state of a payment, from an answer, a webhook or the feed. The same state may arrive twice and in any
     * order: a finished order never changes, and a known state is ignored.
     */
    async learn(order: Order, payment: Payment, source: Source): Promise<void> {
      const states = { processing: 'processing', succeeded: 'paid', failed: 'declined' } as const;
      const state = states[payment.status];
      if (isSettled(order) || order.state === state) return;
      await change(order, state, source, {
        payment_id: payment.id,
        amount_usdt: payment.amount_usdt,
        ...(payment.error ? { reason: payment.error.message } : {}),
      });
    },

    /** Calls back with every change of an order until the returned function is called. */
    watch(id: string, onChange: (order: Order) => void): () => void {
      changes.on(id, onChange);
      return () => changes.off(id, onChange);
    },
  };
}
