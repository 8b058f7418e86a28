import { createEvents, type Events } from './events.ts';
import { createKeys, type KeyStore } from './keys.ts';
import { type CallOptions, createPayments, type Payments } from './payments.ts';
import { createTransport, type Transport, type TransportOptions } from './transport.ts';
import type * as api from './types.ts';

export interface KopeckOptions extends TransportOptions {
  /** Stores the idempotency key of each `external_id`, so that a restarted process retries with the same key. */
  keys?: KeyStore | undefined;
}

export interface StatementParams {
  /** `YYYY-MM-DD`, in UTC. */
  day: string;
  format?: 'json' | 'csv' | undefined;
}

/** The partner API. Fields have the names of the contract; amounts are decimal strings, never floats. */
export class Kopeck {
  readonly payments: Payments;
  readonly events: Events;
  readonly qr: {
    /** The recipient and the amount of a QR code; nothing is debited. */
    resolve(params: api.ResolveParams, options?: CallOptions): Promise<api.ResolvedQr>;
  };
  /** For test keys only. */
  readonly test: {
    clock: {
      /** Moves the test clock: outcomes, webhook retries and the two-hour review come so much earlier. */
      advance(params: { seconds: number }, options?: CallOptions): Promise<api.TestClock>;
      get(options?: CallOptions): Promise<api.TestClock>;
    };
    deposits: {
      /** Credits the test balance, once per `reference`. */
      create(params: api.TestDepositParams, options?: CallOptions): Promise<api.TestDeposit>;
    };
    refunds: {
      /** Returns money of a test payment, as its recipient would, once per `reference`. */
      create(params: api.TestRefundParams, options?: CallOptions): Promise<api.TestRefund>;
    };
  };
  readonly #transport: Transport;

  constructor({ keys, ...options }: KopeckOptions) {
    const transport = createTransport(options);
    this.#transport = transport;
    this.payments = createPayments(transport, createKeys(keys));
    this.events = createEvents(transport);
    this.qr = {
      resolve: (params, { signal } = {}) => transport.json('POST', 'qr/resolve', { body: params, signal }),
    };
    this.test = {
      clock: {
        advance: ({ seconds }, { signal } = {}) =>
          transport.json('POST', 'test/clock', {
            body: { advance_sec: seconds },
            signal,
            // Repeated after a lost answer, it would move the clock twice.
            repeatable: false,
          }),
        get: ({ signal } = {}) => transport.json('GET', 'test/clock', { signal }),
      },
      deposits: {
        create: (params, { signal } = {}) =>
          transport.json('POST', 'test/deposits', { body: params, signal }),
      },
      refunds: {
        create: (params, { signal } = {}) => transport.json('POST', 'test/refunds', { body: params, signal }),
      },
    };
  }

  /** The partner and the mode of the key. */
  ping({ signal }: CallOptions = {}): Promise<api.Ping> {
    return this.#transport.json('GET', 'ping', { signal });
  }

  balance({ signal }: CallOptions = {}): Promise<api.Balance> {
    return this.#transport.json('GET', 'balance', { signal });
  }

  rate({ signal }: CallOptions = {}): Promise<api.Rate> {
    return this.#transport.json('GET', 'rate', { signal });
  }

  /** What would be debited now for an amount in rubles. With `lock` the rate is kept: pay with its `quote_id`. */
  quote(params: api.QuoteParams & { lock: true }, options?: CallOptions): Promise<api.LockedQuote>;
  quote(params: api.QuoteParams, options?: CallOptions): Promise<api.Quote>;
  quote(params: api.QuoteParams, { signal }: CallOptions = {}): Promise<api.Quote> {
    return this.#transport.json('POST', 'quote', { body: params, signal });
  }

  /** The statement of a day, as an object or as the text of a CSV file. */
  statement(params: StatementParams & { format: 'csv' }, options?: CallOptions): Promise<string>;
  statement(
    params: StatementParams & { format?: 'json' | undefined },
    options?: CallOptions,
  ): Promise<api.Statement>;
  statement(
    { day, format = 'json' }: StatementParams,
    { signal }: CallOptions = {},
  ): Promise<api.Statement | string> {
    const request = { query: { day, format }, signal };
    return format === 'csv'
      ? this.#transport.text('statement', text => /(^|\n)digest,[^\n]*\n$/.test(text), request)
      : this.#transport.json<api.Statement>('GET', 'statement', request);
  }
}
