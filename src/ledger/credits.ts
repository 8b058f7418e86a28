import { type Id, uuidFromId } from '../base/ids.ts';
import type { Queryable } from '../db/pool.ts';
import type { Mode } from './post.ts';

export interface PastCredit {
  mode: Mode;
  microUsdt: bigint;
  reference: string;
  at: Date;
}

/** What was added to a partner's balances, newest first. */
export async function listCredits(db: Queryable, partnerId: Id<'prt'>, limit: number): Promise<PastCredit[]> {
  const { rows } = await db.query<PastCredit>({
    text: `SELECT mode, micro_usdt AS "microUsdt", reference, created_at AS at
             FROM entries WHERE partner_id = $1 AND reference IS NOT NULL
            ORDER BY created_at DESC, entry_no DESC LIMIT $2`,
    values: [uuidFromId(partnerId), limit],
  });
  return rows;
}
