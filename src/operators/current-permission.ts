import { type Id, uuidFromId } from '../base/ids.ts';
import type { Queryable } from '../db/postgres/index.ts';
import { type OperatorRole, type Permission, roleHasPermission } from './permissions.ts';

/**
 * Reads the operator's role again: the session was read before the transaction began. The row stays locked, so that
 * the operator cannot be disabled and cannot change roles until the transaction ends.
 */
export async function hasPermissionNow(
  tx: Queryable,
  operatorId: Id<'opr'>,
  permission: Permission,
): Promise<boolean> {
  const { rows } = await tx.query<{ role: OperatorRole }>({
    text: `SELECT role FROM operators
            WHERE id = $1 AND disabled_at IS NULL AND password_hash IS NOT NULL FOR SHARE`,
    values: [uuidFromId(operatorId)],
  });
  return rows[0] !== undefined && roleHasPermission(rows[0].role, permission);
}
