import { KopeckError } from './errors.ts';
import type { Keys } from './keys.ts';
import { shouldRetry } from './retries.ts';
import type { Transport } from './transport.ts';
import type { ListParams, Payment, PaymentPage, PaymentParams } from './types.ts';

export interface CallOptions {
  /** Ends the call. It does not undo a payment: repeat the call to get its outcome. */
  signal?: AbortSignal | undefined;
}

export interface CreateOptions extends CallOptions {
  /** Your own key instead of one that the library generates. */
  idempotencyKey?: string | undefined;
}

export interface WaitOptions extends CallOptions {
  /** How long to wait for the outcome; two minutes by default. */
  waitMs?: number | undefined;
}

/** All matching payments, newest first: `for await (const payment of …)`. */
export interface PaymentList extends AsyncIterable<Payment> {
  /** Only the first page; `next_cursor` goes into `starting_after` of the next. */
  page(): Promise<PaymentPage>;
}

export interface Payments {
  /** Pays a QR code once, however often the request is retried. The payment may still be `processing`. */
  create(params: PaymentParams, options?: CreateOptions): Promise<Payment>;
  /**
   * Pays and waits for the outcome. After `waitMs` it returns the payment as it is: `processing` is not a refusal, so it
   * is no error. Do not pay again and do not refund; the outcome comes with the webhook or a later `get`.
   */
  createAndWait(params: PaymentParams, options?: CreateOptions & WaitOptions): Promise<Payment>;
  /** Waits for the outcome of a payment; after `waitMs` it may still be `processing`. */
  wait(paymentId: string, options?: WaitOptions): Promise<Payment>;
  get(paymentId: string, options?: CallOptions): Promise<Payment>;
  list(params?: ListParams, options?: CallOptions): PaymentList;
}

const firstPollMs = 1_000;
const maxPollMs = 10_000;

export function createPayments(transport: Transport, keys: Keys): Payments {
  const { sleep, now } = transport;

  const get: Payments['get'] = (paymentId, { signal } = {}) =>
    transport.json('GET', `payments/${encodeURIComponent(paymentId)}`, { signal });

  async function create(params: PaymentParams, options: CreateOptions = {}): Promise<Payment> {
    const { idempotencyKey: given } = options;
    if (given !== undefined && !/^[\x20-\x7e]{1,255}$/.test(given))
      throw new TypeError('idempotencyKey must be 1 to 255 printable ASCII characters');
    const idempotencyKey = await keys.take(params.external_id, given);
    const payment = await transport.json<Payment>('POST', 'payments', {
      body: params,
      idempotencyKey,
      signal: options.signal,
    });
    if (payment.status === 'failed') keys.failed(params.external_id);
    return payment;
  }

  /** Polls with backoff. A service that cannot be reached for a while does not end the wait. */
  async function waitFrom(known: Payment, { waitMs = 120_000, signal }: WaitOptions): Promise<Payment> {
    const untilMs = now() + waitMs;
    let payment = known;
    for (let pauseMs = firstPollMs; payment.status === 'processing'; pauseMs *= 1.5) {
      const leftMs = untilMs - now();
      if (leftMs <= 0) break;
      await sleep(Math.min(pauseMs, maxPollMs, leftMs), signal);
      signal?.throwIfAborted();
      payment = await get(payment.id, { signal }).catch(error => {
        if (error instanceof KopeckError && shouldRetry(error, true)) return payment;
        throw error;
      });
    }
    return payment;
  }

  return {
    create,
    createAndWait: async (params, options = {}) => waitFrom(await create(params, options), options),
    wait: async (paymentId, options = {}) => waitFrom(await get(paymentId, options), options),
    get,
    list: (params = {}, { signal } = {}) => {
      const page = (after: string | undefined) =>
        transport.json<PaymentPage>('GET', 'payments', {
          query: { ...params, starting_after: after },
          signal,
        });
      return {
        page: () => page(params.starting_after),
        // The cursor is a payment, not an offset: payments created meanwhile shift nothing.
        async *[Symbol.asyncIterator]() {
          for (let after = params.starting_after; ; ) {
            const { data, has_more, next_cursor } = await page(after);
            yield* data;
            if (!has_more || next_cursor === null) return;
            after = next_cursor;
          }
        },
      };
    },
  };
}
