import { type Id, uuidFromId } from '../../base/ids.ts';
import type { Queryable } from '../../db/postgres/index.ts';
import type { Mode } from '../../ledger/index.ts';

/**
 * Functions that write events lock the account of their partner and mode, and then look which endpoints there are. So under this
 * lock each event either has happened, or will see the change.
 */
export const lockAccounts = (tx: Queryable, partnerId: Id<'prt'>, modes: Mode[]) =>
  tx.query({
    text: 'SELECT FROM accounts WHERE partner_id = $1 AND mode = ANY ($2::mode[]) ORDER BY mode FOR UPDATE',
    values: [uuidFromId(partnerId), modes],
  });

/** What is read of the endpoint afterwards holds until the end of the transaction. Events are queued for it meanwhile. */
export function lockEndpoint(tx: Queryable, partnerId: Id<'prt'>, endpointId: Id<'whe'>) {
  return tx.query({
    text: `SELECT FROM endpoints WHERE partner_id = $1 AND endpoint_id = $2 FOR NO KEY UPDATE`,
    values: [uuidFromId(partnerId), uuidFromId(endpointId)],
  });
}
