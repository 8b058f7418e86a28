import type { Id } from '../../base/ids.ts';
import type { Mode } from '../../ledger/index.ts';
import type { Payment, PaymentStatus } from '../payment.ts';

/** A search over the payments of all partners; a payment must match every field that is set. */
export interface PaymentFilter {
  paymentId?: Id<'pay'> | undefined;
  externalId?: string | undefined;
  idempotencyKey?: string | undefined;
  qrcId?: string | undefined;
  /** The beginning of the recipient's name, in any case. */
  recipient?: string | undefined;
  partnerId?: Id<'prt'> | undefined;
  /** The beginning of the partner's name, in any case. */
  partnerName?: string | undefined;
  mode?: Mode | undefined;
  status?: PaymentStatus | undefined;
  statusDetail?: NonNullable<Payment['statusDetail']> | undefined;
  amountKopecks?: bigint | undefined;
  createdFrom?: Date | undefined;
  createdBefore?: Date | undefined;
}
