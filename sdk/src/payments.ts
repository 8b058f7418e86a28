import { KopeckError } from './errors.ts';
import type { Keys } from './keys.ts';
import { asksAgain } from './retries.ts';
import type { Transport } from './transport.ts';
import type { ListParams, Payment, PaymentPage, PaymentParams } from './types.ts';

export interface CallOptions {
  /** Ends the call. It does not undo a payment: repeat the call to learn what became of it. */
  signal?: AbortSignal | undefined;
}

export interface CreateOptions extends CallOptions {
  /** Your own key instead of one that the library makes and keeps. */
  idempotencyKey?: string | undefined;
}

export interface WaitOptions extends CallOptions {
  /** How long to wait for the outcome; two minutes unless told otherwise. */
  waitMs?: number | undefined;
}

/** All payments that fit, newest first: `for await (const payment of …)`. */
export interface PaymentList extends AsyncIterable<Payment> {
  /** Only the first page; `next_cursor` goes into `starting_after` of the next. */
  page(): Promise<PaymentPage>;
}

export interface Payments {
  /** Pays a QR code, once however often it has to be asked. The payment may still be `processing`. */
  create(params: PaymentParams, options?: CreateOptions): Promise<Payment>;
  /**
   * Pays and waits for the outcome. After `waitMs` it gives the payment as it is then: `processing` is not a refusal, so
   * it is no error. Do not pay again and do not refund; the webhook or a later look tells how it ended.
   */
  createAndWait(params: PaymentParams, options?: CreateOptions & WaitOptions): Promise<Payment>;
  /** Waits for the outcome of a payment; what it gives after `waitMs` may still be `processing`. */
  wait(paymentId: string, options?: WaitOptions): Promise<Payment>;
  get(paymentId: string, options?: CallOptions): Promise<Payment>;
  list(params?: ListParams, options?: CallOptions): PaymentList;
}

const firstLookMs = 1_000;
const longestLookMs = 10_000;

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

  /** Looks more and more rarely. That the service cannot be asked for a while does not end the waiting. */
  async function waitFrom(known: Payment, { waitMs = 120_000, signal }: WaitOptions): Promise<Payment> {
    const untilMs = now() + waitMs;
    let payment = known;
    for (let pauseMs = firstLookMs; payment.status === 'processing'; pauseMs *= 1.5) {
      const leftMs = untilMs - now();
      if (leftMs <= 0) break;
      await sleep(Math.min(pauseMs, longestLookMs, leftMs), signal);
      signal?.throwIfAborted();
      payment = await get(payment.id, { signal }).catch(error => {
        if (error instanceof KopeckError && asksAgain(error, true)) return payment;
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
        // A page goes on behind a payment, not behind a count: what is new meanwhile shifts nothing.
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
