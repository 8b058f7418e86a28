import { instantOf } from '../base/clock.ts';
import { idFromUuid } from '../base/ids.ts';
import { hashOfToken, isToken } from '../base/token.ts';
import { recordChange } from '../db/audit/index.ts';
import { findRow, hasRow, type Queryable, transaction } from '../db/postgres/index.ts';
import { type NewLink, openTotpSecret } from './link.ts';
import type { Operator } from './operators.ts';
import { hashPassword, passwordObjection } from './password.ts';
import { type SignInClient, type SignInDeps, type SignInOutcome, startSession } from './sign-in.ts';
import { stepOf } from './totp.ts';

interface InvitedRow extends Pick<Operator, 'name' | 'role'>, Pick<NewLink, 'expiresAt'> {
  id: string;
  totpSecret: Buffer;
}

/**
 * The operator that a set-up link is for, and the TOTP secret for their authenticator application. It is read without being
 * redeemed: it may be opened several times before it is used.
 */
export async function findEnrolment({ pool, clock, keyring }: SignInDeps, token: string) {
  if (!isToken(token)) return undefined;
  const row = await findRow<InvitedRow>(pool, {
    text: `SELECT id, name, role, totp_secret AS "totpSecret", setup_expires_at AS "expiresAt" FROM operators
            WHERE setup_hash = $1 AND setup_expires_at > $2 AND disabled_at IS NULL`,
    values: [hashOfToken(token), instantOf(clock)],
  });
  if (!row) return undefined;
  const { id, totpSecret, ...enrolment } = row;
  const operatorId = idFromUuid('opr', id);
  return { operatorId, ...enrolment, totpSecret: openTotpSecret(keyring, totpSecret, operatorId) };
}

type EnrolOutcome =
  | Extract<SignInOutcome, { outcome: 'signed_in' }>
  | { outcome: 'no_link' | 'wrong_code' }
  | { outcome: 'weak_password'; objection: string };

/** Checks a one-time code, sets the password, redeems the link and signs the operator in. */
export async function enrol(
  deps: SignInDeps,
  { token, password, code }: { token: string; password: string; code: string },
  client: SignInClient,
): Promise<EnrolOutcome> {
  const found = await findEnrolment(deps, token);
  if (!found) return { outcome: 'no_link' };
  const objection = passwordObjection(password, found.name);
  if (objection) return { outcome: 'weak_password', objection };
  const step = stepOf(found.totpSecret, code, deps.clock.nowMs());
  if (step === undefined) return { outcome: 'wrong_code' };
  const passwordHash = await hashPassword(password);
  return transaction(deps.pool, async tx => {
    if (!(await redeemLink(tx, deps, token, { passwordHash, step }))) return { outcome: 'no_link' };
    const audit = { ...deps, actor: `operator:${found.name}` };
    await recordChange(tx, audit, { action: 'operator.enrol', subject: found.name });
    return startSession(tx, deps, { operatorId: found.operatorId, name: found.name, client });
  });
}

/** One statement, so that two requests with the same link cannot both succeed. */
const redeemLink = (
  tx: Queryable,
  { clock }: SignInDeps,
  token: string,
  { passwordHash, step }: { passwordHash: string; step: number },
) =>
  hasRow(tx, {
    text: `UPDATE operators SET password_hash = $3, totp_last_step = $4, setup_hash = NULL, setup_expires_at = NULL
            WHERE setup_hash = $1 AND setup_expires_at > $2 AND disabled_at IS NULL`,
    values: [hashOfToken(token), instantOf(clock), passwordHash, step],
  });
