/** Generated from the OpenAPI document of the service; `npm run sdk:types` makes it again. */

export interface Payment {
  /** Assigned by the service */
  id: string;
  object: 'payment';
  /** The mode of the key */
  mode: 'live' | 'test';
  /** `processing` is not a refusal: the amount is debited and the outcome not yet known */
  status: 'processing' | 'succeeded' | 'failed';
  /** Details of unfinished and declined payments */
  status_detail: 'awaiting_gateway' | 'manual_review' | 'gateway_declined' | null;
  /** Your order id, as sent */
  external_id: string | null;
  /** According to the SBP data */
  recipient: string;
  /** Payment amount in rubles */
  amount_rub: string;
  /** Amount debited from the balance */
  amount_usdt: string;
  /** RUB for 1 USDT, margin included */
  rate: string;
  currency: 'RUB';
  settlement_currency: 'USDT';
  /** Creation time */
  created_at: string;
  /** Completion time */
  settled_at: string | null;
  /** Why a payment failed; null otherwise */
  error: {
    code: string;
    message: string;
  } | null;
  /** Optional, only once the recipient has returned money: the sum of all refunds, at most `amount_rub`. The status stays `succeeded` */
  refunded_rub?: string | undefined;
  /** Optional, with `refunded_rub`: what came back to the balance, at the rate of the payment */
  refunded_usdt?: string | undefined;
  /** Your metadata, as sent */
  metadata: Record<string, unknown>;
}

export interface ErrorBody {
  error: {
    /** Stable; rely on this */
    code: string;
    /** For people; may change */
    message: string;
    /** Identifies this request; also in the header X-Request-Id */
    request_id: string;
    /** Optional. True: wait, then send the same request again */
    retryable: boolean;
    /** Optional. True: whenever you send this payment again, even after fixing it, keep its `Idempotency-Key`. False: the key is missing or belongs to another payment */
    same_key: boolean;
    /** With `insufficient_balance`: the required amount */
    required_usdt?: string | undefined;
    /** With `insufficient_balance`: the available balance */
    balance_usdt?: string | undefined;
  };
}

export interface ValidationError {
  detail: Array<{
    loc: Array<string | number>;
    msg: string;
    type: string;
  }>;
}

export interface PingAnswer {
  ok: boolean;
  partner_id: string;
  /** The mode of the key */
  mode: 'live' | 'test';
  api_version: string;
  /** Identifies this request; also in the header X-Request-Id */
  request_id: string;
}

export interface GetBalanceAnswer {
  /** Available balance */
  balance_usdt: string;
  currency: 'USDT';
  /** Identifies this request; also in the header X-Request-Id */
  request_id: string;
}

export interface GetRateAnswer {
  pair: 'USDT/RUB';
  /** RUB for 1 USDT, margin included */
  rate: string;
  /** Unix seconds of the exchange data */
  as_of: number;
  /** Maximum age of the rate for payments */
  max_age_sec: number;
  /** True when the rate is too old and payments are not accepted */
  stale: boolean;
  /** Identifies this request; also in the header X-Request-Id */
  request_id: string;
}

export interface CreateQuoteBody {
  /** Rubles as a decimal string or a number, with at most 2 decimal places */
  amount_rub: string | number;
  /** Optional. True: the rate is kept for one payment of this amount until `expires_at`. It is a little lower than the current one. The key must be able to pay */
  lock?: boolean | null | undefined;
}

export interface CreateQuoteAnswer {
  /** As requested */
  amount_rub: string;
  /** Amount that would be debited, rounded up */
  amount_usdt: string;
  /** RUB for 1 USDT, margin included */
  rate: string;
  pair: 'USDT/RUB';
  fee_rub: '0.00';
  /** Unix seconds of the exchange data */
  as_of: number;
  /** Maximum age of the rate for payments */
  max_age_sec: number;
  /** True when the rate is too old and payments are not accepted */
  stale: boolean;
  /** Optional, only with `lock`: send it with the payment, which then has this rate. It serves one payment */
  quote_id?: string | undefined;
  /** Optional, only with `lock`: the payment must be accepted before */
  expires_at?: string | undefined;
  /** Identifies this request; also in the header X-Request-Id */
  request_id: string;
}

export interface ResolveQrBody {
  /** Link of an SBP QR code */
  qr_url: string;
}

export interface ResolveQrAnswer {
  qrc_id: string;
  recipient: string;
  /** Amount of the QR code */
  amount_rub: string;
  currency: 'RUB';
  purpose: string;
  /** False when the recipient is blocked or the amount is outside the limits */
  payable: boolean;
  /** Identifies this request; also in the header X-Request-Id */
  request_id: string;
}

export interface CreatePaymentBody {
  /** Link of an SBP QR code */
  qr_url: string;
  /** Expected amount; a QR code with a different amount is rejected with `amount_mismatch` */
  amount_rub?: string | number | null | undefined;
  /** Your order identifier */
  external_id?: string | null | undefined;
  /** Optional. A quote that was locked for this amount: the payment has its rate, also while the current one is stale */
  quote_id?: string | null | undefined;
  /** Arbitrary data, returned in the payment and in webhooks. At most 16 KiB */
  metadata?: Record<string, unknown> | null | undefined;
}

export interface ListPaymentsQuery {
  limit?: number | undefined;
  /** The id of the last payment on the previous page */
  starting_after?: string | undefined;
  status?: 'processing' | 'succeeded' | 'failed' | undefined;
  /** Optional. Only payments with this order identifier */
  external_id?: string | undefined;
  /** Optional. Only payments created at this time or later: ISO 8601 with offset. With `created_before` of one request as `created_after` of the next, no payment is missed or returned twice */
  created_after?: string | undefined;
  /** Optional. Only payments created before this time: ISO 8601 with offset */
  created_before?: string | undefined;
}

export interface ListPaymentsAnswer {
  data: Array<Payment>;
  has_more: boolean;
  /** Pass it as `starting_after`; null on the last page */
  next_cursor: string | null;
  /** Identifies this request; also in the header X-Request-Id */
  request_id: string;
}

export interface ListEventsQuery {
  limit?: number | undefined;
  /** The id of the last event that you have; without it, or with `evt_0`, the list starts with the first event. `latest` returns the `next_cursor` for new events only */
  after?: string | undefined;
  /** Optional. Also list events of this kind, which are not in the list otherwise */
  extra_events?: 'payment.refunded' | undefined;
}

export interface ListEventsAnswer {
  data: Array<{
    id: string;
    event: 'payment.succeeded' | 'payment.failed' | 'payment.refunded';
    /** Creation time */
    created_at: string;
    data: Payment;
  }>;
  has_more: boolean;
  /** Pass it as `after`, now or later; with `has_more` also if `data` is empty */
  next_cursor: string;
  /** Identifies this request; also in the header X-Request-Id */
  request_id: string;
}

export interface ListDepositAddressesAnswer {
  data: Array<{
    object: 'deposit_address';
    chain: 'tron' | 'ethereum' | 'bnb';
    /** Permanent; yours alone */
    address: string;
    /** Deposits below it are summed until they reach it */
    min_usdt: string;
    /** How long a deposit usually takes to become final */
    usual_minutes: number;
  }>;
  /** Identifies this request; also in the header X-Request-Id */
  request_id: string;
}

export interface ListDepositsQuery {
  limit?: number | undefined;
  /** The `next_cursor` of the page before */
  starting_after?: string | undefined;
}

export interface ListDepositsAnswer {
  data: Array<{
    id: string;
    object: 'deposit';
    chain: 'tron' | 'ethereum' | 'bnb';
    /** `pending`: seen, not final yet. `dropped`: its block was replaced before it was final. `screening`: final, being checked. `accumulating`: final, below the smallest amount. `credited`: on your balance. `held`: support decides. `rejected`: will not be credited */
    status: 'pending' | 'dropped' | 'screening' | 'accumulating' | 'credited' | 'held' | 'rejected';
    /** Rounded down to six places */
    amount_usdt: string;
    /** On the chain */
    transaction_id: string;
    /** Number of its log, as the node counted it. Nodes count differently: it identifies nothing. */
    log_index: number;
    sender: string;
    /** When it was first seen */
    created_at: string;
    /** When it was credited */
    credited_at: string | null;
    /** The reference of the credit in your statement; deposits that were summed have the same */
    reference: string | null;
  }>;
  has_more: boolean;
  /** Pass it as `starting_after` */
  next_cursor: string | null;
  /** Identifies this request; also in the header X-Request-Id */
  request_id: string;
}

export interface GetStatementQuery {
  /** A UTC day */
  day: string;
  format?: 'json' | 'csv' | undefined;
}

export interface GetStatementAnswer {
  object: 'statement';
  partner_id: string;
  /** The mode of the key */
  mode: 'live' | 'test';
  day: string;
  /** False for today: more entries may follow */
  closed: boolean;
  currency: 'USDT';
  /** At the start of the day */
  opening: {
    /** Negative: total of all top-ups */
    topup_usdt: string;
    /** Negative: total granted in test mode */
    treasury_usdt: string;
    /** Available balance */
    available_usdt: string;
    /** On hold for unfinished payments */
    held_usdt: string;
    /** Spent on succeeded payments */
    settled_usdt: string;
  };
  entries: Array<{
    /** Sequential number */
    entry_no: string;
    at: string;
    kind: string;
    from: 'topup' | 'treasury' | 'available' | 'held' | 'settled';
    to: 'topup' | 'treasury' | 'available' | 'held' | 'settled';
    /** Amount of the entry */
    amount_usdt: string;
    /** After this entry */
    after: {
      /** Negative: total of all top-ups */
      topup_usdt: string;
      /** Negative: total granted in test mode */
      treasury_usdt: string;
      /** Available balance */
      available_usdt: string;
      /** On hold for unfinished payments */
      held_usdt: string;
      /** Spent on succeeded payments */
      settled_usdt: string;
    };
    /** Assigned by the service */
    payment_id: string | null;
    /** Reference of a credit */
    reference: string | null;
  }>;
  /** At the end of the day, or now */
  closing: {
    /** Negative: total of all top-ups */
    topup_usdt: string;
    /** Negative: total granted in test mode */
    treasury_usdt: string;
    /** Available balance */
    available_usdt: string;
    /** On hold for unfinished payments */
    held_usdt: string;
    /** Spent on succeeded payments */
    settled_usdt: string;
  };
  /** Payments that were unfinished at that time */
  open_holds: Array<{
    /** Sequential number */
    entry_no: string;
    at: string;
    /** Amount on hold */
    amount_usdt: string;
    /** Assigned by the service */
    payment_id: string;
  }>;
  digest: string;
}

export interface GetTestClockAnswer {
  object: 'test_clock';
  /** Total time advanced, in seconds */
  advanced_sec: number;
  /** Identifies this request; also in the header X-Request-Id */
  request_id: string;
}

export interface AdvanceTestClockBody {
  advance_sec: number;
}

export interface AdvanceTestClockAnswer {
  object: 'test_clock';
  /** Total time advanced, in seconds */
  advanced_sec: number;
  /** Identifies this request; also in the header X-Request-Id */
  request_id: string;
}

export interface CreateTestDepositBody {
  /** From 0.000001 to 1000000, with at most six places */
  amount_usdt: string;
  /** Yours: 1 to 64 letters, digits, dots, hyphens and underscores. Each is credited once */
  reference: string;
}

export interface CreateTestDepositAnswer {
  object: 'test_deposit';
  reference: string;
  /** What was credited */
  amount_usdt: string;
  /** The test balance now */
  balance_usdt: string;
  /** Identifies this request; also in the header X-Request-Id */
  request_id: string;
}

export interface CreateTestRefundBody {
  payment_id: string;
  /** From 0.01 to what is left of the payment; without it, all of that */
  amount_rub?: string | undefined;
  /** Yours: 1 to 64 letters, digits, dots, hyphens and underscores. Each is refunded once */
  reference: string;
}

export interface CreateTestRefundAnswer {
  object: 'test_refund';
  /** Assigned by the service */
  payment_id: string;
  reference: string;
  /** What came back with this refund */
  amount_rub: string;
  /** The same at the rate of the payment */
  amount_usdt: string;
  /** The sum of the refunds of the payment up to this one */
  refunded_rub: string;
  /** The same in USDT */
  refunded_usdt: string;
  /** Identifies this request; also in the header X-Request-Id */
  request_id: string;
}
