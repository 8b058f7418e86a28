import type { Clock } from '../base/clock.ts';
import { idFromUuid } from '../base/ids.ts';
import { type Pool, transaction } from '../db/pool.ts';
import { enterShardOf } from '../db/shards/sessions.ts';
import { credit } from '../ledger/index.ts';

interface RestoreDeps {
  pool: Pool;
  clock: Clock;
  log: Record<'warn' | 'error', (details: object, message: string) => void>;
}

/** Clocks differ, and what the ledger has is not credited again. */
const marginMs = 86_400_000;

/**
 * On Citus deposits stand on the coordinator and their credits on workers. A worker that has lost commits lacks credits of
 * deposits that are on record as credited, and no block is read again. They are credited again with their own references.
 */
export async function restoreCredits({ pool, clock, log }: RestoreDeps, certainAt: Date): Promise<void> {
  const { rows } = await pool.query<{ partner_id: string; reference: string; micro_usdt: bigint }>({
    text: `SELECT partner_id, credit_reference AS reference, sum(micro_usdt)::bigint AS micro_usdt
             FROM deposits WHERE state = 'credited' AND credited_at >= $1 GROUP BY 1, 2 ORDER BY 1, 2`,
    values: [new Date(certainAt.getTime() - marginMs)],
  });
  for (const { partner_id, reference, micro_usdt: microUsdt } of rows) {
    const partnerId = idFromUuid('prt', partner_id);
    const [result] = await transaction(pool, async tx => {
      await enterShardOf(tx, partner_id);
      return credit(tx, clock, [{ partnerId, mode: 'live', reference, microUsdt }]);
    });
    const { outcome } = result!;
    if (outcome === 'already_credited') continue;
    const details = { partnerId, reference, outcome };
    if (outcome === 'credited') log.warn(details, 'a lost credit of a deposit was made again');
    else log.error(details, 'a lost credit of a deposit could not be made again');
  }
}
