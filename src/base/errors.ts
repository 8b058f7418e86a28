/**
 * Retry advice for programs, sent beside the error code. `retryable`: the same request can succeed later without a
 * change. `same_key`: when this payment is sent again, fixed or not, it keeps its Idempotency-Key. A rejected request
 * leaves its key free, and if an earlier attempt was accepted but its answer got lost, only the key finds it. So a new
 * key is right only where there was none, or where the key belongs to another payment.
 */
interface RetryAdvice {
  retryable: boolean;
  same_key: boolean;
}

/** Wait and send the same request again. */
const retry: RetryAdvice = { retryable: true, same_key: true };
/** Something must change first: the request, the account, or the QR code. */
const fixFirst: RetryAdvice = { retryable: false, same_key: true };
const newKey: RetryAdvice = { retryable: false, same_key: false };

/**
 * All errors of the partner API: stable code, HTTP status, a message that may change, and retry advice. Retryable is
 * what the contract calls temporary (429, 503) or says to retry later. After `internal_error` it is unknown whether the
 * payment was accepted, so only a retry with the same key is safe. After `duplicate_qr_in_flight` the client waits for
 * the running payment; sending another one does not help.
 */
export const errors = {
  invalid_request: {
    status: 400,
    message: 'The request is invalid; fix its body.',
    ...fixFirst,
  },
  missing_idempotency_key: {
    status: 400,
    message: 'Send an Idempotency-Key header with every payment.',
    ...newKey,
  },
  invalid_qr: {
    status: 400,
    message: 'The link is not an SBP QR code, or the code has expired.',
    ...fixFirst,
  },
  unsupported_qr: { status: 400, message: 'A subscription or binding QR code cannot be paid.', ...fixFirst },
  unsupported_variable_amount: { status: 400, message: 'The QR code carries no fixed amount.', ...fixFirst },
  amount_mismatch: {
    status: 400,
    message: 'The amount sent differs from the amount of the QR code.',
    ...fixFirst,
  },
  amount_limit_exceeded: {
    status: 400,
    message: 'The amount is above the limit for a single payment.',
    ...fixFirst,
  },
  unauthorized: { status: 401, message: 'The API key is wrong, revoked, expired or missing.', ...fixFirst },
  insufficient_balance: {
    status: 402,
    message: 'The balance does not cover the payment; top it up.',
    ...fixFirst,
  },
  partner_suspended: { status: 403, message: 'Access is suspended; contact support.', ...fixFirst },
  ip_not_allowed: {
    status: 403,
    message: 'Requests from this address are not allowed for this key.',
    ...fixFirst,
  },
  recipient_blocked: { status: 403, message: 'Payments to this recipient are forbidden.', ...fixFirst },
  daily_limit_exceeded: { status: 403, message: 'The daily limit is used up.', ...fixFirst },
  not_found: { status: 404, message: 'There is no such resource in this account.', ...fixFirst },
  idempotency_conflict: {
    status: 409,
    message:
      'This Idempotency-Key belongs to another payment; check the status of that one before you use a new key.',
    ...newKey,
  },
  duplicate_qr_in_flight: {
    status: 409,
    message: 'A payment for this QR code is still running; wait for its outcome.',
    ...fixFirst,
  },
  qr_changed: {
    status: 409,
    message: 'The data of the QR code changed since it was checked; fetch it again.',
    ...fixFirst,
  },
  qr_unresolvable: {
    status: 422,
    message: 'The details of the QR code could not be obtained; retry later.',
    ...retry,
  },
  rate_limited: { status: 429, message: 'Too many requests; wait as long as Retry-After says.', ...retry },
  internal_error: { status: 500, message: 'Something failed on our side; report the request_id.', ...retry },
  rate_unavailable: {
    status: 503,
    message: 'The exchange rate is out of date and payments are closed; retry in a minute.',
    ...retry,
  },
  gateway_unavailable: {
    status: 503,
    message: 'The payment gateway is unavailable; retry later.',
    ...retry,
  },
  gateway_busy: { status: 503, message: 'Too many payments at once; retry.', ...retry },
  maintenance: { status: 503, message: 'Planned maintenance; retry later.', ...retry },
} as const satisfies Record<string, { status: number; message: string } & RetryAdvice>;

/** Keys with limits of their own get these, which are no part of the contract: other keys never get them. */
export const keyErrors = {
  insufficient_scope: {
    status: 403,
    message: 'The scopes of this key do not allow this; use another key.',
    ...fixFirst,
  },
  key_payment_limit_exceeded: {
    status: 403,
    message: 'The amount is above the limit of this key for a single payment.',
    ...fixFirst,
  },
  key_daily_limit_exceeded: {
    status: 403,
    message: 'The daily limit of this key is used up.',
    ...fixFirst,
  },
} as const satisfies Record<string, { status: number; message: string } & RetryAdvice>;

/** Locked quotes answer these, which are no part of the contract: requests without `lock` and `quote_id` never get them. */
export const quoteErrors = {
  quote_not_found: {
    status: 404,
    message: 'There is no such locked quote in this account; lock a new one.',
    ...fixFirst,
  },
  quote_mode_mismatch: {
    status: 409,
    message: 'The quote was locked in the other mode; lock one with a key of this mode.',
    ...fixFirst,
  },
  quote_amount_mismatch: {
    status: 409,
    message: 'The quote was locked for another amount than that of the QR code; lock one for this amount.',
    ...fixFirst,
  },
  quote_used: {
    status: 409,
    message: 'Another payment has used this quote; lock a new one.',
    ...fixFirst,
  },
  quote_expired: { status: 409, message: 'The locked quote has expired; lock a new one.', ...fixFirst },
  quote_limit_exceeded: {
    status: 403,
    message: 'No more can be locked now; use or let expire what is locked, or ask for a quote without lock.',
    ...fixFirst,
  },
} as const satisfies Record<string, { status: number; message: string } & RetryAdvice>;

/** The codes of the contract, and those that are not part of it. */
export const allErrors = {
  ...errors,
  ...keyErrors,
  ...quoteErrors,
  test_key_required: { status: 403, message: 'Only a test key can do this.', ...fixFirst },
} as const;

/** The two fields that an error body has beside the code. */
export const retryAdvice = (code: keyof typeof allErrors): RetryAdvice => {
  const { retryable, same_key } = allErrors[code];
  return { retryable, same_key };
};
