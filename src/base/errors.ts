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

const advising = (advice: RetryAdvice) => (status: number, message: string) => ({
  status,
  message,
  ...advice,
});

/** Wait and send the same request again. */
const retry = advising({ retryable: true, same_key: true });
/** Something must change first: the request, the account, or the QR code. */
const fixFirst = advising({ retryable: false, same_key: true });
const newKey = advising({ retryable: false, same_key: false });

/**
 * All errors of the partner API: stable code, HTTP status, a message that may change, and retry advice. Retryable is
 * what the contract calls temporary (429, 503) or says to retry later. After `internal_error` it is unknown whether the
 * payment was accepted, so only a retry with the same key is safe. After `duplicate_qr_in_flight` the client waits for
 * the running payment; sending another one does not help.
 */
export const errors = {
  invalid_request: fixFirst(400, 'The request is invalid; fix its body.'),
  missing_idempotency_key: newKey(400, 'Send an Idempotency-Key header with every payment.'),
  invalid_qr: fixFirst(400, 'The link is not an SBP QR code, or the code has expired.'),
  unsupported_qr: fixFirst(400, 'A subscription or binding QR code cannot be paid.'),
  unsupported_variable_amount: fixFirst(400, 'The QR code carries no fixed amount.'),
  amount_mismatch: fixFirst(400, 'The amount sent differs from the amount of the QR code.'),
  amount_limit_exceeded: fixFirst(400, 'The amount is above the limit for a single payment.'),
  unauthorized: fixFirst(401, 'The API key is wrong, revoked, expired or missing.'),
  insufficient_balance: fixFirst(402, 'The balance does not cover the payment; top it up.'),
  partner_suspended: fixFirst(
    403,
    'Access is suspended: nothing new is accepted, payments in progress are completed.',
  ),
  ip_not_allowed: fixFirst(403, 'Requests from this address are not allowed for this key.'),
  recipient_blocked: fixFirst(403, 'Payments to this recipient are forbidden.'),
  daily_limit_exceeded: fixFirst(403, 'The daily limit is used up.'),
  not_found: fixFirst(404, 'There is no such resource in this account.'),
  idempotency_conflict: newKey(
    409,
    'This Idempotency-Key belongs to another payment; check the status of that one before you use a new key.',
  ),
  duplicate_qr_in_flight: fixFirst(409, 'A payment for this QR code is still running; wait for its outcome.'),
  qr_changed: fixFirst(409, 'The data of the QR code changed since it was checked; fetch it again.'),
  qr_unresolvable: retry(422, 'The details of the QR code could not be obtained; retry later.'),
  rate_limited: retry(429, 'Too many requests; wait as long as Retry-After says.'),
  internal_error: retry(
    500,
    'Something failed on our side; send the same request again and keep the request_id.',
  ),
  rate_unavailable: retry(
    503,
    'The exchange rate is out of date and payments are paused; retry in a minute.',
  ),
  gateway_unavailable: retry(503, 'The payment gateway is unavailable; retry later.'),
  gateway_busy: retry(503, 'Too many payments at once; retry.'),
  maintenance: retry(503, 'Planned maintenance; retry later.'),
};

/** Keys with limits of their own get these, which are no part of the contract: other keys never get them. */
export const keyErrors = {
  insufficient_scope: fixFirst(403, 'The scopes of this key do not allow this; use another key.'),
  key_payment_limit_exceeded: fixFirst(
    403,
    'The amount is above the limit of this key for a single payment.',
  ),
  key_daily_limit_exceeded: fixFirst(403, 'The daily limit of this key is used up.'),
};

/** Locked quotes answer these, which are no part of the contract: requests without `lock` and `quote_id` never get them. */
export const quoteErrors = {
  quote_not_found: fixFirst(404, 'There is no such locked quote in this account; lock a new one.'),
  quote_mode_mismatch: fixFirst(
    409,
    'The quote was locked in the other mode; lock one with a key of this mode.',
  ),
  quote_amount_mismatch: fixFirst(
    409,
    'The quote was locked for another amount than that of the QR code; lock one for this amount.',
  ),
  quote_used: fixFirst(409, 'Another payment has used this quote; lock a new one.'),
  quote_expired: fixFirst(409, 'The locked quote has expired; lock a new one.'),
  quote_limit_exceeded: fixFirst(
    403,
    'No more can be locked now; use or let expire what is locked, or ask for a quote without lock.',
  ),
};

/** The codes of the contract, and those that are not part of it. */
export const allErrors = {
  ...errors,
  ...keyErrors,
  ...quoteErrors,
  test_key_required: fixFirst(403, 'Only a test key can do this.'),
};

/** The two fields that an error body has beside the code. */
export const retryAdvice = (code: keyof typeof allErrors): RetryAdvice => {
  const { retryable, same_key } = allErrors[code];
  return { retryable, same_key };
};
