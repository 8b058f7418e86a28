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

/** Whatever goes wrong while the service is asked. Decide by `code`; the message is for people and may change. */
export class KopeckError extends Error {
  override readonly name: string = 'KopeckError';
  readonly code: string;
  /** Of the HTTP answer, if there was one. */
  readonly status: number | undefined;
  /** Tell it to support. */
  readonly requestId: string | undefined;
  /** Whether the same request may succeed later. What could be retried at once has been retried already. */
  readonly retryable: boolean;
  /** Whether this payment, sent again, be it mended first, must keep its key; with another one it may be paid twice. */
  readonly sameKey: boolean;
  /** The key of the payment that was to be created. */
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

/** 401: the key is wrong, revoked or missing. */
export class AuthenticationError extends KopeckError {
  override readonly name = 'AuthenticationError';
}

/** 403: suspended, another address, a blocked recipient, the day's limit, or a test endpoint with a live key. */
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

/** 402 and 409: as things stand, this payment is not made. */
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

interface Pause {
  retryAfterSec?: number | undefined;
}

/** 429, and it stayed so for all tries. */
export class RateLimitError extends KopeckError {
  override readonly name = 'RateLimitError';
  readonly retryAfterSec: number | undefined;
  constructor(message: string, facts: ErrorFacts & Pause) {
    super(message, facts);
    this.retryAfterSec = facts.retryAfterSec;
  }
}

/** 503 and other 5xx. What became of a payment is unknown unless `code` is one of the 503 of the contract. */
export class ServiceUnavailableError extends KopeckError {
  override readonly name = 'ServiceUnavailableError';
  readonly retryAfterSec: number | undefined;
  constructor(message: string, facts: ErrorFacts & Pause) {
    super(message, facts);
    this.retryAfterSec = facts.retryAfterSec;
  }
}

/** The service was not reached, or its answer was lost: what became of a payment is unknown. */
export class ConnectionError extends KopeckError {
  override readonly name = 'ConnectionError';
}

/** There was no answer in time: what became of a payment is unknown. */
export class TimeoutError extends KopeckError {
  override readonly name = 'TimeoutError';
}

/** A webhook that is not from the service, is too old, or was changed on its way. */
export class SignatureError extends KopeckError {
  override readonly name = 'SignatureError';
}

export interface Refusal extends Pause {
  status: number;
  requestId: string | undefined;
  idempotencyKey: string | undefined;
  /** The body, if it is JSON. */
  body: unknown;
}

/** Only after these a payment needs another key. */
const keyless = ['idempotency_conflict', 'missing_idempotency_key'];

/** The error that an answer means. */
export function errorFrom({ status, body, requestId, idempotencyKey, retryAfterSec }: Refusal): KopeckError {
  const told = contractError(body);
  const temporary = status === 429 || status === 503 || (status >= 500 && !told);
  const facts = {
    code: told?.code ?? (isMalformed(body) ? 'malformed_request' : `http_${status}`),
    status,
    requestId: requestId ?? told?.request_id,
    idempotencyKey,
    retryable: told?.retryable ?? temporary,
    // A refused request leaves its key free, and an attempt before it, of which only the answer was lost, is found by it.
    sameKey: told?.same_key ?? !keyless.includes(told?.code ?? ''),
  };
  const message = told?.message ?? `The service answered ${status}.`;
  if (isMalformed(body)) {
    const complaints = body.detail.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ');
    return new InvalidRequestError(complaints, { ...facts, details: body.detail });
  }
  if (status === 401) return new AuthenticationError(message, facts);
  if (status === 402 || status === 409) {
    const { required_usdt: requiredUsdt, balance_usdt: balanceUsdt } = told ?? {};
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

/** A service that is older than the library gives no advice. */
type Advice = 'retryable' | 'same_key';
type Told = Omit<ErrorBody['error'], Advice> & Partial<Pick<ErrorBody['error'], Advice>>;

/** The error object of the contract, as opposed to what some proxy in between has to say. */
function contractError(body: unknown): Told | undefined {
  const { error } = Object(body) as { error?: Told };
  return typeof error?.code === 'string' ? error : undefined;
}

function isMalformed(body: unknown): body is ValidationError {
  return Array.isArray((Object(body) as { detail?: unknown }).detail);
}
