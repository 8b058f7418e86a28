import { type Clock, instantOf } from '../base/clock.ts';
import { type Id, uuidFromId } from '../base/ids.ts';
import { formatMicroUsdt } from '../base/money.ts';
import { writeNotice } from '../db/notices.ts';
import type { Queryable } from '../db/pool.ts';
import { enterShardOf } from '../db/shards/sessions.ts';
import { credit } from '../ledger/index.ts';
import type { DepositChain } from './chain/deposit-chain.ts';
import type { TransferLog } from './chain/node.ts';

/** A billion USDT, as for every other amount. More is never credited as a deposit. */
export const maxMicroUsdt = 10n ** 15n;

/** Of the ledger entry: the ledger credits it once. */
export const creditReference = (
  chain: string,
  { transaction, logIndex }: Pick<TransferLog, 'transaction' | 'logIndex'>,
) => `deposit:${chain}:${transaction}:${logIndex}`;

interface Credited {
  partnerId: Id<'prt'>;
  reference: string;
}

/**
 * Credits all that the partner has deposited on this chain and not been credited with, once it reaches the smallest amount.
 * Nearly always that is this one deposit. If the ledger refuses, since an operator has used the reference, the deposits are
 * held.
 */
export async function creditIfEnough(
  tx: Queryable,
  clock: Clock,
  chain: Pick<DepositChain, 'name' | 'minMicroUsdt'>,
  { partnerId, reference }: Credited,
): Promise<void> {
  // Two processes that book deposits of one partner at once would each miss the other's in the sum.
  await tx.query({
    text: 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))',
    values: [`deposits of ${partnerId} on ${chain.name}`],
  });
  const { rows } = await tx.query<{ id: string; micro_usdt: bigint }>({
    text: `SELECT id, micro_usdt FROM deposits WHERE partner_id = $1 AND chain = $2 AND state = 'accumulating'
              FOR UPDATE`,
    values: [uuidFromId(partnerId), chain.name],
  });
  const microUsdt = rows.reduce((sum, row) => sum + row.micro_usdt, 0n);
  if (microUsdt < chain.minMicroUsdt) return;
  const ids = rows.map(({ id }) => id);
  const outcome = await creditDeposits(tx, clock, { partnerId, reference, microUsdt, ids });
  if (outcome === 'credited') return;
  await tx.query({
    text: `UPDATE deposits SET state = 'held', held_for = 'reference' WHERE partner_id = $1 AND id = ANY ($2)`,
    values: [uuidFromId(partnerId), ids],
  });
}

/**
 * Puts locked deposits on the balance: the credit, their state and the notice belong into one transaction. Deposits and cursors
 * stand once; the credit is in the partner's shard.
 */
export async function creditDeposits(
  tx: Queryable,
  clock: Clock,
  { partnerId, reference, microUsdt, ids }: Credited & { microUsdt: bigint; ids: string[] },
): Promise<'credited' | 'already_credited' | 'conflict' | 'no_account'> {
  await enterShardOf(tx, uuidFromId(partnerId));
  const [verdict] = await credit(tx, clock, [{ partnerId, mode: 'live', reference, microUsdt }]);
  if (verdict!.outcome !== 'credited') return verdict!.outcome;
  await tx.query({
    text: `UPDATE deposits SET state = 'credited', credited_at = $3, credit_reference = $4
            WHERE partner_id = $1 AND id = ANY ($2)`,
    values: [uuidFromId(partnerId), ids, instantOf(clock), reference],
  });
  await writeNotice(tx, clock, partnerId, 'balance_credited', {
    mode: 'live',
    usdt: formatMicroUsdt(microUsdt),
    balance_usdt: formatMicroUsdt(verdict!.balanceMicroUsdt),
    reference,
  });
  return 'credited';
}
