import { type Id, uuidFromId } from '../base/ids.ts';
import { findValue, type Queryable } from '../db/postgres/index.ts';

/** An operator has exactly one role, and exactly the permissions listed for it. */
export const operatorRoles = ['viewer', 'support', 'finance', 'admin'] as const;
export type OperatorRole = (typeof operatorRoles)[number];

const forSupport = [
  'payments.ask',
  'payments.resolve',
  'events.resend',
  'webhooks.check',
  'webhooks.change',
  'keys.revoke',
  'keys.addresses',
  'partners.contacts',
  'partners.create',
  'partners.suspend',
  'recipients.block',
  'alarms.clear',
] as const;

const forFinance = [
  'payments.resolve',
  'partners.approve',
  'partners.contacts',
  'partners.limits',
  'balances.credit',
  'ledger.verify',
  'rates.change',
  'reconciliation.run',
  'alarms.clear',
] as const;

const forAdmin = ['settings.maintenance', 'settings.thresholds', 'operators.manage'] as const;

export type Permission =
  | 'see'
  | (typeof forSupport)[number]
  | (typeof forFinance)[number]
  | (typeof forAdmin)[number];

const permissionsOf: Record<OperatorRole, ReadonlySet<Permission>> = {
  viewer: new Set(['see']),
  support: new Set(['see', ...forSupport]),
  finance: new Set(['see', ...forFinance]),
  admin: new Set(['see', ...forSupport, ...forFinance, ...forAdmin]),
};

export const roleHasPermission = (role: OperatorRole, permission: Permission) =>
  permissionsOf[role].has(permission);

export const listPermissions = (role: OperatorRole): Permission[] => [...permissionsOf[role]];

/**
 * Reads the operator's role again: the session was read before the transaction began. The row stays locked, so that
 * the operator cannot be disabled and cannot change roles until the transaction ends.
 */
export async function hasPermissionNow(tx: Queryable, operatorId: Id<'opr'>, permission: Permission) {
  const role = await findValue<OperatorRole>(tx, {
    text: `SELECT role FROM operators
            WHERE id = $1 AND disabled_at IS NULL AND password_hash IS NOT NULL FOR SHARE`,
    values: [uuidFromId(operatorId)],
  });
  return role !== undefined && roleHasPermission(role, permission);
}
