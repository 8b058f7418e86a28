import { type Id, idFromUuid, uuidFromId } from '../base/ids.ts';
import type { Queryable } from '../db/pool.ts';
import type { AccountName, Balances } from './accounts-and-entries.ts';
import type { AccountKey } from './post.ts';

/**
 * The balances right after an entry, from the entries alone. An entry has the balances of its two accounts. The last
 * entries of `available` and `held` are near, those of `topup` and `treasury` have an index, and `settled` follows since
 * the five add up to zero. Without an entry since the checkpoint of a test account, its balance counts.
 */
export async function balancesAfter(
  db: Queryable,
  { partnerId, mode }: AccountKey,
  entryNo: bigint,
): Promise<Balances> {
  const last = (account: AccountName, condition: string) => `
    coalesce((SELECT CASE WHEN from_account = '${account}' THEN from_after ELSE to_after END
                FROM all_entries WHERE partner_id = $1 AND mode = $2 AND entry_no <= $3 AND ${condition}
                 AND entry_no > coalesce((SELECT entry_no FROM checkpoint), 0)
               ORDER BY entry_no DESC LIMIT 1), (SELECT ${account} FROM checkpoint), 0) AS ${account}`;
  const touched = (account: AccountName) => `'${account}' IN (from_account, to_account)`;
  const outside = (account: AccountName) => `from_account = '${account}' AND payment_id IS NULL`;
  const { rows } = await db.query<Omit<Balances, 'settled'>>({
    text: `WITH checkpoint AS (SELECT * FROM test_checkpoints WHERE partner_id = $1 AND $2::mode = 'test')
           SELECT ${last('available', touched('available'))}, ${last('held', touched('held'))},
                  ${last('topup', outside('topup'))}, ${last('treasury', outside('treasury'))}`,
    values: [uuidFromId(partnerId), mode, entryNo],
  });
  const { topup, treasury, available, held } = rows[0]!;
  return { topup, treasury, available, held, settled: -(topup + treasury + available + held) };
}

/** What was available right before this moment. */
export async function availableBefore(db: Queryable, account: AccountKey, at: Date): Promise<bigint> {
  const { rows } = await db.query<{ up_to: bigint }>({
    text: 'SELECT ledger_entries_before($1, $2, $3) AS up_to',
    values: [uuidFromId(account.partnerId), account.mode, at],
  });
  return (await balancesAfter(db, account, rows[0]!.up_to)).available;
}

export interface OpenHold {
  entryNo: bigint;
  at: Date;
  microUsdt: bigint;
  paymentId: Id<'pay'>;
}

const batchSize = 5_000n;

/**
 * The holds that were open right after an entry, oldest first. Their sum is known and most of them are recent, so it reads
 * backwards only until the sum is reached.
 */
export async function openHoldsAfter(
  db: Queryable,
  { partnerId, mode }: AccountKey,
  entryNo: bigint,
  heldMicroUsdt: bigint,
): Promise<OpenHold[]> {
  const holds: OpenHold[] = [];
  let missing = heldMicroUsdt;
  for (let upTo = entryNo; missing > 0n && upTo > 0n; upTo -= batchSize) {
    const { rows } = await db.query<Omit<OpenHold, 'paymentId'> & { payment_id: string }>({
      text: `SELECT h.entry_no AS "entryNo", h.created_at AS at, h.micro_usdt AS "microUsdt", h.payment_id
               FROM all_entries h
              WHERE h.partner_id = $1 AND h.mode = $2 AND h.entry_no > $3 AND h.entry_no <= $4
                AND h.from_account = 'available' AND NOT EXISTS (
                    SELECT FROM all_entries e WHERE e.payment_id = h.payment_id AND e.from_account = 'held'
                       AND e.partner_id = $1 AND e.mode = $2 AND e.entry_no <= $5)
              ORDER BY h.entry_no DESC`,
      values: [uuidFromId(partnerId), mode, upTo - batchSize, upTo, entryNo],
    });
    for (const { payment_id, ...hold } of rows) {
      holds.push({ ...hold, paymentId: idFromUuid('pay', payment_id) });
      missing -= hold.microUsdt;
    }
  }
  if (missing !== 0n)
    throw new Error(`open holds of ${partnerId} are not what is held: ${missing} is missing`);
  return holds.toReversed();
}
