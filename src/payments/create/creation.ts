import type { errors, keyErrors, quoteErrors } from '../../base/errors.ts';
import type { Payment } from '../payment.ts';

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
