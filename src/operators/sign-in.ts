import type { Clock } from '../base/clock.ts';
import { type Id, idFromUuid, uuidFromId } from '../base/ids.ts';
import { recordChange } from '../db/audit/index.ts';
import { findRow, hasRow, type Pool, type Queryable, transaction } from '../db/postgres/index.ts';
import type { Keyring } from '../db/secrets/index.ts';
import type { SessionClient } from '../db/sessions/index.ts';
import { forgetDevice, rememberClient } from './known-clients.ts';
import { openTotpSecret } from './link.ts';
import { readOperatorName } from './operators.ts';
import { verifyPassword } from './password.ts';
import { findSession, openSession, type SignedIn } from './sessions.ts';
import { clearAttempts, createAttempt, throttleAttempt } from './throttle.ts';
import { newTotpSecret, stepOf } from './totp.ts';

/** What signing in and enrolling need. */
export interface SignInDeps {
  pool: Pool;
  clock: Clock;
  keyring: Keyring;
}

export type SignInOutcome =
  | { outcome: 'signed_in'; token: string; deviceToken: string; signedIn: SignedIn }
  /** Does not say which of name, password and code was wrong. */
  | { outcome: 'refused' }
  | { outcome: 'throttled'; retryAfterSec: number };

export interface SignInClient extends SessionClient {
  /** From an earlier sign-in with this browser. */
  deviceToken?: string | undefined;
}

export interface Credentials {
  name: string;
  password: string;
  code: string;
}

/** Every attempt takes the same steps, so that its duration does not show whether the name exists. */
export async function signIn(
  deps: SignInDeps,
  credentials: Credentials,
  client: SignInClient,
): Promise<SignInOutcome> {
  const name = readOperatorName(credentials.name) ?? '';
  const attempt = await createAttempt(deps, name || credentials.name, client);
  const throttle = await throttleAttempt(deps.pool, deps.clock, attempt);
  if (throttle.outcome === 'throttled') return throttle;

  const known = await findCredentials(deps, name);
  const isPasswordCorrect = await verifyPassword(credentials.password, known?.passwordHash ?? null);
  const step = stepOf(known?.totpSecret ?? newTotpSecret(), credentials.code, deps.clock.nowMs());
  return transaction(deps.pool, async tx => {
    const isAccepted =
      known && isPasswordCorrect && step !== undefined && (await redeemCode(tx, known, step));
    if (isAccepted) {
      await clearAttempts(tx, attempt);
      return startSession(tx, deps, { operatorId: known.operatorId, name, client });
    }
    if (throttle.filled.includes('device')) await forgetDevice(tx, attempt.deviceHash!);
    if (throttle.filled.length > 0) {
      // An unknown name may be a password typed into the wrong field, so it is not recorded.
      await recordChange(
        tx,
        { ...deps, actor: 'console' },
        {
          action: 'session.throttled',
          subject: known ? name : 'unknown',
          after: { address: client.address, limits: throttle.filled },
        },
      );
    }
    return { outcome: 'refused' };
  });
}

interface KnownOperator {
  operatorId: Id<'opr'>;
  passwordHash: string;
  totpSecret: Buffer;
}

async function findCredentials({ pool, keyring }: SignInDeps, name: string) {
  const row = await findRow<Omit<KnownOperator, 'operatorId'> & { id: string }>(pool, {
    text: `SELECT id, password_hash AS "passwordHash", totp_secret AS "totpSecret" FROM operators
            WHERE name = $1 AND disabled_at IS NULL AND password_hash IS NOT NULL`,
    values: [name],
  });
  if (!row) return undefined;
  const { id, passwordHash, totpSecret } = row;
  const operatorId = idFromUuid('opr', id);
  return { operatorId, passwordHash, totpSecret: openTotpSecret(keyring, totpSecret, operatorId) };
}

/** A one-time code is accepted once, and only if the operator was not disabled or reset since it was read. */
const redeemCode = (tx: Queryable, { operatorId, passwordHash }: KnownOperator, step: number) =>
  hasRow(tx, {
    text: `UPDATE operators SET totp_last_step = $3
            WHERE id = $1 AND password_hash = $2 AND disabled_at IS NULL AND coalesce(totp_last_step < $3, true)`,
    values: [uuidFromId(operatorId), passwordHash, step],
  });

/** Opens a session, writes its audit record and remembers the client. */
export async function startSession(
  tx: Queryable,
  deps: SignInDeps,
  { operatorId, name, client }: { operatorId: Id<'opr'>; name: string; client: SignInClient },
): Promise<Extract<SignInOutcome, { outcome: 'signed_in' }>> {
  const { pool, clock } = deps;
  const { sessionId, token } = await openSession(tx, clock, operatorId, client);
  const audit = { pool, clock, actor: `operator:${name}` };
  await recordChange(tx, audit, {
    action: 'session.sign_in',
    subject: name,
    after: { session_id: sessionId, address: client.address },
  });
  const signedIn = await findSession(tx, clock, token, { isUserActivity: false });
  const { deviceToken } = await rememberClient(tx, deps, { operatorId, name, client });
  return { outcome: 'signed_in', token, deviceToken, signedIn: signedIn! };
}
