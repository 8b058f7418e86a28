import { type Id, uuidFromId } from '../../base/ids.ts';
import { formatMicroUsdt } from '../../base/money.ts';
import { type AuditContext, recordChange } from '../../db/audit/index.ts';
import { findValue, type Queryable, transaction } from '../../db/postgres/index.ts';

/** The balance below which the partner gets a low-balance notice; undefined if it wants none. */
export const readBalanceMark = (db: Queryable, partnerId: Id<'prt'>) =>
  findValue<bigint>(db, {
    text: 'SELECT low_micro_usdt FROM balance_marks WHERE partner_id = $1',
    values: [uuidFromId(partnerId)],
  });

/** Null: no notices any more. A new mark can cause a notice at once, even if the earlier mark already did. */
export const setBalanceMark = (audit: AuditContext, partnerId: Id<'prt'>, microUsdt: bigint | null) =>
  transaction(audit.pool, async tx => {
    const id = uuidFromId(partnerId);
    if (microUsdt === null)
      await tx.query({ text: 'DELETE FROM balance_marks WHERE partner_id = $1', values: [id] });
    else
      await tx.query({
        text: `INSERT INTO balance_marks (partner_id, low_micro_usdt) VALUES ($1, $2)
               ON CONFLICT (partner_id) DO UPDATE SET low_micro_usdt = excluded.low_micro_usdt, low_since = NULL`,
        values: [id, microUsdt],
      });
    const after = { low_usdt: microUsdt === null ? null : formatMicroUsdt(microUsdt) };
    await recordChange(tx, audit, { action: 'balance.mark', subject: partnerId, after });
  });
