import { formatMicroUsdt } from '../base/money.ts';
import { type AuditContext, recordChange } from '../db/audit/index.ts';
import { writeNotice } from '../db/notices/index.ts';
import { type Queryable, transaction } from '../db/postgres/index.ts';
import { type CreditVerdict, credit } from './credits.ts';
import type { Credit } from './post.ts';

/** A credit by an operator, with an audit record; once per reference however often it is sent. */
export const topUp = (audit: AuditContext, item: Credit): Promise<CreditVerdict> =>
  transaction(audit.pool, tx => topUpIn(tx, audit, item));

/** The same, as part of the caller's transaction. */
export async function topUpIn(
  tx: Queryable,
  audit: AuditContext,
  item: Credit,
  /** With four-eyes approval: the operator who asked for it. */
  requestedBy?: string,
): Promise<CreditVerdict> {
  const [verdict] = await credit(tx, audit.clock, [item]);
  if (verdict!.outcome !== 'credited') return verdict!;
  const { mode, reference, microUsdt } = item;
  const { balanceMicroUsdt } = verdict!;
  await recordChange(tx, audit, {
    action: 'balance.credit',
    subject: item.partnerId,
    before: { mode, balance_usdt: formatMicroUsdt(balanceMicroUsdt - microUsdt) },
    after: {
      mode,
      balance_usdt: formatMicroUsdt(balanceMicroUsdt),
      reference,
      usdt: formatMicroUsdt(microUsdt),
      ...(requestedBy === undefined ? {} : { asked_by: requestedBy }),
    },
  });
  await writeNotice(tx, audit.clock, item.partnerId, 'balance_credited', {
    mode,
    usdt: formatMicroUsdt(microUsdt),
    balance_usdt: formatMicroUsdt(balanceMicroUsdt),
    reference,
  });
  return verdict!;
}
