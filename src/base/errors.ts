/**
 * The one table of errors of the partner API: stable code, HTTP status, and a message that may change.
 * It knows nothing of HTTP servers; the doors translate.
 */
export const errors = {
  invalid_request: { status: 400, message: 'The request cannot be carried out as it stands; fix its body.' },
  missing_idempotency_key: { status: 400, message: 'Send an Idempotency-Key header with every payment.' },
  invalid_qr: { status: 400, message: 'The link is not an SBP QR code, or the code has expired.' },
  unsupported_qr: { status: 400, message: 'A subscription or binding QR code cannot be paid.' },
  unsupported_variable_amount: { status: 400, message: 'The QR code carries no fixed amount.' },
  amount_mismatch: { status: 400, message: 'The amount sent differs from the amount of the QR code.' },
  amount_limit_exceeded: { status: 400, message: 'The amount is above the limit for a single payment.' },
  unauthorized: { status: 401, message: 'The API key is wrong, revoked or missing.' },
  insufficient_balance: { status: 402, message: 'The balance does not cover the payment; top it up.' },
  partner_suspended: { status: 403, message: 'Access is suspended; contact support.' },
  ip_not_allowed: { status: 403, message: 'Requests from this address are not allowed for this key.' },
  recipient_blocked: { status: 403, message: 'Payments to this recipient are forbidden.' },
  daily_limit_exceeded: { status: 403, message: 'The daily limit is used up.' },
  not_found: { status: 404, message: 'There is no such resource in this account.' },
  idempotency_conflict: {
    status: 409,
    message: 'This Idempotency-Key was used with a different body; take a new key.',
  },
  duplicate_qr_in_flight: {
    status: 409,
    message: 'A payment for this QR code is still running; wait for its outcome.',
  },
  qr_changed: {
    status: 409,
    message: 'The data of the QR code changed since it was checked; fetch it again.',
  },
  qr_unresolvable: {
    status: 422,
    message: 'The details of the QR code could not be obtained; retry later.',
  },
  rate_limited: { status: 429, message: 'Too many requests; wait as long as Retry-After says.' },
  internal_error: { status: 500, message: 'Something failed on our side; report the request_id.' },
  rate_unavailable: {
    status: 503,
    message: 'The exchange rate is out of date and payments are closed; retry in a minute.',
  },
  gateway_unavailable: { status: 503, message: 'The payment gateway is unavailable; retry later.' },
  gateway_busy: { status: 503, message: 'Too many payments at once; retry.' },
  maintenance: { status: 503, message: 'Planned maintenance; retry later.' },
} as const satisfies Record<string, { status: number; message: string }>;
