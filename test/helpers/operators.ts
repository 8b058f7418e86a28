import type { Clock } from '../../src/base/clock.ts';
import type { Id } from '../../src/base/ids.ts';
import type { Pool } from '../../src/db/postgres/pool.ts';
import { createOperator, enrol, findEnrolment, type OperatorRole } from '../../src/operators/index.ts';
import { codeOf, stepAt } from '../../src/operators/totp.ts';
import { auditContextOf, keyring } from './partners.ts';

export const goodPassword = 'violet cargo 81';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The code that an authenticator shows for the secret of a setup page. */
export function codeOfText(secret: string, nowMs: number): string {
  const bits = [...secret].map(letter => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('');
  const bytes = bits.match(/.{8}/g)!.map(byte => Number.parseInt(byte, 2));
  return codeOf(Buffer.from(bytes), stepAt(nowMs));
}

export interface EnrolledOperator {
  operatorId: Id<'opr'>;
  name: string;
  password: string;
  totpSecret: Buffer;
  /** The one-time code of now, or of this many steps later. */
  code(later?: number): string;
}

/** Creates an operator and completes the enrolment with the invitation link. */
export async function enrolOperator(
  pool: Pool,
  clock: Clock,
  name: string,
  role: OperatorRole,
): Promise<EnrolledOperator> {
  const deps = { pool, clock, keyring };
  const creation = await createOperator(auditContextOf(pool, clock), keyring, { name, role });
  if (creation.outcome !== 'created') throw new Error(creation.outcome);
  const { totpSecret } = (await findEnrolment(deps, creation.token))!;
  const code = (later = 0) => codeOf(totpSecret, stepAt(clock.nowMs()) + later);
  const wanted = { token: creation.token, password: goodPassword, code: code() };
  const result = await enrol(deps, wanted, { address: '192.0.2.1', userAgent: 'test' });
  if (result.outcome !== 'signed_in') throw new Error(result.outcome);
  return { operatorId: creation.operator.operatorId, name, password: goodPassword, totpSecret, code };
}
