import type { Payment } from './payment.ts';

/** No key of the API has this dot: these are ASCII. So no API key can make a payment that looks as if a person had paid it. */
const begin = 'by hand · telegram:';
const payer = /^by hand · telegram:(\d{1,19}) · /;

/**
 * The idempotency key of a payment by hand: its person, and the confirmation that they have given once. It is committed with the
 * hold, moves to the archive with the payment, and is in the order from which a lost payment is rebuilt.
 */
export const keyOfPaymentByHand = (userId: bigint, confirmation: string) =>
  `${begin}${userId} · ${confirmation}`;

/** Who paid by hand, as the audit log names people; null: a key of the API did. */
export function personWhoPaid({ idempotencyKey }: Pick<Payment, 'idempotencyKey'>): string | null {
  const [, userId] = payer.exec(idempotencyKey) ?? [];
  return userId === undefined ? null : `telegram:${userId}`;
}
