import { type Id, uuidFromId } from '../base/ids.ts';
import type { Queryable } from '../db/pool.ts';
import { mayOperator, type OperatorRole, type Permission } from './permissions.ts';

/**
 * Whether somebody may do something at this moment, whatever their session said when it was asked. Until the
 * transaction ends nobody disables them or changes their role.
 */
export async function mayStill(
  tx: Queryable,
  operatorId: Id<'opr'>,
  permission: Permission,
): Promise<boolean> {
  const { rows } = await tx.query<{ role: OperatorRole }>({
    text: `SELECT role FROM operators
            WHERE id = $1 AND disabled_at IS NULL AND password_hash IS NOT NULL FOR SHARE`,
    values: [uuidFromId(operatorId)],
  });
  return rows[0] !== undefined && mayOperator(rows[0].role, permission);
}
