import type { OperatorRequest } from '../approvals/index.ts';
import { type Id, parseId } from '../base/ids.ts';
import { formatMicroUsdt } from '../base/money.ts';
import type { Queryable } from '../db/postgres/index.ts';
import { findDepositor } from '../deposits/index.ts';
import { type Mode, readBalances } from '../ledger/index.ts';
import { findPartner } from '../partners/index.ts';
import { findPaymentAnywhere } from '../payments/index.ts';

export type PartnerBalance = Awaited<ReturnType<typeof readBalance>>;

/** The balance that a decision on this request changes, as it is now; null if it changes none. */
export async function balanceOf(
  db: Queryable,
  { kind, subject, change, state }: OperatorRequest,
): Promise<PartnerBalance | null> {
  if (state !== 'waiting') return null;
  if (kind === 'credit') {
    const partnerId = parseId('prt', subject);
    const partner = partnerId && (await findPartner(db, partnerId));
    return partner ? readBalance(db, partner.partnerId, partner.name, change.mode as Mode) : null;
  }
  if (kind === 'deposit') {
    const depositId = change.outcome === 'credited' ? parseId('dep', subject) : undefined;
    const found = depositId && (await findDepositor(db, depositId));
    return found ? readBalance(db, found.partnerId, found.partner, 'live') : null;
  }
  const paymentId = kind === 'resolve' ? parseId('pay', subject) : undefined;
  const payment = paymentId && (await findPaymentAnywhere(db, paymentId));
  return payment ? readBalance(db, payment.partnerId, payment.partnerName, payment.mode) : null;
}

/** The balance of a partner in one mode, as it is now. */
export async function readBalance(db: Queryable, partnerId: Id<'prt'>, partner: string, mode: Mode) {
  const { availableMicroUsdt, heldMicroUsdt } = (await readBalances(db, partnerId))[mode];
  return {
    partner_id: partnerId,
    partner,
    mode,
    available_usdt: formatMicroUsdt(availableMicroUsdt),
    held_usdt: formatMicroUsdt(heldMicroUsdt),
  };
}
