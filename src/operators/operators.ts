import { instantOf } from '../base/clock.ts';
import { type Id, idFromUuid, newId, uuidFromId } from '../base/ids.ts';
import { type AuditContext, recordChange } from '../db/audit.ts';
import { type Queryable, transaction } from '../db/pool.ts';
import { type NewLink, newLink } from './link.ts';
import type { OperatorRole } from './permissions.ts';
import { endAllSessions } from './sessions.ts';

export interface Operator {
  operatorId: Id<'opr'>;
  name: string;
  role: OperatorRole;
  /** Invited: they have not used their link yet, or it was replaced by a reset. */
  state: 'invited' | 'active' | 'disabled';
  createdAt: Date;
  lastSeenAt: Date | null;
}

interface OperatorFields {
  id: string;
  name: string;
  role: OperatorRole;
  state: Operator['state'];
  created_at: Date;
  last_seen_at: Date | null;
}

const selectOperators = `
  SELECT id, name, role, created_at,
         CASE WHEN disabled_at IS NOT NULL THEN 'disabled' WHEN password_hash IS NULL THEN 'invited' ELSE 'active' END AS state,
         (SELECT max(last_seen_at) FROM operator_sessions s WHERE s.operator_id = o.id) AS last_seen_at
    FROM operators o`;

const toOperator = (row: OperatorFields): Operator => ({
  operatorId: idFromUuid('opr', row.id),
  name: row.name,
  role: row.role,
  state: row.state,
  createdAt: row.created_at,
  lastSeenAt: row.last_seen_at,
});

export async function listOperators(db: Queryable): Promise<Operator[]> {
  const { rows } = await db.query<OperatorFields>({ text: `${selectOperators} ORDER BY name` });
  return rows.map(toOperator);
}

/** By id or by name. */
export async function findOperator(db: Queryable, who: Id<'opr'> | string): Promise<Operator | undefined> {
  const { rows } = await db.query<OperatorFields>({
    text: `${selectOperators} WHERE id::text = $1 OR name = $2`,
    values: [who.startsWith('opr_') ? uuidFromId(who as Id<'opr'>) : null, who],
  });
  return rows[0] && toOperator(rows[0]);
}

/** Without the mark that ids have, so that no name can be taken for one. */
const namePattern = /^[a-z0-9][a-z0-9.-]{0,38}[a-z0-9]$/;

/** As it is kept, or undefined for what cannot be one. */
export function readOperatorName(text: string): string | undefined {
  const name = text.trim().toLowerCase();
  return namePattern.test(name) ? name : undefined;
}

/**
 * Those who change operators come one after the other: what is counted stays true until it is written. Signing in
 * waits for the moment it takes.
 */
const oneAtATime = <Result>(audit: AuditContext, work: (tx: Queryable) => Promise<Result>) =>
  transaction(audit.pool, async tx => {
    await tx.query({ text: 'LOCK TABLE operators IN SHARE ROW EXCLUSIVE MODE' });
    return work(tx);
  });

export interface Invited extends Pick<NewLink, 'token' | 'expiresAt'> {
  operator: Operator;
}

export type Creation = ({ outcome: 'created' } & Invited) | { outcome: 'name_taken' };

export const createOperator = (
  audit: AuditContext,
  secretKey: string,
  wanted: { name: string; role: OperatorRole },
): Promise<Creation> => oneAtATime(audit, tx => create(tx, audit, secretKey, wanted));

async function create(
  tx: Queryable,
  audit: AuditContext,
  secretKey: string,
  { name, role }: { name: string; role: OperatorRole },
): Promise<Creation> {
  if (await findOperator(tx, name)) return { outcome: 'name_taken' };
  const operatorId = newId('opr', audit.clock);
  const { token, expiresAt, hash, sealedTotp } = newLink(audit.clock, secretKey, operatorId);
  await tx.query({
    text: `INSERT INTO operators (id, name, role, created_at, totp_secret, setup_hash, setup_expires_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    values: [uuidFromId(operatorId), name, role, instantOf(audit.clock), sealedTotp, hash, expiresAt],
  });
  await recordChange(tx, audit, { action: 'operator.create', subject: name, after: { role } });
  return { outcome: 'created', operator: (await findOperator(tx, operatorId))!, token, expiresAt };
}

export type Refused = { outcome: 'no_operator' | 'last_admin' | 'disabled' };

/**
 * For a lost phone or a forgotten password: both are void at once, sessions end, and a link sets new ones. At the
 * command line also for the only admin, since that is the way back in.
 */
export function resetOperator(
  audit: AuditContext,
  secretKey: string,
  operatorId: Id<'opr'>,
  { evenLastAdmin }: { evenLastAdmin: boolean },
): Promise<({ outcome: 'reset' } & Invited) | Refused> {
  return oneAtATime(audit, async tx => {
    const operator = await findOperator(tx, operatorId);
    if (!operator) return { outcome: 'no_operator' };
    if (operator.state === 'disabled') return { outcome: 'disabled' };
    if (!evenLastAdmin && (await isLastAdmin(tx, operator))) return { outcome: 'last_admin' };
    return { outcome: 'reset', ...(await reset(tx, audit, secretKey, operator)) };
  });
}

async function reset(
  tx: Queryable,
  audit: AuditContext,
  secretKey: string,
  operator: Operator,
): Promise<Invited> {
  const { operatorId, name } = operator;
  const { token, expiresAt, hash, sealedTotp } = newLink(audit.clock, secretKey, operatorId);
  await tx.query({
    text: `UPDATE operators SET password_hash = NULL, totp_secret = $2, setup_hash = $3, setup_expires_at = $4
            WHERE id = $1`,
    values: [uuidFromId(operatorId), sealedTotp, hash, expiresAt],
  });
  await endAllSessions(tx, audit.clock, operatorId);
  await recordChange(tx, audit, { action: 'operator.reset', subject: name });
  return { operator: { ...operator, state: 'invited' }, token, expiresAt };
}

export type Changed = { outcome: 'done'; operator: Operator } | Refused;

/** They are out at once, and their link, if they had one, leads nowhere. */
export const disableOperator = (audit: AuditContext, operatorId: Id<'opr'>) =>
  change(audit, operatorId, async (tx, operator) => {
    if (operator.state === 'disabled') return undefined;
    if (await isLastAdmin(tx, operator)) return 'last_admin';
    await tx.query({
      text: `UPDATE operators SET disabled_at = $2, setup_hash = NULL, setup_expires_at = NULL WHERE id = $1`,
      values: [uuidFromId(operatorId), instantOf(audit.clock)],
    });
    await endAllSessions(tx, audit.clock, operatorId);
    await recordChange(tx, audit, { action: 'operator.disable', subject: operator.name });
    return undefined;
  });

export const enableOperator = (audit: AuditContext, operatorId: Id<'opr'>) =>
  change(audit, operatorId, async (tx, operator) => {
    if (operator.state !== 'disabled') return undefined;
    await tx.query({
      text: 'UPDATE operators SET disabled_at = NULL WHERE id = $1',
      values: [uuidFromId(operatorId)],
    });
    await recordChange(tx, audit, { action: 'operator.enable', subject: operator.name });
    return undefined;
  });

export const setOperatorRole = (audit: AuditContext, operatorId: Id<'opr'>, role: OperatorRole) =>
  change(audit, operatorId, async (tx, operator) => {
    if (operator.role === role) return undefined;
    if (await isLastAdmin(tx, operator)) return 'last_admin';
    await tx.query({
      text: 'UPDATE operators SET role = $2 WHERE id = $1',
      values: [uuidFromId(operatorId), role],
    });
    await recordChange(tx, audit, {
      action: 'operator.role',
      subject: operator.name,
      before: { role: operator.role },
      after: { role },
    });
    return undefined;
  });

/** Of all their sessions; they may sign in again. */
export const signOutOperator = (audit: AuditContext, operatorId: Id<'opr'>) =>
  change(audit, operatorId, async (tx, operator) => {
    const sessions = await endAllSessions(tx, audit.clock, operatorId);
    if (sessions > 0)
      await recordChange(tx, audit, {
        action: 'session.revoke',
        subject: operator.name,
        after: { sessions },
      });
    return undefined;
  });

const change = (
  audit: AuditContext,
  operatorId: Id<'opr'>,
  work: (tx: Queryable, operator: Operator) => Promise<'last_admin' | undefined>,
): Promise<Changed> =>
  oneAtATime(audit, async tx => {
    const operator = await findOperator(tx, operatorId);
    if (!operator) return { outcome: 'no_operator' };
    const refused = await work(tx, operator);
    return refused
      ? { outcome: refused }
      : { outcome: 'done', operator: (await findOperator(tx, operatorId))! };
  });

/** Without one nobody could manage operators in the console any more. */
async function isLastAdmin(tx: Queryable, { operatorId, role, state }: Operator): Promise<boolean> {
  if (role !== 'admin' || state !== 'active') return false;
  const { rows } = await tx.query<{ others: boolean }>({
    text: `SELECT EXISTS (SELECT FROM operators WHERE role = 'admin' AND disabled_at IS NULL
                             AND password_hash IS NOT NULL AND id <> $1) AS others`,
    values: [uuidFromId(operatorId)],
  });
  return !rows[0]!.others;
}

const firstName = 'admin';

/**
 * As long as nobody has ever been here, each start gives the one admin a fresh link, and the one before leads nowhere.
 * Undefined when people have begun to manage operators themselves.
 */
export function inviteFirstAdmin(audit: AuditContext, secretKey: string): Promise<Invited | undefined> {
  return oneAtATime(audit, async tx => {
    const { rows } = await tx.query<{ name: string; untouched: boolean }>({
      text: `SELECT name, role = 'admin' AND totp_last_step IS NULL AND disabled_at IS NULL AS untouched FROM operators`,
    });
    if (rows.length === 0) {
      const creation = await create(tx, audit, secretKey, { name: firstName, role: 'admin' });
      return creation.outcome === 'created' ? creation : undefined;
    }
    if (rows.length > 1 || rows[0]!.name !== firstName || !rows[0]!.untouched) return undefined;
    return reset(tx, audit, secretKey, (await findOperator(tx, firstName))!);
  });
}
