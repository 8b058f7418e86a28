import { type Id, uuidFromId } from '../base/ids.ts';
import { formatKopecks } from '../base/money.ts';
import { type AuditContext, recordChange } from '../db/audit/index.ts';
import { transaction } from '../db/postgres/index.ts';
import type { Mode } from '../ledger/index.ts';
import type { LimitedRights } from './authenticate.ts';
import { type ByHandLimits, lockPartner, type Partner } from './partners.ts';

/**
 * What people may pay by hand, in the form of the limits of a key: all of them share one turnover per mode, which
 * `payments_open` counts under the lock of the account.
 */
export const rightsByHand = ({ partnerId, byHand }: Partner, mode: Mode): LimitedRights => ({
  scopes: ['pay'],
  ...byHand,
  turnoverKey: `by hand ${mode} ${partnerId}`,
});

export const byHandObject = ({ maxKopecks, dailyKopecks }: ByHandLimits) => ({
  max_payment_rub: formatKopecks(maxKopecks),
  max_day_rub: formatKopecks(dailyKopecks),
});

/** A repeat changes nothing and writes no audit record. */
export const setByHandLimits = (audit: AuditContext, partnerId: Id<'prt'>, wanted: ByHandLimits) =>
  transaction(audit.pool, async tx => {
    const partner = await lockPartner(tx, partnerId);
    if (!partner) return 'no_partner';
    const [before, after] = [byHandObject(partner.byHand), byHandObject(wanted)];
    if (JSON.stringify(before) === JSON.stringify(after)) return 'done';
    await tx.query({
      text: 'UPDATE partners SET by_hand_max_kopecks = $2, by_hand_daily_kopecks = $3 WHERE id = $1',
      values: [uuidFromId(partnerId), wanted.maxKopecks, wanted.dailyKopecks],
    });
    await recordChange(tx, audit, { action: 'partner.by_hand', subject: partnerId, before, after });
    return 'done';
  });
