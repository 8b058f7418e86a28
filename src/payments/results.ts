import type { errors, keyErrors, quoteErrors } from '../base/errors.ts';
import type { Id } from '../base/ids.ts';
import type { OperationNumber, OrderAnswer } from '../gateway/index.ts';
import type { AccountKey } from '../ledger/index.ts';
import type { TraceContext } from '../telemetry/index.ts';
import type { FailureCode, Payment } from './payment.ts';
import type { QuoteRefusal } from './quotes/quote.ts';

export interface OpenResult {
  verdict:
    | 'opened'
    | 'known'
    | 'maintenance'
    /** Its rate is not the newest any more: it can be opened again at that one. */
    | 'rate_changed'
    | 'recipient_blocked'
    | 'rate_unavailable'
    | 'duplicate_qr_in_flight'
    | 'gateway_busy'
    | 'daily_limit_exceeded'
    | 'insufficient_balance'
    /** Only of a payment with a `keyLimit`. */
    | 'key_daily_limit_exceeded'
    /** Only of a payment with a `quoteId`. */
    | QuoteRefusal
    | 'no_account';
  /** The payment that was opened, or that has this idempotency key already. */
  paymentId: Id<'pay'> | undefined;
  balanceMicroUsdt: bigint;
  at: Date;
}

export interface FinishResult {
  /** False when the payment was finished already, or when it cannot finish like this. */
  changed: boolean;
  /** After the call. */
  status: Payment['status'];
  at: Date;
}

/** How a payment ends. `rejected` undoes one that the gateway refused before acceptance. */
export type PaymentOutcome =
  | { outcome: 'succeeded'; orderId?: string; operationNumber?: OperationNumber }
  | { outcome: 'failed'; code: FailureCode; orderId?: string }
  | { outcome: 'rejected'; code: keyof typeof errors };

export const succeeded = ({
  orderId,
  operationNumber,
}: Extract<OrderAnswer, { outcome: 'succeeded' }>): PaymentOutcome => ({
  outcome: 'succeeded',
  orderId,
  ...(operationNumber === undefined ? {} : { operationNumber }),
});

export type PaymentToFinish = AccountKey & {
  paymentId: Id<'pay'>;
  /** The span that finishes it, where traces are exported. */
  trace?: TraceContext | undefined;
} & PaymentOutcome;

export type ErrorCode = keyof typeof errors | keyof typeof keyErrors | keyof typeof quoteErrors;

/** The answer to a request for a payment. */
export type Creation = (
  | { outcome: 'payment'; payment: Payment; replayed: boolean }
  | {
      outcome: 'refused';
      code: ErrorCode;
      requiredMicroUsdt?: bigint;
      balanceMicroUsdt?: bigint;
      retryAfterSec?: number;
    }
) & {
  /** The test scenario `answer_lost`: the connection breaks instead of an answer. */
  isAnswerLost?: true;
};

export const refused = (code: ErrorCode): Creation & { outcome: 'refused' } => ({ outcome: 'refused', code });
