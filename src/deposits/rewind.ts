import { type AuditContext, recordChange } from '../db/audit/index.ts';
import { findValue, readValue, transaction } from '../db/postgres/index.ts';
import type { DepositChain } from './chain/deposit-chain.ts';
import type { ChainBlock } from './chain/node.ts';
import { findFinal } from './watch/round.ts';

export type RewindOutcome =
  | { outcome: 'done'; fromBlock: bigint; toBlock: bigint; depositsAbove: number }
  | { outcome: 'not_watched' | 'not_below' | 'not_final' | 'nodes_disagree' };

/**
 * Puts the cursor of a chain back to `block`, so that all blocks after it are read again: after a reorganisation below what
 * was final, or to read what a broken node left out. What is on record is not credited again, whichever block it is in now,
 * since a deposit is known by its transaction. What is neither credited nor held waits until it is found again: its
 * transaction may be gone. A round that is under way books nothing: the cursor is not where it was.
 */
export async function rewindChain(
  audit: AuditContext,
  chain: DepositChain,
  { block, reason }: { block: bigint; reason: string },
): Promise<RewindOutcome> {
  const { number: final } = await findFinal(chain);
  if (block > final) return { outcome: 'not_final' };
  const blocks = await Promise.all(chain.nodes.map(node => node.block(block)));
  if (blocks.some(({ hash }) => hash !== blocks[0]!.hash)) return { outcome: 'nodes_disagree' };
  return transaction(audit.pool, async tx => {
    const fromBlock = await findValue<bigint>(tx, {
      text: 'SELECT cursor_block FROM deposit_chains WHERE chain = $1 FOR UPDATE',
      values: [chain.name],
    });
    if (fromBlock === undefined) return { outcome: 'not_watched' };
    if (block >= fromBlock) return { outcome: 'not_below' };
    const { number, hash, atMs }: ChainBlock = blocks[0]!;
    await tx.query({
      text: 'UPDATE deposit_chains SET cursor_block = $2, cursor_hash = $3, cursor_time = $4 WHERE chain = $1',
      values: [chain.name, number, hash, new Date(atMs)],
    });
    await tx.query({
      text: `UPDATE deposits SET state = 'dropped', final_at = NULL
              WHERE chain = $1 AND block_number > $2 AND state IN ('screening', 'accumulating')`,
      values: [chain.name, block],
    });
    await recordChange(tx, audit, {
      action: 'deposit.rewind',
      subject: chain.name,
      before: { block: `${fromBlock}` },
      after: { block: `${block}`, hash, reason },
    });
    const depositsAbove = await readValue<number>(tx, {
      text: 'SELECT count(*)::int AS count FROM deposits WHERE chain = $1 AND block_number > $2 AND final_at IS NOT NULL',
      values: [chain.name, block],
    });
    return { outcome: 'done', fromBlock, toBlock: block, depositsAbove };
  });
}
