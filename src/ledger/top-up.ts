import { formatMicroUsdt } from '../base/money.ts';
import { type Desk, recordChange } from '../db/audit.ts';
import { leaveNotice } from '../db/notices.ts';
import { transaction } from '../db/pool.ts';
import { type CreditVerdict, credit } from './operations.ts';
import type { Credit } from './post.ts';

/** A credit by a person: on record, and once per reference however often it is sent. */
export function topUp(desk: Desk, item: Credit): Promise<CreditVerdict> {
  return transaction(desk.pool, async tx => {
    const [verdict] = await credit(tx, desk.clock, [item]);
    if (verdict!.outcome === 'credited') {
      const { mode, reference, microUsdt } = item;
      const { balanceMicroUsdt } = verdict!;
      await recordChange(tx, desk, {
        action: 'balance.credit',
        subject: item.partnerId,
        before: { mode, balance_usdt: formatMicroUsdt(balanceMicroUsdt - microUsdt) },
        after: {
          mode,
          balance_usdt: formatMicroUsdt(balanceMicroUsdt),
          reference,
          usdt: formatMicroUsdt(microUsdt),
        },
      });
      await leaveNotice(tx, desk.clock, item.partnerId, 'balance_credited', {
        mode,
        usdt: formatMicroUsdt(microUsdt),
        balance_usdt: formatMicroUsdt(balanceMicroUsdt),
        reference,
      });
    }
    return verdict!;
  });
}
