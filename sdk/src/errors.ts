import type { ErrorBody, ValidationError } from './openapi.ts';

export interface ErrorFacts {
  code: string;
  status?: number | undefined;
  requestId?: string | undefined;
  retryable?: boolean | undefined;
  sameKey?: boolean | undefined;
  idempotencyKey?: string | undefined;
  cause?: unknown;
}

/** Any failure of a call. Decide by `code`; the message is for people and may change. */
export class KopeckError extends Error {
  override readonly name: string = 'KopeckError';
  readonly code: string;
  /** Of the HTTP answer, if there was one. */
  readonly status: number | undefined;
  /** Give it to support. */
  readonly requestId: string | undefined;
  /** Whether the same request may succeed later. The library has already made all its retries. */
  readonly retryable: boolean;
  /** Whether the payment must keep its key when it is sent again, also after a fix; with a new key it may be paid twice. */
  readonly sameKey: boolean;
  /** The key of the payment that the call should create. */
  readonly idempotencyKey: string | undefined;

  constructor(message: string, facts: ErrorFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = facts.code;
    this.status = facts.status;
    this.requestId = facts.requestId;
    this.retryable = facts.retryable ?? false;
    this.sameKey = facts.sameKey ?? this.retryable;
    this.idempotencyKey = facts.idempotencyKey;
  }
}

/** 401: the key is wrong, revoked, expired or missing. */
export class AuthenticationError extends KopeckError {
  override readonly name = 'AuthenticationError';
}

/** 403: suspended, another address, a blocked recipient, a limit of the day or of the key, its scopes, or a test endpoint with a live key. */
export class PermissionError extends KopeckError {
  override readonly name = 'PermissionError';
}

/** 400 and 422: the request must be fixed; `details` says where, if it is malformed. */
export class InvalidRequestError extends KopeckError {
  override readonly name = 'InvalidRequestError';
  readonly details: ValidationError['detail'];
  constructor(message: string, facts: ErrorFacts & { details?: ValidationError['detail'] }) {
    super(message, facts);
    this.details = facts.details ?? [];
  }
}

/** 402 and 409: the payment is refused in the current state. */
export class PaymentRefusedError extends KopeckError {
  override readonly name = 'PaymentRefusedError';
  /** With `insufficient_balance`. */
  readonly requiredUsdt: string | undefined;
  readonly balanceUsdt: string | undefined;
  constructor(message: string, facts: ErrorFacts & { requiredUsdt?: string; balanceUsdt?: string }) {
    super(message, facts);
    this.requiredUsdt = facts.requiredUsdt;
    this.balanceUsdt = facts.balanceUsdt;
  }
}

export class NotFoundError extends KopeckError {
  override readonly name = 'NotFoundError';
}

interface RetryAfter {
  retryAfterSec?: number | undefined;
}

/** The service may accept the same request later. */
export class TemporaryError extends KopeckError {
  readonly retryAfterSec: number | undefined;
  constructor(message: string, facts: ErrorFacts & RetryAfter) {
    super(message, facts);
    this.retryAfterSec = facts.retryAfterSec;
  }
}

/** 429, also after all retries. */
export class RateLimitError extends TemporaryError {
  override readonly name = 'RateLimitError';
}

/** 503 and other 5xx. The outcome of a payment is unknown unless `code` is one of the contract's 503 codes. */
export class ServiceUnavailableError extends TemporaryError {
  override readonly name = 'ServiceUnavailableError';
}

/** The service was not reached, or its answer was lost: the outcome of a payment is unknown. */
export class ConnectionError extends KopeckError {
  override readonly name = 'ConnectionError';
}

/** There was no answer in time: the outcome of a payment is unknown. */
export class TimeoutError extends KopeckError {
  override readonly name = 'TimeoutError';
}

/** A webhook that is not from the service, is too old, or was changed in transit. */
export class SignatureError extends KopeckError {
  override readonly name = 'SignatureError';
}

export interface Refusal extends RetryAfter {
  status: number;
  requestId: string | undefined;
  idempotencyKey: string | undefined;
  /** The body, if it is JSON. */
  body: unknown;
}

/** Only after these errors a payment needs another key. */
const needsNewKey = ['idempotency_conflict', 'missing_idempotency_key'];

/** The error for an answer other than 200. */
export function errorFrom({ status, body, requestId, idempotencyKey, retryAfterSec }: Refusal): KopeckError {
  const error = contractError(body);
  const temporary = status === 429 || status === 503 || (status >= 500 && !error);
  const facts = {
    code: error?.code ?? (isMalformed(body) ? 'malformed_request' : `http_${status}`),
    status,
    requestId: requestId ?? error?.request_id,
    idempotencyKey,
    retryable: error?.retryable ?? temporary,
    // A refused request does not use up its key. An earlier attempt whose answer was lost is found by the same key.
    sameKey: error?.same_key ?? !needsNewKey.includes(error?.code ?? ''),
  };
  const message = error?.message ?? `The service answered ${status}.`;
  if (isMalformed(body)) {
    const complaints = body.detail.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ');
    return new InvalidRequestError(complaints, { ...facts, details: body.detail });
  }
  if (status === 401) return new AuthenticationError(message, facts);
  if (status === 402 || status === 409) {
    const { required_usdt: requiredUsdt, balance_usdt: balanceUsdt } = error ?? {};
    return new PaymentRefusedError(message, {
      ...facts,
      ...(requiredUsdt === undefined ? {} : { requiredUsdt }),
      ...(balanceUsdt === undefined ? {} : { balanceUsdt }),
    });
  }
  if (status === 403) return new PermissionError(message, facts);
  if (status === 404) return new NotFoundError(message, facts);
  if (status === 400 || status === 422) return new InvalidRequestError(message, facts);
  if (status === 429) return new RateLimitError(message, { ...facts, retryAfterSec });
  if (status >= 500) return new ServiceUnavailableError(message, { ...facts, retryAfterSec });
  return new KopeckError(message, facts);
}

/** A service that is older than the library does not send these. */
type Advice = 'retryable' | 'same_key';
type ContractError = Omit<ErrorBody['error'], Advice> & Partial<Pick<ErrorBody['error'], Advice>>;

/** The error object of the contract; undefined for answers of proxies in between. */
function contractError(body: unknown): ContractError | undefined {
  const { error } = Object(body) as { error?: ContractError };
  return typeof error?.code === 'string' ? error : undefined;
}

function isMalformed(body: unknown): body is ValidationError {
  return Array.isArray((Object(body) as { detail?: unknown }).detail);
}
