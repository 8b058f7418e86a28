import type { Payment } from '../payment.ts';

/** Live payments created in [from, until). */
export interface Period {
  from: Date;
  until: Date;
}

export type DifferenceKind =
  | 'paid_there_not_here'
  | 'here_not_there'
  | 'amounts_differ'
  | 'still_open'
  /** The amounts are then what was refunded, here and there. */
  | 'refunds_differ';

export interface Difference {
  kind: DifferenceKind;
  /** Our id, or the gateway's text when there is no such payment here. */
  paymentId: string;
  partnerId: string | null;
  status: Payment['status'] | null;
  amountKopecks: bigint | null;
  orderId: string | null;
  orderState: string | null;
  orderKopecks: bigint | null;
}
