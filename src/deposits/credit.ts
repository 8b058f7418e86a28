import { type Clock, instantOf } from '../base/clock.ts';
import { type Id, idFromUuid, uuidFromId } from '../base/ids.ts';
import { formatMicroUsdt } from '../base/money.ts';
import { writeNotice } from '../db/notices.ts';
import { type Pool, type Queryable, transaction } from '../db/pool.ts';
import { enterShardOf } from '../db/shards/sessions.ts';
import { credit } from '../ledger/index.ts';
import type { DepositChain } from './chain/deposit-chain.ts';

interface CreditDeps {
  pool: Pool;
  clock: Clock;
  chain: Pick<DepositChain, 'name' | 'minMicroUsdt'>;
}

/** A locked account costs the partners after it this time, once a round. */
const lockTimeout = '250ms';

/**
 * Credits each partner whose deposits on this chain together reach the smallest amount, in a transaction of its own: an
 * account that is locked delays nobody else. Called in every round, so that what a crash, a lock or a higher smallest amount
 * has left is credited later.
 */
export async function creditDue(deps: CreditDeps): Promise<void> {
  const { pool, chain } = deps;
  const { rows } = await pool.query<{ partner_id: string }>({
    text: `SELECT partner_id FROM deposits WHERE chain = $1 AND state = 'accumulating'
            GROUP BY partner_id HAVING sum(micro_usdt) >= $2 ORDER BY partner_id`,
    values: [chain.name, chain.minMicroUsdt],
  });
  const failures: unknown[] = [];
  for (const { partner_id } of rows)
    await creditPartner(deps, idFromUuid('prt', partner_id)).catch(error => failures.push(error));
  if (failures.length === 0) return;
  const [first] = failures as Error[];
  throw new Error(`deposits of ${failures.length} partners could not be credited: ${first!.message}`, {
    cause: first,
  });
}

/** All that is final, allowed and not credited, if it reaches the smallest amount. */
export const creditPartner = ({ pool, clock, chain }: CreditDeps, partnerId: Id<'prt'>): Promise<void> =>
  transaction(pool, tx => creditWithin(tx, clock, chain, partnerId));

/**
 * A deposit that reaches the smallest amount is an entry of its own. Those below it are one entry with the reference of the
 * last of them, if together they reach it; else they go with the last of the others. What the ledger refuses, since an operator has used the reference, is held.
 */
async function creditWithin(
  tx: Queryable,
  clock: Clock,
  { name, minMicroUsdt }: CreditDeps['chain'],
  partnerId: Id<'prt'>,
): Promise<void> {
  await tx.query({ text: `SELECT set_config('lock_timeout', $1, true)`, values: [lockTimeout] });
  const partner = uuidFromId(partnerId);
  // Locked, so that another process does not credit them too. What is booked meanwhile may come along.
  const { rows: due } = await tx.query<{ reference: string }>({
    text: `WITH due AS (
             SELECT id, micro_usdt, reference, micro_usdt >= $3 AS is_enough
               FROM deposits WHERE partner_id = $1 AND chain = $2 AND state = 'accumulating' ORDER BY id FOR UPDATE)
           SELECT reference
             FROM (SELECT id, reference, is_enough, sum(micro_usdt) OVER () AS total,
                          coalesce(sum(micro_usdt) FILTER (WHERE NOT is_enough) OVER (), 0) AS small FROM due) AS sums
            WHERE total >= $3 ORDER BY is_enough = (small >= $3), id DESC LIMIT 1`,
    values: [partner, name, minMicroUsdt],
  });
  if (!due[0]) return;
  const { rows: credits } = await tx.query<DepositCredit>({
    text: `WITH credited AS (
             UPDATE deposits SET state = 'credited', credited_at = $5,
                    credit_reference = CASE WHEN micro_usdt >= $3 THEN reference ELSE $4 END
              WHERE partner_id = $1 AND chain = $2 AND state = 'accumulating'
             RETURNING id, credit_reference, micro_usdt)
           SELECT credit_reference AS reference, sum(micro_usdt)::bigint AS "microUsdt"
             FROM credited GROUP BY credit_reference ORDER BY max(id::text)`,
    values: [partner, name, minMicroUsdt, due[0].reference, instantOf(clock)],
  });
  const refused = await creditDeposits(tx, clock, partnerId, credits);
  if (refused.length === 0) return;
  await tx.query({
    text: `UPDATE deposits SET state = 'held', held_for = 'reference', credited_at = NULL, credit_reference = NULL
            WHERE partner_id = $1 AND credit_reference = ANY ($2)`,
    values: [partner, refused],
  });
}

export interface DepositCredit {
  /** Of the ledger entry: the ledger credits it once. */
  reference: string;
  microUsdt: bigint;
}

/**
 * Puts deposits on the balance, in the transaction that changes their state, and returns the references that the ledger
 * refuses. Deposits and cursors stand once; the credit is in the partner's shard.
 */
export async function creditDeposits(
  tx: Queryable,
  clock: Clock,
  partnerId: Id<'prt'>,
  credits: DepositCredit[],
): Promise<string[]> {
  await enterShardOf(tx, uuidFromId(partnerId));
  const items = credits.map(item => ({ ...item, partnerId, mode: 'live' as const }));
  const verdicts = await credit(tx, clock, items);
  const refused: string[] = [];
  for (const [nth, { reference, microUsdt }] of credits.entries()) {
    const verdict = verdicts[nth]!;
    if (verdict.outcome !== 'credited') refused.push(reference);
    else
      await writeNotice(tx, clock, partnerId, 'balance_credited', {
        mode: 'live',
        usdt: formatMicroUsdt(microUsdt),
        balance_usdt: formatMicroUsdt(verdict.balanceMicroUsdt),
        reference,
      });
  }
  return refused;
}
