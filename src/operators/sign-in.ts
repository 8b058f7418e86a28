import type { Clock } from '../base/clock.ts';
import { type Id, idFromUuid, uuidFromId } from '../base/ids.ts';
import { recordChange } from '../db/audit.ts';
import { type Pool, type Queryable, transaction } from '../db/pool.ts';
import { openTotpSecret } from './link.ts';
import { readOperatorName } from './operators.ts';
import { isPassword } from './password.ts';
import { findSession, openSession, type SignedIn, type Visitor } from './sessions.ts';
import { attemptOf, forgiveAttempts, takeAttempt } from './throttle.ts';
import { newTotpSecret, stepOf } from './totp.ts';

/** What is needed to let somebody in. */
export interface Door {
  pool: Pool;
  clock: Clock;
  secretKey: string;
}

export type SignInOutcome =
  | { outcome: 'signed_in'; token: string; signedIn: SignedIn }
  /** Which of the three was wrong is nobody's business. */
  | { outcome: 'refused' }
  | { outcome: 'throttled'; retryAfterSec: number };

export interface Credentials {
  name: string;
  password: string;
  code: string;
}

/** Every attempt takes the same steps, whoever it is for, and ends after the last of them. */
export async function signIn(door: Door, credentials: Credentials, visitor: Visitor): Promise<SignInOutcome> {
  const name = readOperatorName(credentials.name) ?? '';
  const attempt = attemptOf(door.secretKey, name || credentials.name, visitor.address);
  const taken = await takeAttempt(door.pool, door.clock, attempt);
  if (taken.outcome === 'throttled') return taken;

  const known = await findCredentials(door, name);
  const isRightPassword = await isPassword(credentials.password, known?.passwordHash ?? null);
  const step = stepOf(known?.totpSecret ?? newTotpSecret(), credentials.code, door.clock.nowMs());
  return transaction(door.pool, async tx => {
    const isIn = known && isRightPassword && step !== undefined && (await takeCode(tx, known, step));
    if (isIn) {
      await forgiveAttempts(tx, attempt);
      return letIn(tx, door, known.operatorId, name, visitor);
    }
    if (taken.filled.length > 0) {
      // A name that nobody has may be a password that went into the wrong field.
      await recordChange(
        tx,
        { ...door, actor: 'console' },
        {
          action: 'session.throttled',
          subject: known ? name : 'unknown',
          after: { address: visitor.address, limits: taken.filled },
        },
      );
    }
    return { outcome: 'refused' };
  });
}

interface Known {
  operatorId: Id<'opr'>;
  passwordHash: string;
  totpSecret: Buffer;
}

async function findCredentials({ pool, secretKey }: Door, name: string): Promise<Known | undefined> {
  const { rows } = await pool.query<{ id: string; password_hash: string; totp_secret: Buffer }>({
    text: `SELECT id, password_hash, totp_secret FROM operators
            WHERE name = $1 AND disabled_at IS NULL AND password_hash IS NOT NULL`,
    values: [name],
  });
  const [row] = rows;
  if (!row) return undefined;
  const operatorId = idFromUuid('opr', row.id);
  const totpSecret = openTotpSecret(secretKey, row.totp_secret, operatorId);
  return { operatorId, passwordHash: row.password_hash, totpSecret };
}

/** A code is taken once, by whoever comes first; and not if they were disabled or reset since we looked. */
async function takeCode(tx: Queryable, { operatorId, passwordHash }: Known, step: number): Promise<boolean> {
  const { rowCount } = await tx.query({
    text: `UPDATE operators SET totp_last_step = $3
            WHERE id = $1 AND password_hash = $2 AND disabled_at IS NULL AND coalesce(totp_last_step < $3, true)`,
    values: [uuidFromId(operatorId), passwordHash, step],
  });
  return rowCount === 1;
}

/** Opens a session, with its line in the audit. */
export async function letIn(
  tx: Queryable,
  { pool, clock }: Door,
  operatorId: Id<'opr'>,
  name: string,
  visitor: Visitor,
): Promise<Extract<SignInOutcome, { outcome: 'signed_in' }>> {
  const { sessionId, token } = await openSession(tx, clock, operatorId, visitor);
  const audit = { pool, clock, actor: `operator:${name}` };
  await recordChange(tx, audit, {
    action: 'session.sign_in',
    subject: name,
    after: { session_id: sessionId, address: visitor.address },
  });
  const signedIn = await findSession(tx, clock, token, { isSignOfLife: false });
  return { outcome: 'signed_in', token, signedIn: signedIn! };
}
