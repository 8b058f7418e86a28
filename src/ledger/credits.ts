import type { Clock } from '../base/clock.ts';
import { type Id, uuidFromId } from '../base/ids.ts';
import { formatMicroUsdt } from '../base/money.ts';
import { type AuditContext, recordChange } from '../db/audit/index.ts';
import { writeNotice } from '../db/notices/index.ts';
import { findValue, type Queryable, transaction } from '../db/postgres/index.ts';
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

/** A credit by an operator, with an audit record; once per reference however often it is sent. */
export const topUp = (audit: AuditContext, item: Credit): Promise<CreditVerdict> =>
  transaction(audit.pool, tx => topUpIn(tx, audit, item));

/** The same, as part of the caller's transaction. */
export async function topUpIn(
  tx: Queryable,
  audit: AuditContext,
  item: Credit,
  /** With four-eyes approval: the operator who asked for it. */
  requestedBy?: string,
): Promise<CreditVerdict> {
  const [verdict] = await credit(tx, audit.clock, [item]);
  if (verdict!.outcome !== 'credited') return verdict!;
  const { mode, reference, microUsdt } = item;
  const { balanceMicroUsdt } = verdict!;
  const [usdt, balance_usdt] = [formatMicroUsdt(microUsdt), formatMicroUsdt(balanceMicroUsdt)];
  const facts = { mode, balance_usdt, reference, usdt };
  await recordChange(tx, audit, {
    action: 'balance.credit',
    subject: item.partnerId,
    before: { mode, balance_usdt: formatMicroUsdt(balanceMicroUsdt - microUsdt) },
    after: { ...facts, asked_by: requestedBy },
  });
  await writeNotice(tx, audit.clock, item.partnerId, 'balance_credited', facts);
  return verdict!;
}
