import { type Clock, instantOf } from '../../base/clock.ts';
import { type Id, uuidFromId } from '../../base/ids.ts';
import { findValue, type Queryable, readValue } from '../../db/postgres/index.ts';

/** SQL for an earlier time, but not before now: what becomes due must not get ahead of what was due already. */
export const advancedSql = (at: string, bySec: string, now: string) =>
  `greatest(${at} - make_interval(secs => ${bySec}), ${now})`;

/** The row lock also serializes concurrent moves of the same clock. */
export async function addToTestClock(tx: Queryable, partnerId: Id<'prt'>, advanceSec: number) {
  const advancedSec = await readValue<bigint>(tx, {
    text: `INSERT INTO test_clocks AS c (partner_id, advanced_sec) VALUES ($1, $2)
           ON CONFLICT (partner_id) DO UPDATE SET advanced_sec = c.advanced_sec + $2 RETURNING advanced_sec`,
    values: [uuidFromId(partnerId), advanceSec],
  });
  return Number(advancedSec);
}

export async function readTestClock(db: Queryable, partnerId: Id<'prt'>): Promise<number> {
  const text = 'SELECT advanced_sec FROM test_clocks WHERE partner_id = $1';
  return Number((await findValue<bigint>(db, { text, values: [uuidFromId(partnerId)] })) ?? 0);
}

/** Makes delayed outcomes due earlier. A locked row is about to be finished or polled, and is skipped. */
export async function advanceOpenPayments(
  tx: Queryable,
  clock: Clock,
  partnerId: Id<'prt'>,
  advanceSec: number,
): Promise<void> {
  await tx.query({
    text: `UPDATE open_payments p SET next_at = ${advancedSql('p.next_at', '$2', '$3')}
             FROM (SELECT scope, qrc_id FROM open_payments
                    WHERE partner_id = $1 AND mode = 'test' AND lease_holder IS NULL AND next_at > $3
                      FOR UPDATE SKIP LOCKED) AS waiting
            WHERE p.scope = waiting.scope AND p.qrc_id = waiting.qrc_id`,
    values: [uuidFromId(partnerId), advanceSec, instantOf(clock)],
  });
}
