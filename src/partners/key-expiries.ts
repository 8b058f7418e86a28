import { type Clock, instantOf } from '../base/clock.ts';
import { idFromUuid } from '../base/ids.ts';
import { writeNotice } from '../db/notices/index.ts';
import { type Queryable, readRows } from '../db/postgres/index.ts';

const dayMs = 86_400_000;
/** How many days before its expiry the team of a key is notified. */
const noticeDays = [7, 1];

/** The notices that are not needed for a key whose expiry is set now: it is near, and the person who set it knows. */
export const noticedDays = (expiresAt: Date | null, clock: Clock): number | null =>
  expiresAt && (noticeDays.findLast(days => expiresAt.getTime() - clock.nowMs() <= days * dayMs) ?? null);

/** Writes the notices that are due. Each is marked in the same transaction, so it is written once. */
export async function noticeExpiries(tx: Queryable, clock: Clock): Promise<void> {
  // The last one first: a key that is due for both gets one notice.
  for (const days of noticeDays.toReversed()) {
    const rows = await readRows<{ id: string; partner_id: string; mode: string; expires_at: Date }>(tx, {
      text: `UPDATE api_keys SET expiry_noticed_days = $1
              WHERE revoked_at IS NULL AND expires_at > $2 AND expires_at <= $3
                AND (expiry_noticed_days <= $1) IS NOT TRUE
             RETURNING id, partner_id, mode, expires_at`,
      values: [days, instantOf(clock), new Date(clock.nowMs() + days * dayMs)],
    });
    for (const { id, partner_id, mode, expires_at } of rows)
      await writeNotice(tx, clock, idFromUuid('prt', partner_id), 'key_expiring', {
        key_id: id,
        mode,
        expires_at: expires_at.toISOString(),
      });
  }
}
