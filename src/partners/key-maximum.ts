import { type Clock, instantOf } from '../base/clock.ts';
import { uuidFromId } from '../base/ids.ts';
import { type AuditContext, takeDailyChange } from '../db/audit/index.ts';
import { type Queryable, readRow } from '../db/postgres/index.ts';
import type { AccountKey } from '../ledger/index.ts';

/** For one partner and mode. Keys that were rolled do not count: they are replaced already, so a roll adds none. */
export const maxActiveKeys = 20;

/** For one partner and mode: keys that were rolled and have not ended. A roll without an overlap is always possible. */
export const maxRolledKeys = 20;

/** Keys that are valid now. The partner is locked, so that a maximum holds over all processes. */
export const countKeys = (tx: Queryable, clock: Clock, { partnerId, mode }: AccountKey) =>
  readRow<{ active: number; rolled: number }>(tx, {
    text: `SELECT count(*) FILTER (WHERE rolled_to IS NULL)::int AS active,
                  count(*) FILTER (WHERE rolled_to IS NOT NULL)::int AS rolled
             FROM api_keys
            WHERE partner_id = $1 AND mode = $2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $3)`,
    values: [uuidFromId(partnerId), mode, instantOf(clock)],
  });

/**
 * False if people have changed as many keys of the partner and mode today as they may. By mode, since who may change test keys
 * only must not keep an owner from changing live keys. Operators are not counted: they help when somebody else used up the day.
 * Locks are taken in the order partner, key, this one.
 */
export const takeKeyChange = async (
  tx: Queryable,
  { clock, isBounded }: AuditContext,
  { partnerId, mode }: AccountKey,
): Promise<boolean> => !isBounded || takeDailyChange(tx, clock, 'keys', `${partnerId} ${mode}`);
