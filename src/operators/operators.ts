import { instantOf } from '../base/clock.ts';
import { type Id, idFromUuid, newId, uuidFromId } from '../base/ids.ts';
import { type AuditContext, recordChange } from '../db/audit/index.ts';
import { findRow, type Queryable, readRows, readValue, transaction } from '../db/postgres/index.ts';
import type { Keyring } from '../db/secrets/index.ts';
import { forgetAllClients } from './known-clients.ts';
import { type NewLink, newLink } from './link.ts';
import type { OperatorRole } from './permissions.ts';
import { endAllSessions } from './sessions.ts';

export interface Operator {
  operatorId: Id<'opr'>;
  name: string;
  role: OperatorRole;
  /** Invited: the setup link was not used yet, or a reset replaced it. */
  state: 'invited' | 'active' | 'disabled';
  createdAt: Date;
  lastSeenAt: Date | null;
}

const selectOperators = `
  SELECT id, name, role, created_at AS "createdAt",
         CASE WHEN disabled_at IS NOT NULL THEN 'disabled' WHEN password_hash IS NULL THEN 'invited' ELSE 'active' END AS state,
         (SELECT max(last_seen_at) FROM operator_sessions s WHERE s.operator_id = o.id) AS "lastSeenAt"
    FROM operators o`;

type OperatorRow = Omit<Operator, 'operatorId'> & { id: string };
const toOperator = ({ id, ...row }: OperatorRow): Operator => ({ operatorId: idFromUuid('opr', id), ...row });

/** An operator as the console and the command line show them. */
export const operatorObject = ({ operatorId, name, role, state, createdAt, lastSeenAt }: Operator) => ({
  operator_id: operatorId,
  name,
  role,
  state,
  created_at: createdAt.toISOString(),
  last_seen_at: lastSeenAt?.toISOString() ?? null,
});

export const listOperators = async (db: Queryable): Promise<Operator[]> =>
  (await readRows<OperatorRow>(db, { text: `${selectOperators} ORDER BY name` })).map(toOperator);

/** By id or by name. */
export async function findOperator(db: Queryable, who: Id<'opr'> | string): Promise<Operator | undefined> {
  const row = await findRow<OperatorRow>(db, {
    text: `${selectOperators} WHERE id::text = $1 OR name = $2`,
    values: [who.startsWith('opr_') ? uuidFromId(who as Id<'opr'>) : null, who],
  });
  return row && toOperator(row);
}

/** No underscore, so that a name never looks like an id. */
const namePattern = /^[a-z0-9][a-z0-9.-]{0,38}[a-z0-9]$/;

/** The name in its stored form; undefined if it cannot be a name. */
export function readOperatorName(text: string): string | undefined {
  const name = text.trim().toLowerCase();
  return namePattern.test(name) ? name : undefined;
}

/**
 * Changes to operators run one after the other, so that "is this the last admin" stays true until the commit. Signing
 * in waits for the short time that this takes.
 */
const withOperatorsLock = <Result>(audit: AuditContext, work: (tx: Queryable) => Promise<Result>) =>
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
  keyring: Keyring,
  wanted: { name: string; role: OperatorRole },
): Promise<Creation> => withOperatorsLock(audit, tx => create(tx, audit, keyring, wanted));

async function create(
  tx: Queryable,
  audit: AuditContext,
  keyring: Keyring,
  { name, role }: { name: string; role: OperatorRole },
): Promise<Creation> {
  if (await findOperator(tx, name)) return { outcome: 'name_taken' };
  const operatorId = newId('opr', audit.clock);
  const { token, expiresAt, hash, sealedTotp } = newLink(audit.clock, keyring, operatorId);
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
 * For a lost phone or a forgotten password: both become invalid at once, sessions end, and a link sets new ones. The
 * command line may reset the only admin too; without that, a lost phone would lock everyone out.
 */
export const resetOperator = (
  audit: AuditContext,
  keyring: Keyring,
  operatorId: Id<'opr'>,
  { allowLastAdmin }: { allowLastAdmin: boolean },
): Promise<({ outcome: 'reset' } & Invited) | Refused> =>
  withOperatorsLock(audit, async tx => {
    const operator = await findOperator(tx, operatorId);
    if (!operator) return { outcome: 'no_operator' };
    if (isDisabled(operator)) return { outcome: 'disabled' };
    if (!allowLastAdmin && (await isLastAdmin(tx, operator))) return { outcome: 'last_admin' };
    return { outcome: 'reset', ...(await reset(tx, audit, keyring, operator)) };
  });

async function reset(
  tx: Queryable,
  audit: AuditContext,
  keyring: Keyring,
  operator: Operator,
): Promise<Invited> {
  const { operatorId, name } = operator;
  const { token, expiresAt, hash, sealedTotp } = newLink(audit.clock, keyring, operatorId);
  await tx.query({
    text: `UPDATE operators SET password_hash = NULL, totp_secret = $2, setup_hash = $3, setup_expires_at = $4
            WHERE id = $1`,
    values: [uuidFromId(operatorId), sealedTotp, hash, expiresAt],
  });
  await endAllSessions(tx, audit.clock, operatorId);
  await forgetAllClients(tx, operatorId);
  await recordChange(tx, audit, { action: 'operator.reset', subject: name });
  return { operator: { ...operator, state: 'invited' }, token, expiresAt };
}

export type Changed = { outcome: 'done'; operator: Operator } | Refused;

/** Ends all sessions at once and invalidates an open set-up link. */
export const disableOperator = (audit: AuditContext, operatorId: Id<'opr'>) =>
  change(audit, operatorId, { isDone: isDisabled, endsAdmin: true }, async (tx, { name }) => {
    await tx.query({
      text: `UPDATE operators SET disabled_at = $2, setup_hash = NULL, setup_expires_at = NULL WHERE id = $1`,
      values: [uuidFromId(operatorId), instantOf(audit.clock)],
    });
    await endAllSessions(tx, audit.clock, operatorId);
    await forgetAllClients(tx, operatorId);
    await recordChange(tx, audit, { action: 'operator.disable', subject: name });
  });

export const enableOperator = (audit: AuditContext, operatorId: Id<'opr'>) =>
  change(audit, operatorId, { isDone: operator => !isDisabled(operator) }, async (tx, { name }) => {
    await tx.query({
      text: 'UPDATE operators SET disabled_at = NULL WHERE id = $1',
      values: [uuidFromId(operatorId)],
    });
    await recordChange(tx, audit, { action: 'operator.enable', subject: name });
  });

export const setOperatorRole = (audit: AuditContext, operatorId: Id<'opr'>, role: OperatorRole) =>
  change(audit, operatorId, { isDone: now => now.role === role, endsAdmin: true }, async (tx, operator) => {
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
  });

/** Ends all sessions; the operator may sign in again. */
export const signOutOperator = (audit: AuditContext, operatorId: Id<'opr'>) =>
  change(audit, operatorId, { isDone: () => false }, async (tx, { name }) => {
    const sessions = await endAllSessions(tx, audit.clock, operatorId);
    if (sessions > 0)
      await recordChange(tx, audit, { action: 'session.revoke', subject: name, after: { sessions } });
  });

const isDisabled = ({ state }: Operator) => state === 'disabled';

/** A repeat changes nothing. What takes an active admin away needs another one. */
const change = (
  audit: AuditContext,
  operatorId: Id<'opr'>,
  { isDone, endsAdmin = false }: { isDone: (operator: Operator) => boolean; endsAdmin?: boolean },
  work: (tx: Queryable, operator: Operator) => Promise<void>,
): Promise<Changed> =>
  withOperatorsLock(audit, async tx => {
    const operator = await findOperator(tx, operatorId);
    if (!operator) return { outcome: 'no_operator' };
    if (isDone(operator)) return { outcome: 'done', operator };
    if (endsAdmin && (await isLastAdmin(tx, operator))) return { outcome: 'last_admin' };
    await work(tx, operator);
    return { outcome: 'done', operator: (await findOperator(tx, operatorId))! };
  });

/** Without an active admin nobody could manage operators in the console. */
async function isLastAdmin(tx: Queryable, { operatorId, role, state }: Operator): Promise<boolean> {
  if (role !== 'admin' || state !== 'active') return false;
  return !(await readValue<boolean>(tx, {
    text: `SELECT EXISTS (SELECT FROM operators WHERE role = 'admin' AND disabled_at IS NULL
                             AND password_hash IS NOT NULL AND id <> $1)`,
    values: [uuidFromId(operatorId)],
  }));
}

const firstName = 'admin';

/**
 * Until the first sign-in, each start gives the one admin a new set-up link and invalidates the previous one.
 * Undefined once operators are managed by people.
 */
export const createFirstAdmin = (audit: AuditContext, keyring: Keyring): Promise<Invited | undefined> =>
  withOperatorsLock(audit, async tx => {
    const rows = await readRows<{ name: string; untouched: boolean }>(tx, {
      text: `SELECT name, role = 'admin' AND totp_last_step IS NULL AND disabled_at IS NULL AS untouched FROM operators`,
    });
    if (rows.length === 0) {
      const creation = await create(tx, audit, keyring, { name: firstName, role: 'admin' });
      return creation.outcome === 'created' ? creation : undefined;
    }
    if (rows.length > 1 || rows[0]!.name !== firstName || !rows[0]!.untouched) return undefined;
    return reset(tx, audit, keyring, (await findOperator(tx, firstName))!);
  });
