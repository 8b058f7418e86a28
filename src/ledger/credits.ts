import type { Clock } from '../base/clock.ts';
import { type Id, uuidFromId } from '../base/ids.ts';
import { findValue, type Queryable } from '../db/postgres/index.ts';
import { type Credit, type Mode, type PostingResult, post } from './post.ts';

export type CreditVerdict =
  | { outcome: 'credited' | 'already_credited'; balanceMicroUsdt: bigint }
  /** The same reference was credited with another amount. */
  | { outcome: 'conflict' }
  | { outcome: 'no_account' };

/** Adds money from outside (`topup`) or our own (`treasury`, for test balances); once per reference. */
export async function credit(
  db: Queryable,
  clock: Clock,
  items: Credit[],
  source: 'topup' | 'treasury' = 'topup',
): Promise<CreditVerdict[]> {
  const operation = source === 'topup' ? 'credit' : 'grant';
  const results = await post(
    db,
    clock,
    items.map(item => ({ operation, ...item })),
  );
  return results.map(creditVerdict);
}

function creditVerdict({ verdict, balance }: PostingResult): CreditVerdict {
  switch (verdict) {
    case 'done':
      return { outcome: 'credited', balanceMicroUsdt: balance };
    case 'already_done':
      return { outcome: 'already_credited', balanceMicroUsdt: balance };
    case 'conflict':
    case 'no_account':
      return { outcome: verdict };
    case 'ended':
    case 'insufficient':
    case 'not_held':
      throw new Error(`a credit cannot be ${verdict}`);
  }
}

export interface PastCredit {
  mode: Mode;
  microUsdt: bigint;
  reference: string;
  at: Date;
}

/** Credits of a partner in both modes, newest first. */
export async function listCredits(db: Queryable, partnerId: Id<'prt'>, limit: number): Promise<PastCredit[]> {
  const { rows } = await db.query<PastCredit>({
    // An entry that is archived meanwhile may be read in both places.
    text: `SELECT DISTINCT mode, micro_usdt AS "microUsdt", reference, created_at AS at, entry_no
             FROM (${creditsIn('entries')} UNION ALL ${creditsIn('entries_archive')}) AS e
            ORDER BY created_at DESC, entry_no DESC, mode DESC LIMIT $2`,
    values: [uuidFromId(partnerId), limit],
  });
  return rows.map(({ mode, microUsdt, reference, at }) => ({ mode, microUsdt, reference, at }));
}

const creditsIn = (table: string) =>
  `(SELECT * FROM ${table} WHERE partner_id = $1 AND reference IS NOT NULL AND from_account <> 'settled'
     ORDER BY created_at DESC, entry_no DESC, mode DESC LIMIT $2)`;

/** The amount credited with this reference; null if there is none, undefined if there is no such account. */
export const findCredited = (
  db: Queryable,
  { partnerId, mode, reference }: { partnerId: Id<'prt'>; mode: Mode; reference: string },
) =>
  findValue<bigint | null>(db, {
    text: `SELECT coalesce(
                    (SELECT e.micro_usdt FROM entries e
                      WHERE e.reference = $3 AND e.partner_id = a.partner_id AND e.mode = a.mode),
                    (SELECT r.micro_usdt FROM archived_references r
                      WHERE r.reference = $3 AND r.partner_id = a.partner_id AND r.mode = a.mode)) AS micro_usdt
             FROM accounts a WHERE a.partner_id = $1 AND a.mode = $2`,
    values: [uuidFromId(partnerId), mode, reference],
  });
