/**
 * What a machine is told to do, beside the code. `retryable`: the same request may well go through later, by itself.
 * `same_key`: whenever this payment is sent again, be it mended first, it carries the same Idempotency-Key. A rejected
 * request leaves its key free, and an attempt before it, of which only the answer got lost, is found by it; so a key is
 * given up only where there was none, or where it belongs to another payment.
 */
interface Advice {
  retryable: boolean;
  same_key: boolean;
}

/** Wait and send it again as it is. */
const repeat: Advice = { retryable: true, same_key: true };
/** Something has to be done first: by whoever sends it, by somebody else, or by time. */
const mend: Advice = { retryable: false, same_key: true };
const newKey: Advice = { retryable: false, same_key: false };

/**
 * The one table of errors of the partner API: stable code, HTTP status, a message that may change, and advice. What the
 * contract calls temporary (429 and 503) or says to retry later is repeated. After `internal_error` nobody knows whether
 * a payment was accepted, and only a repeat with its key can tell. While a code is being paid, the payment that pays it is to be
 * waited for, and to send another is no use. It knows nothing of HTTP servers; the doors translate.
 */
export const errors = {
  invalid_request: {
    status: 400,
    message: 'The request cannot be carried out as it stands; fix its body.',
    ...mend,
  },
  missing_idempotency_key: {
    status: 400,
    message: 'Send an Idempotency-Key header with every payment.',
    ...newKey,
  },
  invalid_qr: { status: 400, message: 'The link is not an SBP QR code, or the code has expired.', ...mend },
  unsupported_qr: { status: 400, message: 'A subscription or binding QR code cannot be paid.', ...mend },
  unsupported_variable_amount: { status: 400, message: 'The QR code carries no fixed amount.', ...mend },
  amount_mismatch: {
    status: 400,
    message: 'The amount sent differs from the amount of the QR code.',
    ...mend,
  },
  amount_limit_exceeded: {
    status: 400,
    message: 'The amount is above the limit for a single payment.',
    ...mend,
  },
  unauthorized: { status: 401, message: 'The API key is wrong, revoked or missing.', ...mend },
  insufficient_balance: {
    status: 402,
    message: 'The balance does not cover the payment; top it up.',
    ...mend,
  },
  partner_suspended: { status: 403, message: 'Access is suspended; contact support.', ...mend },
  ip_not_allowed: {
    status: 403,
    message: 'Requests from this address are not allowed for this key.',
    ...mend,
  },
  recipient_blocked: { status: 403, message: 'Payments to this recipient are forbidden.', ...mend },
  daily_limit_exceeded: { status: 403, message: 'The daily limit is used up.', ...mend },
  not_found: { status: 404, message: 'There is no such resource in this account.', ...mend },
  idempotency_conflict: {
    status: 409,
    message:
      'This Idempotency-Key belongs to another payment; find out what became of that one before you take a new key.',
    ...newKey,
  },
  duplicate_qr_in_flight: {
    status: 409,
    message: 'A payment for this QR code is still running; wait for its outcome.',
    ...mend,
  },
  qr_changed: {
    status: 409,
    message: 'The data of the QR code changed since it was checked; fetch it again.',
    ...mend,
  },
  qr_unresolvable: {
    status: 422,
    message: 'The details of the QR code could not be obtained; retry later.',
    ...repeat,
  },
  rate_limited: { status: 429, message: 'Too many requests; wait as long as Retry-After says.', ...repeat },
  internal_error: { status: 500, message: 'Something failed on our side; report the request_id.', ...repeat },
  rate_unavailable: {
    status: 503,
    message: 'The exchange rate is out of date and payments are closed; retry in a minute.',
    ...repeat,
  },
  gateway_unavailable: {
    status: 503,
    message: 'The payment gateway is unavailable; retry later.',
    ...repeat,
  },
  gateway_busy: { status: 503, message: 'Too many payments at once; retry.', ...repeat },
  maintenance: { status: 503, message: 'Planned maintenance; retry later.', ...repeat },
} as const satisfies Record<string, { status: number; message: string } & Advice>;

/** The codes of the contract, and those of the endpoints that were added to it. */
export const allErrors = {
  ...errors,
  test_key_required: { status: 403, message: 'Only a test key can do this.', ...mend },
} as const;

/** As it stands in an error body. */
export const adviceOf = (code: keyof typeof allErrors): Advice => {
  const { retryable, same_key } = allErrors[code];
  return { retryable, same_key };
};
