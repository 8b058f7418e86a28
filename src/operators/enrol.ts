import { instantOf } from '../base/clock.ts';
import { type Id, idFromUuid } from '../base/ids.ts';
import { recordChange } from '../db/audit.ts';
import { type Queryable, transaction } from '../db/pool.ts';
import { openTotpSecret } from './link.ts';
import { hashPassword, objectionToPassword } from './password.ts';
import type { OperatorRole } from './permissions.ts';
import type { Visitor } from './sessions.ts';
import { hashOfToken, isToken } from './sessions.ts';
import { type Door, letIn, type SignInOutcome } from './sign-in.ts';
import { stepOf } from './totp.ts';

/** Whom a link is for, and the secret of their codes, which they take into their application. */
export interface Enrolment {
  operatorId: Id<'opr'>;
  name: string;
  role: OperatorRole;
  totpSecret: Buffer;
  expiresAt: Date;
}

interface EnrolmentFields {
  id: string;
  name: string;
  role: OperatorRole;
  totp_secret: Buffer;
  setup_expires_at: Date;
}

/** Looking does not use the link up: it may be opened twice before it is used. */
export async function findEnrolment(
  { pool, clock, secretKey }: Door,
  token: string,
): Promise<Enrolment | undefined> {
  if (!isToken(token)) return undefined;
  const { rows } = await pool.query<EnrolmentFields>({
    text: `SELECT id, name, role, totp_secret, setup_expires_at FROM operators
            WHERE setup_hash = $1 AND setup_expires_at > $2 AND disabled_at IS NULL`,
    values: [hashOfToken(token), instantOf(clock)],
  });
  const [row] = rows;
  if (!row) return undefined;
  const operatorId = idFromUuid('opr', row.id);
  return {
    operatorId,
    name: row.name,
    role: row.role,
    totpSecret: openTotpSecret(secretKey, row.totp_secret, operatorId),
    expiresAt: row.setup_expires_at,
  };
}

type EnrolOutcome =
  | Extract<SignInOutcome, { outcome: 'signed_in' }>
  | { outcome: 'no_link' | 'wrong_code' }
  | { outcome: 'weak_password'; objection: string };

/** Sets the password, shows that the codes work, uses the link up and lets them in. */
export async function enrol(
  door: Door,
  { token, password, code }: { token: string; password: string; code: string },
  visitor: Visitor,
): Promise<EnrolOutcome> {
  const found = await findEnrolment(door, token);
  if (!found) return { outcome: 'no_link' };
  const objection = objectionToPassword(password, found.name);
  if (objection) return { outcome: 'weak_password', objection };
  const step = stepOf(found.totpSecret, code, door.clock.nowMs());
  if (step === undefined) return { outcome: 'wrong_code' };
  const passwordHash = await hashPassword(password);
  return transaction(door.pool, async tx => {
    if (!(await useUp(tx, door, token, passwordHash, step))) return { outcome: 'no_link' };
    const audit = { ...door, actor: `operator:${found.name}` };
    await recordChange(tx, audit, { action: 'operator.enrol', subject: found.name });
    return letIn(tx, door, found.operatorId, found.name, visitor);
  });
}

/** In one statement, so that of two who hold the link one comes in. */
async function useUp(tx: Queryable, { clock }: Door, token: string, passwordHash: string, step: number) {
  const { rowCount } = await tx.query({
    text: `UPDATE operators SET password_hash = $3, totp_last_step = $4, setup_hash = NULL, setup_expires_at = NULL
            WHERE setup_hash = $1 AND setup_expires_at > $2 AND disabled_at IS NULL`,
    values: [hashOfToken(token), instantOf(clock), passwordHash, step],
  });
  return rowCount === 1;
}
