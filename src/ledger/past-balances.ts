import { type Id, idFromUuid, uuidFromId } from '../base/ids.ts';
import { type Queryable, readRow, readValue } from '../db/postgres/index.ts';
import type { Balances } from './accounts-and-entries.ts';
import type { AccountKey } from './post.ts';

/** The balances right after an entry that was booked before a moment, from the entries alone. */
export async function balancesAfter(
  db: Queryable,
  { partnerId, mode }: AccountKey,
  entryNo: bigint,
  before: Date,
): Promise<Balances> {
  const { topup, treasury, available, held } = await readRow<Omit<Balances, 'settled'>>(db, {
    text: 'SELECT topup, treasury, available, held FROM ledger_balances_after($1, $2, $3, $4)',
    values: [uuidFromId(partnerId), mode, entryNo, before],
  });
  return { topup, treasury, available, held, settled: -(topup + treasury + available + held) };
}

/** What was available right before this moment. */
export async function availableBefore(db: Queryable, account: AccountKey, at: Date): Promise<bigint> {
  const upTo = await readValue<bigint>(db, {
    text: 'SELECT ledger_entries_before($1, $2, $3) AS up_to',
    values: [uuidFromId(account.partnerId), account.mode, at],
  });
  return (await balancesAfter(db, account, upTo, at)).available;
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
 * backwards only until the sum is reached. A hold comes before its end, so what ended has been read by then.
 */
export async function openHoldsAfter(
  db: Queryable,
  { partnerId, mode }: AccountKey,
  entryNo: bigint,
  heldMicroUsdt: bigint,
): Promise<OpenHold[]> {
  const holds: OpenHold[] = [];
  const ended = new Set<string>();
  let missing = heldMicroUsdt;
  for (let upTo = entryNo; missing > 0n && upTo > 0n; upTo -= batchSize) {
    const { rows } = await db.query<Omit<OpenHold, 'paymentId'> & { payment_id: string; is_end: boolean }>({
      text: `SELECT entry_no AS "entryNo", created_at AS at, micro_usdt AS "microUsdt", payment_id, from_account = 'held' AS is_end
               FROM entries_between($1, $2, $3, $4, true, NULL) WHERE payment_id IS NOT NULL ORDER BY entry_no DESC`,
      values: [uuidFromId(partnerId), mode, upTo - batchSize, upTo],
    });
    for (const { payment_id, is_end, ...hold } of rows) {
      if (is_end) ended.add(payment_id);
      if (is_end || ended.has(payment_id)) continue;
      holds.push({ ...hold, paymentId: idFromUuid('pay', payment_id) });
      missing -= hold.microUsdt;
    }
  }
  if (missing !== 0n)
    throw new Error(`open holds of ${partnerId} are not what is held: ${missing} is missing`);
  return holds.toReversed();
}
